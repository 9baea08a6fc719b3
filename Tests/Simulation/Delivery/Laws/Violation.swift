/// A law that was broken.
struct Violation: Error, Sendable, CustomStringConvertible {
    let law: Law
    /// Time since the run began.
    let at: Duration
    let detail: String

    var description: String { "\(law.rawValue) at \(at.clockText): \(detail)" }
}
