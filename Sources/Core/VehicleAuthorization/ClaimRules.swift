package import ReportedText
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
            throw AuthorizationError(.wrongClaims(problem, context))
        }
        return token.doubted(doubts(about: parsed, for: context).map { .claims($0, context) })
    }

    /// What the issuer should correct in a token that is sent.
    package func doubts(about token: JSONWebToken, for context: AuthorizationContext) -> [ClaimDoubt] {
        var doubts: [ClaimDoubt] = []
        if token.header["kid"]?.stringValue?.isEmpty ?? true { doubts.append(.noKeyID) }
        let issuer = token.claims["iss"]?.stringValue
        let subject = token.claims["sub"]?.stringValue
        if let absent = issuer == nil ? "iss" : subject == nil ? "sub" : nil {
            doubts.append(.noAccount(claim: absent))
        } else if issuer != subject {
            doubts.append(.twoAccounts)
        }
        if token.audience.contains(where: { "\($0)/" == audience }), !token.audience.contains(audience) {
            doubts.append(.noSlash(expected: audience))
        }
        if token.authorization == nil {
            let claim = claimName(for: context)
            doubts.append(
                token.claims["authorization"].map { .authorizationIsNoObject(kind: $0.kind, claim: claim) }
                    ?? (token.claims[claim] != nil
                        ? .outsideAuthorization(claim: claim) : .noAuthorization(claim: claim)))
        } else if token.authorization?.isForAll == true {
            doubts.append(.serverToken)
        }
        return doubts + Self.doubts(aboutTime: "iat", token.issuedAt, token)
            + Self.doubts(aboutTime: "exp", token.expiry, token)
    }

    private static func doubts(aboutTime claim: String, _ time: Double?, _ token: JSONWebToken) -> [ClaimDoubt] {
        let isInMilliseconds = time.map(JSONWebToken.isInMilliseconds) ?? false
        guard let time, isInMilliseconds || JSONWebToken.isPlausible(time) else {
            let isThere = token.claims[claim].map { !$0.isNull } ?? false
            return [
                time.map { .noTime(claim: claim, $0) } ?? (isThere ? .noNumber(claim: claim) : .missing(claim: claim))
            ]
        }
        var doubts: [ClaimDoubt] = []
        if isInMilliseconds { doubts.append(.milliseconds(claim: claim, Int(clamping: time))) }
        if token.claims[claim]?.stringValue != nil { doubts.append(.quoted(claim: claim)) }
        return doubts
    }

    private func claimName(for context: AuthorizationContext) -> String {
        switch context.subject {
        case .vehicle: vehicleClaim?.rawValue ?? "vehicleid or deliveryvehicleid"
        case .trip: "tripid"
        case .shipment: "trackingid"
        }
    }

    /// What keeps the token from being sent; the first of several problems.
    package func problem(of token: JSONWebToken, for context: AuthorizationContext) -> ClaimFault? {
        problems(of: token, for: context).first
    }

    /// Everything that keeps the token from being sent.
    package func problems(of token: JSONWebToken, for context: AuthorizationContext) -> [ClaimFault] {
        [
            Self.problemOfSignature(token), problemOfAudience(token), Self.problemOfBeginning(token),
            problemOfSubject(token, context),
        ].compactMap { $0 }
    }

    private static func problemOfSignature(_ token: JSONWebToken) -> ClaimFault? {
        let algorithm = token.header["alg"]?.stringValue
        return algorithm == "RS256" ? nil : .algorithm(algorithm.map { ReportedText($0, limit: 20) })
    }

    private func problemOfAudience(_ token: JSONWebToken) -> ClaimFault? {
        if token.audience.isEmpty { return .noAudience(expected: audience) }
        guard !token.audience.contains(where: { Self.trimmed($0) == Self.trimmed(audience) }) else { return nil }
        if token.authorization == nil, let issuer = Self.identityIssuer(of: token) {
            return .identityToken(issuer: issuer, expected: audience)
        }
        return .audience(Self.shown(token.audience), expected: audience)
    }

    /// `nbf` is judged by the token's own `iat`: this machine's clock may be wrong, the issuer's agrees with itself.
    private static func problemOfBeginning(_ token: JSONWebToken) -> ClaimFault? {
        guard let notBefore = token.notBefore, let issuedAt = token.timeOfIssue else { return nil }
        let wait = notBefore - issuedAt
        guard wait.isFinite, wait > skew else { return nil }
        return .notYetValid(seconds: Int(clamping: wait))
    }

    private func problemOfSubject(_ token: JSONWebToken, _ context: AuthorizationContext) -> ClaimFault? {
        guard let claims = token.authorization else { return nil }
        return switch context.subject {
        case .vehicle(let id, let taskID): problem(of: claims, in: token, forVehicle: id, taskID: taskID)
        case .trip(let id): Self.problem(of: claims.tripID, in: token, for: id, claim: "tripid")
        case .shipment(let id): Self.problem(of: claims.trackingID, in: token, for: id, claim: "trackingid")
        }
    }

    /// A claim that isn't a string, such as a list of vehicles.
    private static func problemOfKind(_ claim: String, in token: JSONWebToken) -> ClaimFault? {
        // Many serializers write null for what is missing.
        guard let value = token.claims["authorization"]?.objectValue?[claim], value.stringValue == nil, !value.isNull
        else { return nil }
        return .notAString(claim: claim, kind: value.arrayValue == nil ? value.kind : "a list")
    }

    private func problem(
        of claims: JSONWebToken.Authorization, in token: JSONWebToken, forVehicle vehicleID: String, taskID: String?
    ) -> ClaimFault? {
        let named: [(claim: VehicleClaim, id: String?)] = [
            (.vehicleid, claims.vehicleID), (.deliveryvehicleid, claims.deliveryVehicleID),
        ]
        let accepted = named.filter { vehicleClaim == nil || vehicleClaim == $0.claim }
        let vehicles = accepted.compactMap(\.id)
        guard !vehicles.isEmpty else {
            if let problem = accepted.lazy.compactMap({ Self.problemOfKind($0.claim.rawValue, in: token) }).first {
                return problem
            }
            if let other = named.first(where: { $0.id != nil }) { return .otherService(has: other.claim) }
            let claim = claimName(for: AuthorizationContext(vehicleID: vehicleID))
            if let misspelled = claims.misspelledVehicleClaim {
                return .misspelled(ReportedText(misspelled, limit: 40), claim: claim)
            }
            return .noSubject(claim: claim)
        }
        guard vehicles.contains(where: { $0 == "*" || $0 == vehicleID }) else {
            if vehicles.contains(where: { $0.hasSuffix("/\(vehicleID)") }) { return .wholePath }
            if let other = vehicles.first(where: { $0.lowercased() == vehicleID.lowercased() }) {
                return .otherCase(ReportedText(other, limit: 100))
            }
            return .otherSubject(Self.shown(vehicles))
        }
        if let taskID, let claimed = claims.taskIDs, !claimed.contains("*"), !claimed.contains(taskID) {
            return .otherTask(Self.shown(claimed))
        }
        return nil
    }

    private static func problem(
        of claimed: String?, in token: JSONWebToken, for id: String, claim: String
    ) -> ClaimFault? {
        guard let claimed else { return problemOfKind(claim, in: token) ?? .noSubject(claim: claim) }
        return claimed == "*" || claimed == id ? nil : .otherSubject(shown([claimed]))
    }

    /// The issuer of an identity token, which signs none for Fleet Engine: an https URL (OpenID Connect Core 1.0,
    /// section 2), or Google's name without one. `nil` for any other, such as a service account's e-mail address.
    private static func identityIssuer(of token: JSONWebToken) -> ReportedText? {
        let issuer = token.claims["iss"]?.stringValue ?? ""
        if issuer == "accounts.google.com" { return "accounts.google.com" }
        guard issuer.hasPrefix("https://") else { return nil }
        return ReportedText(String(issuer.dropFirst("https://".count).prefix { $0 != "/" }), limit: 100)
    }

    /// The first four of some claims; Fleet Engine's ids have 64 characters at most.
    private static func shown(_ claims: [String]) -> [ReportedText] {
        claims.prefix(4).map { ReportedText($0, limit: 100) }
    }

    private static func trimmed(_ audience: String) -> Substring {
        audience.hasSuffix("/") ? audience.dropLast() : Substring(audience)
    }
}

