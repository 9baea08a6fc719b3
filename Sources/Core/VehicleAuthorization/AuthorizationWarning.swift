import ReportedText

/// Something about tokens that works for now and that an operator should mend; each is told once.
public enum AuthorizationWarning: Sendable, Hashable, CustomStringConvertible {
    /// The issuer's tokens live no longer than the life that must be left in a token handed out.
    case shortLivedTokens(AuthorizationContext, lifetime: Duration, minimumLife: Duration)
    /// The issuer's tokens live longer than Fleet Engine takes.
    case longLivedTokens(AuthorizationContext, lifetime: Duration, longestLife: Duration)
    /// Neither the token nor its issuer says how long it lives.
    case unknownLifetime(AuthorizationContext, assumed: Duration)
    /// The issuer gave the very token again that Fleet Engine had refused.
    case refusedTokenAgain(AuthorizationContext)
    /// Token and issuer disagree on the expiry, or a number cannot be an expiry; says what was taken.
    case doubtfulExpiry(String)
    /// A provider, or the issuer behind it, does not keep to the contract of `GMTDAuthorization` and
    /// `GMTCAuthorization`; says which rule.
    case brokenContract(String)

    /// What was seen and what to change; never a token.
    public var description: String {
        switch self {
        case .shortLivedTokens(let context, let lifetime, let minimumLife):
            "tokens for \(context) live \(lifetime.secondsText); "
                + "let the issuer give them clearly more than \(minimumLife.secondsText) (an hour is usual)"
        case .longLivedTokens(let context, let lifetime, let longestLife):
            "tokens for \(context) live \(lifetime.secondsText); Fleet Engine refuses an exp more than "
                + "\(longestLife.secondsText) ahead, let the issuer give them that or less"
        case .unknownLifetime(let context, let assumed):
            "the token for \(context) tells no expiry that can be trusted; it is used for \(assumed.secondsText). "
                + "Name the expiry's key, or issue JSON Web Tokens with exp and iat"
        case .refusedTokenAgain(let context):
            "Fleet Engine refused the token for \(context), and its issuer gave the same one again; "
                + "let the issuer make a new one when it is asked again"
        case .doubtfulExpiry(let words), .brokenContract(let words):
            ReportedText(words, limit: ReportedText.longestSentence).description
        }
    }

    /// The same warning without the figures that change from token to token: what counts as told.
    var topic: Self {
        switch self {
        case .shortLivedTokens(let context, _, let minimumLife):
            .shortLivedTokens(context, lifetime: .zero, minimumLife: minimumLife)
        case .longLivedTokens(let context, _, let longestLife):
            .longLivedTokens(context, lifetime: .zero, longestLife: longestLife)
        case .unknownLifetime, .refusedTokenAgain, .doubtfulExpiry, .brokenContract: self
        }
    }
}

extension Duration {
    /// Whole seconds, as `300 s`.
    package var secondsText: String { "\(components.seconds) s" }
}
