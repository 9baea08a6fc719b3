/// A problem with tokens that an operator should correct although it does no harm yet. Each is reported once, and again
/// every ten minutes. `description`, which the library `Waypost` adds, says what was seen and what to change.
public enum AuthorizationWarning: Sendable, Hashable {
    /// The issuer's tokens live no longer than the lifetime that a token must have left when it is handed out.
    case shortLivedTokens(AuthorizationContext, lifetime: Duration, minimumLife: Duration)
    /// The issuer's tokens live longer than Fleet Engine accepts.
    case longLivedTokens(AuthorizationContext, lifetime: Duration, maximumLife: Duration)
    /// Neither the token nor its issuer says how long it lives.
    case unknownLifetime(AuthorizationContext, assumed: Duration)
    /// The issuer gave the token again that Fleet Engine had rejected.
    case rejectedTokenAgain(AuthorizationContext)
    /// The issuer gave a token again with less lifetime left than required.
    case oldTokenAgain(AuthorizationContext, minimumLife: Duration)
    /// A statement of the token or its issuer is inconsistent. The token is used anyway.
    case questionableToken(TokenWarning)
    /// A provider breaks the contract of `GMTDAuthorization` or `GMTCAuthorization`. The text names the rule and the
    /// change.
    case brokenContract(String)
    /// A token command left processes running, `unendable` of another user. It isn't started before they end.
    case processesLeft(command: String, count: Int, unendable: Int?)
    /// `/proc` doesn't show what a token command leaves running.
    case processesHidden(command: String)

    /// This warning without the numbers that change from token to token: the key for reporting it once.
    var topic: Self {
        switch self {
        case .shortLivedTokens(let context, _, let minimumLife):
            .shortLivedTokens(context, lifetime: .zero, minimumLife: minimumLife)
        case .longLivedTokens(let context, _, let maximumLife):
            .longLivedTokens(context, lifetime: .zero, maximumLife: maximumLife)
        case .questionableToken(let warning): .questionableToken(warning.topic)
        case .unknownLifetime, .rejectedTokenAgain, .oldTokenAgain, .brokenContract, .processesLeft, .processesHidden:
            self
        }
    }
}

/// A problem with a token that is used, which the issuer should correct.
public struct TokenWarning: Sendable, Hashable {
    package enum Fact: Sendable, Hashable {
        case claims(ClaimWarning, AuthorizationContext)
        case expiry(ExpiryWarning, TokenOrigin)
    }

    package let fact: Fact

    package static func claims(_ warning: ClaimWarning, _ context: AuthorizationContext) -> Self {
        Self(fact: .claims(warning, context))
    }

    package static func expiry(_ warning: ExpiryWarning, _ origin: TokenOrigin) -> Self {
        Self(fact: .expiry(warning, origin))
    }

    /// This warning without numbers.
    fileprivate var topic: Self {
        switch fact {
        case .claims(.noTime(let claim, _), let context): .claims(.noTime(claim: claim, 0), context)
        case .claims(.milliseconds(let claim, _), let context): .claims(.milliseconds(claim: claim, 0), context)
        case .claims: self
        case .expiry(let warning, let origin): .expiry(warning.topic, origin)
        }
    }
}
