import ReportedText
import StrictJSON

/// What a JSON Web Token must say before it is sent to Fleet Engine.
///
/// Nothing is proved by it, since signatures are not checked here; it names a wrong set-up in words, before the server
/// does with a 401 or 403. A token that is no JSON Web Token is left to the server.
public struct ClaimRules: Sendable, Hashable {
    /// The claim that names a driver's vehicle.
    public enum VehicleClaim: String, Sendable, Hashable, CaseIterable {
        /// Of on-demand trips.
        case vehicleid
        /// Of scheduled tasks.
        case deliveryvehicleid
    }

    /// The accepted `aud`, compared without the slash at its end.
    public var audience: String
    /// Which claim has to name the vehicle; `nil` takes either.
    public var vehicleClaim: VehicleClaim?

    /// How far the clocks of issuer and server may be apart (Google: `iat` tolerates ten minutes).
    package static let skew = 600.0

    /// The rules of Fleet Engine's tokens.
    public init(audience: String = "https://fleetengine.googleapis.com/", vehicleClaim: VehicleClaim? = nil) {
        self.audience = audience
        self.vehicleClaim = vehicleClaim
    }

    /// The token, with what its issuer should correct.
    ///
    /// - Throws: `.unusableAnswer` when it is for another vehicle or trip, another audience, or another time.
    package func checked(
        _ token: AuthorizationToken, for context: AuthorizationContext
    ) throws(AuthorizationError) -> AuthorizationToken {
        guard let parsed = try? JSONWebToken(token.value) else { return token }
        if let problem = problem(of: parsed, for: context) {
            throw AuthorizationError(.unusableAnswer, Self.sentence(problem, of: context))
        }
        return token.doubted(doubts(about: parsed, for: context).map { Self.sentence($0.words, of: context) })
    }

    /// All that the issuer should correct, each a sentence; what keeps the token from being sent comes first.
    package func faults(of token: JSONWebToken, for context: AuthorizationContext) -> [String] {
        (problems(of: token, for: context) + doubts(about: token, for: context).map(\.words))
            .map { Self.sentence($0, of: context) }
    }

    private static func sentence(_ end: String, of context: AuthorizationContext) -> String {
        "the token for \(context) \(end)"
    }

    /// Something about a token that whoever runs the backend should correct.
    package struct Doubt: Sendable, Hashable {
        /// The claim, or the field of the header, for which Fleet Engine may reject the token; `nil` where it takes it.
        package let claim: String?
        /// The end of a sentence that begins with "the token".
        package let words: String

        fileprivate init(_ claim: String?, _ words: String) {
            self.claim = claim
            self.words = words
        }
    }

    /// What the service sends all the same.
    package func doubts(about token: JSONWebToken, for context: AuthorizationContext) -> [Doubt] {
        var doubts: [Doubt] = []
        func doubt(_ claim: String?, _ words: String) { doubts.append(Doubt(claim, words)) }
        if token.header["kid"]?.stringValue?.isEmpty ?? true {
            doubt("kid", "names no key; let the issuer set kid to the service account's private key id")
        }
        let issuer = token.claims["iss"]?.stringValue
        let subject = token.claims["sub"]?.stringValue
        if let absent = issuer == nil ? "iss" : subject == nil ? "sub" : nil {
            doubt(absent, "has no \(absent); let the issuer set iss and sub to the service account's e-mail address")
        } else if issuer != subject {
            doubt("sub", "has another sub than iss; let the issuer set both to the service account's e-mail address")
        }
        if token.audience.contains(where: { "\($0)/" == audience }), !token.audience.contains(audience) {
            doubt("aud", "has an aud without the slash at its end; let the issuer set aud to \(audience)")
        }
        if token.authorization == nil {
            let claim = claimName(for: context)
            let words =
                if let other = token.claims["authorization"] {
                    "has an authorization claim that is \(other.kind); let the issuer write an object with \(claim)"
                } else if token.claims[claim] != nil {
                    "has \(claim) outside of an authorization claim; let the issuer put it into one"
                } else {
                    "has no authorization claim; let the issuer put \(claim) into one"
                }
            doubt("authorization", words)
        } else if token.authorization?.isForAll == true {
            doubt(nil, "is a server token, valid for every vehicle; let the backend issue driver tokens")
        }
        for (name, time) in [("iat", token.issuedAt), ("exp", token.expiry)] {
            let isInMilliseconds = time.map(JSONWebToken.isInMilliseconds) ?? false
            guard let time, isInMilliseconds || JSONWebToken.isPlausible(time) else {
                let isThere = token.claims[name].map { !$0.isNull } ?? false
                let fault =
                    time.map { "has the \(name) \($0), which is no time" }
                    ?? (isThere ? "has an \(name) that is no number" : "has no \(name)")
                doubt(name, "\(fault); let the issuer set it, in seconds since 1970")
                continue
            }
            if isInMilliseconds {
                doubt(name, "has the \(name) \(Int(clamping: time)) in milliseconds; let the issuer divide it by 1000")
            }
            if token.claims[name]?.stringValue != nil {
                doubt(name, "has its \(name) in quotes; let the issuer write a number")
            }
        }
        return doubts
    }

