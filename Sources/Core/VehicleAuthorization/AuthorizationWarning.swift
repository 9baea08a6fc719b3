/// Something about tokens that works for now and that an operator should correct. Each is reported once, and again
/// every ten minutes. `description`, which the library `Waypost` adds, says what was seen and what to change.
public enum AuthorizationWarning: Sendable, Hashable {
    /// The issuer's tokens live no longer than the life that must be left in a token handed out.
    case shortLivedTokens(AuthorizationContext, lifetime: Duration, minimumLife: Duration)
    /// The issuer's tokens live longer than Fleet Engine accepts.
    case longLivedTokens(AuthorizationContext, lifetime: Duration, longestLife: Duration)
    /// Neither the token nor its issuer says how long it lives.
    case unknownLifetime(AuthorizationContext, assumed: Duration)
    /// The issuer gave the token again that Fleet Engine had rejected.
    case refusedTokenAgain(AuthorizationContext)
    /// The issuer gave a token again with less life left than must be.
    case oldTokenAgain(AuthorizationContext, minimumLife: Duration)
    /// Something that the token or its issuer says is inconsistent. The token is used.
    case doubtfulToken(TokenDoubt)
    /// A provider doesn't keep the contract of `GMTDAuthorization` or `GMTCAuthorization`; says which rule, and what to
    /// change.
    case brokenContract(String)
    /// A token command left processes running, the given one of another user; it isn't started before they end.
    case processesLeft(command: String, count: Int, unendable: Int?)
    /// `/proc` doesn't show what a token command leaves running.
    case processesHidden(command: String)

    /// The same warning without the numbers that change from token to token. A warning is reported once by this.
    var topic: Self {
        switch self {
        case .shortLivedTokens(let context, _, let minimumLife):
            .shortLivedTokens(context, lifetime: .zero, minimumLife: minimumLife)
        case .longLivedTokens(let context, _, let longestLife):
            .longLivedTokens(context, lifetime: .zero, longestLife: longestLife)
        case .doubtfulToken(let doubt): .doubtfulToken(doubt.topic)
        case .unknownLifetime, .refusedTokenAgain, .oldTokenAgain, .brokenContract, .processesLeft, .processesHidden:
            self
        }
    }
}

/// Something that the issuer should correct about a token that is used.
public struct TokenDoubt: Sendable, Hashable {
    package enum Fact: Sendable, Hashable {
        case claims(ClaimDoubt, AuthorizationContext)
        case expiry(ExpiryDoubt, TokenOrigin)
    }

    package let fact: Fact

    package static func claims(_ doubt: ClaimDoubt, _ context: AuthorizationContext) -> Self {
        Self(fact: .claims(doubt, context))
    }

    package static func expiry(_ doubt: ExpiryDoubt, _ origin: TokenOrigin) -> Self {
        Self(fact: .expiry(doubt, origin))
    }

    /// The same without numbers.
    fileprivate var topic: Self {
        switch fact {
        case .claims(.noTime(let claim, _), let context): .claims(.noTime(claim: claim, 0), context)
        case .claims(.milliseconds(let claim, _), let context): .claims(.milliseconds(claim: claim, 0), context)
        case .claims: self
        case .expiry(let doubt, let origin): .expiry(doubt.topic, origin)
        }
    }
}
