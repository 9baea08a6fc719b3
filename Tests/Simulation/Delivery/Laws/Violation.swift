struct Violation: Error, Sendable, CustomStringConvertible {
    let law: Law
    /// The time since the run began.
    let time: Duration
    let detail: String

    var description: String { "\(law.rawValue) at \(time.clockText): \(detail)" }
}
