import ReportedText

/// Why there is no token.
public struct AuthorizationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it was.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The context names no vehicle.
        case missingContext
        /// The issuer could not be reached or did not answer in time.
        case unavailable
        /// The issuer answered and refused.
        case refused
        /// The issuer's answer holds no usable token.
        case unusableAnswer
        /// The provider is set up wrongly: a file that cannot be read, a program that cannot be started.
        case misconfigured
        /// The asking task was cancelled.
        case cancelled
    }

    /// The kind of failure.
    public let code: Code
    /// What was asked, what came, what to change; never a token or a credential.
    public let detail: String
    /// How long the issuer asked to be left alone.
    public let retryAfter: Duration?

    /// An error with its words for the operator; what looks like a secret in them is struck out.
    public init(_ code: Code, _ detail: String, retryAfter: Duration? = nil) {
        (self.code, self.retryAfter) = (code, retryAfter)
        self.detail = ReportedText(detail, limit: ReportedText.longestSentence).description
    }

    /// The words for the operator.
    public var description: String { detail }
}
