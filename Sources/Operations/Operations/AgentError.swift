package import Conditions

/// An error that prevents an agent from starting or continuing. After any other failure, the agent tries again.
public struct AgentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error, which determines the command's exit status.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The configuration, or something that it refers to, can't be used.
        case configuration
        /// The input isn't a recorded log, or contains no usable fix.
        case inputData
        /// A resource is unavailable. For example, another process uses the outbox or a port, or the disk is broken.
        case unavailable
    }

    /// The kind of error.
    public let code: Code
    /// The problem and the remedy, on one line.
    public let detail: String
    /// The code of the condition that the running service raises because of the same failure, if any.
    package let condition: ConditionCode?

    /// Creates an error. `detail` is the message for the operator.
    public init(_ code: Code, _ detail: String) { self.init(code, detail, condition: nil) }

    package init(_ code: Code, _ detail: String, condition: ConditionCode?) {
        self.code = code
        self.detail = detail
        self.condition = condition
    }

    /// The message for the operator.
    public var description: String { detail }
}
