/// Something about tokens that works for now and that an operator should mend; each is told once.
public enum AuthorizationWarning: Sendable, Hashable, CustomStringConvertible {
    /// The issuer's tokens live no longer than the life that must be left in a token handed out.
    case shortLivedTokens(vehicleID: String, lifetime: Duration, minimumLife: Duration)
    /// Neither the token nor its issuer says how long it lives.
    case unknownLifetime(vehicleID: String, assumed: Duration)
    /// The issuer gave the very token again that Fleet Engine had refused.
    case refusedTokenAgain(vehicleID: String)
    /// Token and issuer disagree on the expiry, or a number cannot be an expiry; says what was taken.
    case doubtfulExpiry(String)
    /// A provider does not keep to the contract of `GMTDAuthorization`; says which rule.
    case brokenContract(String)

    /// What was seen and what to change; never a token.
    public var description: String {
        switch self {
        case .shortLivedTokens(let vehicleID, let lifetime, let minimumLife):
            "tokens for vehicle \(vehicleID) live \(lifetime.secondsText); "
                + "let the issuer give them clearly more than \(minimumLife.secondsText) (an hour is usual)"
        case .unknownLifetime(let vehicleID, let assumed):
            "the token for vehicle \(vehicleID) tells no expiry; it is used for \(assumed.secondsText). "
                + "Name the expiry's key, or issue JSON Web Tokens with exp and iat"
        case .refusedTokenAgain(let vehicleID):
            "Fleet Engine refused the token for vehicle \(vehicleID), and its issuer gave the same one again; "
                + "let the issuer make a new one when it is asked again"
        case .doubtfulExpiry(let words): words
        case .brokenContract(let words): words
        }
    }
}

extension Duration {
    /// Whole seconds, as `300 s`.
    package var secondsText: String { "\(components.seconds) s" }
}