    private func claimName(for context: AuthorizationContext) -> String {
        switch context.subject {
        case .vehicle: vehicleClaim?.rawValue ?? "vehicleid or deliveryvehicleid"
        case .trip: "tripid"
        case .shipment: "trackingid"
        }
    }

    /// The end of a sentence that begins with "the token": the first of several problems.
    package func problem(of token: JSONWebToken, for context: AuthorizationContext) -> String? {
        problems(of: token, for: context).first
    }

    private func problems(of token: JSONWebToken, for context: AuthorizationContext) -> [String] {
        [
            Self.problemOfSignature(token), problemOfAudience(token), Self.problemOfBeginning(token),
            problemOfSubject(token, context),
        ].compactMap { $0 }
    }

    private static func problemOfSignature(_ token: JSONWebToken) -> String? {
        let algorithm = token.header["alg"]?.stringValue ?? "nothing"
        guard algorithm != "RS256" else { return nil }
        return "is signed with \(ReportedText(algorithm, limit: 20)); let the issuer sign with RS256"
    }

    private func problemOfAudience(_ token: JSONWebToken) -> String? {
        if token.audience.isEmpty { return "names no audience; let the issuer set aud to \(audience)" }
        guard !token.audience.contains(where: { Self.trimmed($0) == Self.trimmed(audience) }) else { return nil }
        if token.authorization == nil, let issuer = Self.identityIssuer(of: token) {
            return "is an identity token of \(issuer), not one for Fleet Engine; let the backend sign one with "
                + "the key of a service account, with aud \(audience)"
        }
        return "is for \(Self.shown(token.audience)); let the issuer set aud to \(audience)"
    }

    private func problemOfSubject(_ token: JSONWebToken, _ context: AuthorizationContext) -> String? {
        guard let claims = token.authorization else { return nil }
        return switch context.subject {
        case .vehicle(let id, let taskID): problem(of: claims, in: token, forVehicle: id, taskID: taskID)
        case .trip(let id): Self.problem(of: claims.tripID, in: token, for: id, kind: "trip", claim: "tripid")
        case .shipment(let id):
            Self.problem(of: claims.trackingID, in: token, for: id, kind: "shipment", claim: "trackingid")
        }
    }

    /// What is said of a claim that holds no string, as a list of vehicles.
    private static func problemOfKind(_ claim: String, in token: JSONWebToken) -> String? {
        // Many serializers write null for what is not there.
        guard let value = token.claims["authorization"]?.objectValue?[claim], value.stringValue == nil, !value.isNull
        else { return nil }
        let kind = value.arrayValue == nil ? value.kind : "a list"
        return "has a \(claim) that is \(kind); let the issuer write the id alone, as a string"
    }

    /// `nbf` is judged by the token's own `iat`: this machine's clock may be wrong, the issuer's agrees with itself.
    private static func problemOfBeginning(_ token: JSONWebToken) -> String? {
        guard let notBefore = token.notBefore, let issuedAt = token.timeOfIssue else { return nil }
        let wait = notBefore - issuedAt
        guard wait.isFinite, wait > skew else { return nil }
        return
            "is not valid before \(Int(clamping: wait)) s after its issue (nbf); let the issuer set nbf to iat, or drop it"
    }

    private func problem(
        of claims: JSONWebToken.Authorization, in token: JSONWebToken, forVehicle vehicleID: String, taskID: String?
    ) -> String? {
        let vehicles =
            switch vehicleClaim {
            case .vehicleid: [claims.vehicleID].compactMap { $0 }
            case .deliveryvehicleid: [claims.deliveryVehicleID].compactMap { $0 }
            case nil: [claims.vehicleID, claims.deliveryVehicleID].compactMap { $0 }
            }
        guard !vehicles.isEmpty else {
            let accepted = vehicleClaim.map { [$0] } ?? ClaimRules.VehicleClaim.allCases
            for claim in accepted {
                if let problem = Self.problemOfKind(claim.rawValue, in: token) { return problem }
            }
            switch vehicleClaim {
            case .vehicleid where claims.deliveryVehicleID != nil:
                return "is for delivery vehicles, but vehicle.service is onDemandTrips; "
                    + "let the issuer set vehicleid, or correct vehicle.service"
            case .deliveryvehicleid where claims.vehicleID != nil:
                return
                    "is for on-demand vehicles, but vehicle.service is scheduledTasks; "
                    + "let the issuer set deliveryvehicleid, or correct vehicle.service"
            case .vehicleid, .deliveryvehicleid, nil: break
            }
            let claim = claimName(for: AuthorizationContext(vehicleID: vehicleID))
            if let misspelled = claims.misspelledVehicleClaim {
                return "names its vehicle under \(ReportedText(misspelled, limit: 40)); let the issuer write \(claim)"
            }
            return "names no vehicle (it may be a consumer's); let the issuer set \(claim)"
        }
        guard vehicles.contains(where: { $0 == "*" || $0 == vehicleID }) else {
            if vehicles.contains(where: { $0.hasSuffix("/\(vehicleID)") }) {
                return "names the vehicle with its whole path; let the issuer write the id alone, \(vehicleID)"
            }
            if let other = vehicles.first(where: { $0.lowercased() == vehicleID.lowercased() }) {
                return "is for vehicle \(Self.shown([other])), in other letters than \(vehicleID): "
                    + "upper and lower case differ; let the issuer write the vehicle's own id"
            }
            return "is for vehicle \(Self.shown(vehicles)); check the vehicle id and the endpoint"
        }
        if let taskID, let claimed = claims.taskIDs, !claimed.contains("*"), !claimed.contains(taskID) {
            return "is for task \(Self.shown(claimed)), not for \(taskID)"
        }
        return nil
    }

