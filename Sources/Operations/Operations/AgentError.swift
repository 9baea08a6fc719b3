/// Why an agent cannot start or continue; everything else is retried.
public struct AgentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of trouble it is, and with it the exit status of the command.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The configuration names something that cannot be used.
        case configuration
        /// A file is not a recorded log.
        case inputData
        /// The outbox belongs to another process, a port is taken, the disk cannot be used.
        case unavailable
    }

    /// The kind of trouble.
    public let code: Code
    /// What it is about and what to do, on one line.
    public let detail: String

    /// An error with its message for the operator.
    public init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// The message for the operator.
    public var description: String { detail }
}
