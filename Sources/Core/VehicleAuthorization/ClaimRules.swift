import ReportedText

/// What a JSON Web Token must say before it is sent to Fleet Engine.
///
/// Nothing is proved by it, since signatures are not checked here; it names a wrong set-up in words, before the server
/// does with a 401 or 403. A token that is no JSON Web Token is left to the server.
public struct ClaimRules: Sendable, Hashable {
    /// The accepted `aud`, compared without the slash at its end.
    public var audience: String

    /// How far the clocks of issuer and server may be apart (Google: `iat` tolerates ten minutes).
    private static let skew = 600.0

    /// The rules of Fleet Engine's tokens.
    public init(audience: String = "https://fleetengine.googleapis.com/") { self.audience = audience }

    /// - Throws: `.unusableAnswer` when the token is for another vehicle or trip, another audience, or another time.
    package func check(_ token: AuthorizationToken, for context: AuthorizationContext) throws(AuthorizationError) {
        guard let parsed = try? JSONWebToken(token.value) else { return }
        if let problem = problem(of: parsed, for: context) {
            throw AuthorizationError(.unusableAnswer, "the token for \(context) \(problem)")
        }
    }

    /// The end of a sentence that begins with "the token".
    package func problem(of token: JSONWebToken, for context: AuthorizationContext) -> String? {
        if token.audience.isEmpty { return "names no audience; let the issuer set aud to \(audience)" }
        guard token.audience.contains(where: { Self.trimmed($0) == Self.trimmed(audience) }) else {
            return "is for \(Self.shown(token.audience)); let the issuer set aud to \(audience)"
        }
        if let problem = Self.problemOfBeginning(token) { return problem }
        guard let claims = token.authorization else { return nil }
        return switch context.subject {
        case .vehicle(let id, let taskID): Self.problem(of: claims, forVehicle: id, taskID: taskID)
        case .trip(let id):
            Self.problem(of: claims.tripID, for: id, kind: "trip", claim: "tripid")
        case .shipment(let trackingID):
            Self.problem(of: claims.trackingID, for: trackingID, kind: "shipment", claim: "trackingid")
        }
    }

    /// `nbf` is judged by the token's own `iat`: this machine's clock may be wrong, the issuer's agrees with itself.
    private static func problemOfBeginning(_ token: JSONWebToken) -> String? {
        guard let notBefore = token.notBefore, let issuedAt = token.issuedAt else { return nil }
        let wait = notBefore - issuedAt
        guard wait.isFinite, wait > skew else { return nil }
        return
            "is not valid before \(Int(clamping: wait)) s after its issue (nbf); let the issuer set nbf to iat, or drop it"
    }

    private static func problem(
        of claims: JSONWebToken.Authorization, forVehicle vehicleID: String, taskID: String?
    ) -> String? {
        let vehicles = [claims.vehicleID, claims.deliveryVehicleID].compactMap { $0 }
        guard !vehicles.isEmpty else {
            return "names no vehicle (it may be a consumer's); let the issuer set vehicleid or deliveryvehicleid"
        }
        guard vehicles.contains(where: { $0 == "*" || $0 == vehicleID }) else {
            return "is for vehicle \(shown(vehicles)); check the vehicle id and the endpoint"
        }
        if let taskID, let claimed = claims.taskIDs, !claimed.contains("*"), !claimed.contains(taskID) {
            return "is for task \(shown(claimed)), not for \(taskID)"
        }
        return nil
    }

    private static func problem(of claimed: String?, for id: String, kind: String, claim: String) -> String? {
        guard let claimed else { return "names no \(kind) (it may be a driver's); let the issuer set \(claim)" }
        guard claimed != "*", claimed != id else { return nil }
        return "is for \(kind) \(shown([claimed])); check the id and the endpoint"
    }

    /// Claims are the issuer's words: whatever they hold, the sentence stays short and tells no secret. Fleet Engine's
    /// ids have 64 characters at most.
    private static func shown(_ claims: [String]) -> String {
        claims.prefix(3).map { ReportedText($0, limit: 100).description }.joined(separator: ", ")
            + (claims.count > 3 ? ", …" : "")
    }

    private static func trimmed(_ audience: String) -> Substring {
        audience.hasSuffix("/") ? audience.dropLast() : Substring(audience)
    }
}

extension Int {
    /// The nearest whole number there is.
    fileprivate init(clamping value: Double) { self = Int(exactly: value.rounded()) ?? .max }
}

/// Something about tokens that works for now and that an operator should correct; each is reported once.
public enum AuthorizationWarning: Sendable, Hashable, CustomStringConvertible {
    /// The issuer's tokens live no longer than the life that must be left in a token handed out.
    case shortLivedTokens(AuthorizationContext, lifetime: Duration, minimumLife: Duration)
    /// The issuer's tokens live longer than Fleet Engine takes.
    case longLivedTokens(AuthorizationContext, lifetime: Duration, longestLife: Duration)
    /// Neither the token nor its issuer says how long it lives.
    case unknownLifetime(AuthorizationContext, assumed: Duration)
    /// The issuer gave the token again that Fleet Engine had rejected.
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
            "tokens for \(context) live \(lifetime.secondsText); Fleet Engine rejects an exp more than "
                + "\(longestLife.secondsText) ahead, let the issuer give them that or less"
        case .unknownLifetime(let context, let assumed):
            "the token for \(context) states no expiry that can be trusted; it is used for \(assumed.secondsText). "
                + "Name the expiry's key, or issue JSON Web Tokens with exp and iat"
        case .refusedTokenAgain(let context):
            "Fleet Engine rejected the token for \(context), and its issuer gave the same one again; "
                + "let the issuer make a new one when it is asked again"
        case .doubtfulExpiry(let words), .brokenContract(let words):
            ReportedText(words, limit: ReportedText.longestSentence).description
        }
    }

    /// The same warning without the figures that change from token to token: a warning is reported once by this.
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
