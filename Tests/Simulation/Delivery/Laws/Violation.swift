struct Violation: Error, Sendable, CustomStringConvertible {
    let law: Law
    /// The time since the run began.
    let at: Duration
    let detail: String

    var description: String { "\(law.rawValue) at \(at.clockText): \(detail)" }
}
