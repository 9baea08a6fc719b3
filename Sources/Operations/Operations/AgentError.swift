/// The reason why an agent can't start or continue. The agent retries after any other fault.
public struct AgentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error, which determines the command's exit status.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The configuration contains or refers to something that can't be used.
        case configuration
        /// A file isn't a recorded log.
        case inputData
        /// Something is unavailable, such as an outbox in use, a port in use or a broken disk.
        case unavailable
    }

    /// The kind of error.
    public let code: Code
    /// The problem and the remedy, on one line.
    public let detail: String

    /// Creates an error with its message for the operator.
    public init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// The message for the operator.
    public var description: String { detail }
}