    private static func problem(
        of claimed: String?, in token: JSONWebToken, for id: String, kind: String, claim: String
    ) -> String? {
        guard let claimed else {
            return problemOfKind(claim, in: token)
                ?? "names no \(kind) (it may be a driver's); let the issuer set \(claim)"
        }
        guard claimed != "*", claimed != id else { return nil }
        return "is for \(kind) \(shown([claimed])); check the id and the endpoint"
    }

    /// Who says who a person or a program is, and signs no token for Fleet Engine: an https URL (OpenID Connect Core
    /// 1.0, section 2), or Google's name without one. `nil` for any other, as a service account by its e-mail address.
    private static func identityIssuer(of token: JSONWebToken) -> String? {
        let issuer = token.claims["iss"]?.stringValue ?? ""
        if issuer == "accounts.google.com" { return issuer }
        guard issuer.hasPrefix("https://") else { return nil }
        return shown([String(issuer.dropFirst("https://".count).prefix { $0 != "/" })])
    }

    /// Claims are the issuer's words: whatever they hold, the sentence stays short and tells no secret. Fleet Engine's
    /// ids have 64 characters at most.
    private static func shown(_ claims: [String]) -> String {
        claims.prefix(3).map { claim in
            // White space around it would not be seen.
            let mark = claim.first?.isWhitespace ?? true || claim.last?.isWhitespace ?? true ? "\"" : ""
            return "\(mark)\(ReportedText(claim, limit: 100))\(mark)"
        }.joined(separator: ", ")
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

/// Something about tokens that works for now and that an operator should correct; each is reported once, and again each
/// ten minutes.
public enum AuthorizationWarning: Sendable, Hashable, CustomStringConvertible {
    /// The issuer's tokens live no longer than the life that must be left in a token handed out.
    case shortLivedTokens(AuthorizationContext, lifetime: Duration, minimumLife: Duration)
    /// The issuer's tokens live longer than Fleet Engine takes.
    case longLivedTokens(AuthorizationContext, lifetime: Duration, longestLife: Duration)
    /// Neither the token nor its issuer says how long it lives.
    case unknownLifetime(AuthorizationContext, assumed: Duration)
    /// The issuer gave the token again that Fleet Engine had rejected.
    case refusedTokenAgain(AuthorizationContext)
    /// Something that the token or its issuer says does not fit, and the token is used all the same; says what is to be
    /// corrected.
    case doubtfulToken(String)
    /// A provider, or the issuer behind it, does not keep to the contract of `GMTDAuthorization` and
    /// `GMTCAuthorization`; says which rule.
    case brokenContract(String)

    /// What was seen and what to change; never a token.
    public var description: String {
        switch self {
        case .shortLivedTokens(let context, let lifetime, let minimumLife):
            "tokens for \(context) have \(lifetime.secondsText) of life when they come; "
                + "let the issuer give new ones, with clearly more than \(minimumLife.secondsText) (an hour is usual)"
        case .longLivedTokens(let context, let lifetime, let longestLife):
            "tokens for \(context) live \(lifetime.secondsText); Fleet Engine rejects an exp more than "
                + "\(longestLife.secondsText) ahead, let the issuer give them that or less"
        case .unknownLifetime(let context, let assumed):
            "the token for \(context) states no expiry that can be trusted; it is renewed after "
                + "\(assumed.secondsText). Let the issuer set exp and iat"
        case .refusedTokenAgain(let context):
            "Fleet Engine rejected the token for \(context), and its issuer gave the same one again; "
                + "let the issuer make a new one when it is asked again"
        case .doubtfulToken(let words), .brokenContract(let words):
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
        case .doubtfulToken(let words): .doubtfulToken(words.filter { !$0.isNumber })
        case .brokenContract(let words): .brokenContract(words.filter { !$0.isNumber })
        case .unknownLifetime, .refusedTokenAgain: self
        }
    }
}

extension Duration {
    /// Whole seconds, as `300 s`.
    package var secondsText: String { "\(components.seconds) s" }
}
