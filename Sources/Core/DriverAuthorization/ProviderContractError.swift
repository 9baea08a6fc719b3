/// How a provider broke the contract of `GMTDAuthorization` or `GMTCAuthorization`.
public enum ProviderContractError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It implements neither form of `fetchToken`, or its completion form was called though it has the other.
    case noCompletionForm
    /// It called back with neither token nor error.
    case emptyAnswer

    /// What happened and what to change.
    public var description: String {
        switch self {
        case .noCompletionForm: "the provider has no fetchToken(with:completion:); implement it, or the async form"
        case .emptyAnswer: "the provider called back with neither a token nor an error; give one of them"
        }
    }
}