extension Int {
    /// The nearest whole number there is.
    fileprivate init(clamping value: Double) { self = Int(exactly: value.rounded()) ?? .max }
}

/// What is wrong with a token's header or claims, so that it isn't sent.
package enum ClaimFault: Sendable, Hashable {
    /// It isn't signed with RS256; `nil` if its header names no algorithm.
    case algorithm(ReportedText?)
    case noAudience(expected: String)
    case audience([ReportedText], expected: String)
    /// It says who somebody is, and isn't a token for Fleet Engine.
    case identityToken(issuer: ReportedText, expected: String)
    /// Its `nbf` is so long after its `iat`.
    case notYetValid(seconds: Int)
    case notAString(claim: String, kind: String)
    /// It names its vehicle under the claim of the other service.
    case otherService(has: ClaimRules.VehicleClaim)
    /// The claim's name is written in another way.
    case misspelled(ReportedText, claim: String)
    /// It names no vehicle, trip or shipment.
    case noSubject(claim: String)
    /// The claim names the vehicle with its whole path.
    case wholePath
    /// It names the vehicle in other upper and lower case.
    case otherCase(ReportedText)
    case otherSubject([ReportedText])
    case otherTask([ReportedText])
}

/// What the issuer should correct in a token's header or claims. The token is sent.
package enum ClaimDoubt: Sendable, Hashable {
    case noKeyID
    /// There is no `iss` or no `sub`.
    case noAccount(claim: String)
    /// `sub` differs from `iss`.
    case twoAccounts
    /// `aud` lacks the slash at its end.
    case noSlash(expected: String)
    case authorizationIsNoObject(kind: String, claim: String)
    /// The claim is outside of `authorization`.
    case outsideAuthorization(claim: String)
    case noAuthorization(claim: String)
    /// It is valid for every vehicle.
    case serverToken
    case missing(claim: String)
    case noNumber(claim: String)
    /// No time in seconds since 1970.
    case noTime(claim: String, Double)
    case milliseconds(claim: String, Int)
    /// A number in quotes.
    case quoted(claim: String)

    /// The claim or field of the header for which Fleet Engine may reject the token; `nil` if it accepts it.
    package var claim: String? {
        switch self {
        case .noKeyID: "kid"
        case .twoAccounts: "sub"
        case .noSlash: "aud"
        case .authorizationIsNoObject, .outsideAuthorization, .noAuthorization: "authorization"
        case .serverToken: nil
        case .noAccount(let claim), .missing(let claim), .noNumber(let claim), .noTime(let claim, _),
            .milliseconds(let claim, _), .quoted(let claim):
            claim
        }
    }
}

extension Duration {
    /// Whole seconds, as `300 s`.
    package var secondsText: String { "\(components.seconds) s" }
}
