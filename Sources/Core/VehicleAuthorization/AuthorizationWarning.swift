/// A problem with tokens that an operator should correct, although it does no harm yet. Each problem is reported at
/// most once in ten minutes, unless another one is found in the same token. `description`, which the library `Waypost`
/// adds, contains the finding and the remedy.
public enum AuthorizationWarning: Sendable, Hashable {
    /// The issuer's tokens live no longer than `minimumLife`, the lifetime that a token should have left when it is
    /// handed out.
    case shortLivedTokens(AuthorizationContext, lifetime: Duration, minimumLife: Duration)
    /// The issuer's tokens live longer than Fleet Engine accepts.
    case longLivedTokens(AuthorizationContext, lifetime: Duration, maximumLife: Duration)
    /// Neither the token nor its issuer specifies the token's lifetime.
    case unknownLifetime(AuthorizationContext, assumed: Duration)
    /// The issuer has returned a token again that Fleet Engine had rejected.
    case rejectedTokenReissued(AuthorizationContext)
    /// The issuer has returned an earlier token again, with less lifetime left than required.
    case oldTokenReissued(AuthorizationContext, minimumLife: Duration)
    /// The token, or the issuer's answer, is inconsistent. The token is used anyway.
    case questionableToken(TokenWarning)
    /// A provider violates the contract of `GMTDAuthorization` or `GMTCAuthorization`. The text contains the rule and
    /// the remedy.
    case brokenContract(String)
    /// A token command has left processes running, and isn't started again before they have ended. `count` is the
    /// number of processes that are being killed. `unkillable` is the id of a process that can't be killed, because it
    /// belongs to another user; `nil` if there is none.
    case processesLeftRunning(command: String, count: Int, unkillable: Int?)
    /// `/proc` doesn't show the processes that a token command leaves running.
    case processesHidden(command: String)

    /// This warning without the numbers that change from token to token, used as a key to report the warning once.
    package var topic: Self {
        switch self {
        case .shortLivedTokens(let context, _, let minimumLife):
            .shortLivedTokens(context, lifetime: .zero, minimumLife: minimumLife)
        case .longLivedTokens(let context, _, let maximumLife):
            .longLivedTokens(context, lifetime: .zero, maximumLife: maximumLife)
        case .questionableToken(let warning): .questionableToken(warning.topic)
        case .unknownLifetime, .rejectedTokenReissued, .oldTokenReissued, .brokenContract, .processesLeftRunning,
            .processesHidden:
            self
        }
    }
}

/// A problem that the issuer should correct, in a token that is used anyway.
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

    /// This warning without the numbers that change from token to token.
    fileprivate var topic: Self {
        switch fact {
        case .claims(.notATime(let claim, _), let context): .claims(.notATime(claim: claim, 0), context)
        case .claims(.milliseconds(let claim, _), let context): .claims(.milliseconds(claim: claim, 0), context)
        case .claims: self
        case .expiry(let warning, let origin): .expiry(warning.topic, origin)
        }
    }
}
