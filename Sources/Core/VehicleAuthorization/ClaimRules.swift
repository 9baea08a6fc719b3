package import ReportedText
import StrictJSON

/// The claims that a JSON Web Token must have before it is sent to Fleet Engine.
///
/// The rules don't prove that a token is genuine, because signatures aren't checked here. They detect a wrong set-up,
/// so that the remedy is known before the server answers 401 or 403. A token that isn't a JSON Web Token is left to the
/// server.
public struct ClaimRules: Sendable, Hashable {
    /// The claim that names a driver's vehicle.
    public enum VehicleClaim: String, Sendable, Hashable, CaseIterable {
        /// The claim for on-demand trips.
        case vehicleid
        /// The claim for scheduled tasks.
        case deliveryvehicleid
    }

    /// The required `aud`. A trailing slash is ignored.
    public var audience: String
    /// The claim that must name the vehicle; `nil` accepts either claim.
    public var vehicleClaim: VehicleClaim?

    /// The maximum difference in seconds between the clocks of the issuer and the server (Google tolerates ten minutes
    /// for `iat`).
    package static let skew = 600.0

    /// Creates the rules for Fleet Engine's tokens.
    public init(audience: String = "https://fleetengine.googleapis.com/", vehicleClaim: VehicleClaim? = nil) {
        self.audience = audience
        self.vehicleClaim = vehicleClaim
    }

    /// Returns the token with warnings about its claims.
    ///
    /// - Throws: `.unusableAnswer` if there is a reason not to send the token, such as another vehicle, trip or
    ///   audience.
    package func checked(
        _ token: AuthorizationToken, for context: AuthorizationContext
    ) throws(AuthorizationError) -> AuthorizationToken {
        guard let parsed = try? JSONWebToken(token.value) else { return token }
        if let problem = problem(of: parsed, for: context) {
            throw AuthorizationError(.wrongClaims(problem, context))
        }
        return token.adding(warnings(about: parsed, for: context).map { .claims($0, context) })
    }

    /// Returns warnings about a token that is sent anyway.
    package func warnings(about token: JSONWebToken, for context: AuthorizationContext) -> [ClaimWarning] {
        var warnings: [ClaimWarning] = []
        if token.header["kid"]?.stringValue?.isEmpty ?? true { warnings.append(.noKeyID) }
        let issuer = token.claims["iss"]?.stringValue
        let subject = token.claims["sub"]?.stringValue
        if issuer == nil {
            warnings.append(.missingAccount(claim: "iss"))
        } else if subject == nil {
            warnings.append(.missingAccount(claim: "sub"))
        } else if issuer != subject {
            warnings.append(.differentAccounts)
        }
        if token.audience.contains(where: { "\($0)/" == audience }), !token.audience.contains(audience) {
            warnings.append(.missingSlash(expected: audience))
        }
        if let warning = Self.warning(aboutAuthorizationOf: token, claim: claimName(for: context)) {
            warnings.append(warning)
        }
        return warnings + Self.warnings(aboutTime: token.issuedAt, claim: "iat", in: token)
            + Self.warnings(aboutTime: token.expiry, claim: "exp", in: token)
    }

    private static func warning(aboutAuthorizationOf token: JSONWebToken, claim: String) -> ClaimWarning? {
        if let authorization = token.authorization { return authorization.isForAll ? .serverToken : nil }
        if let value = token.claims["authorization"] {
            return .authorizationNotAnObject(kind: value.kind, claim: claim)
        }
        return token.claims[claim] == nil ? .noAuthorization(claim: claim) : .outsideAuthorization(claim: claim)
    }

    private static func warnings(aboutTime time: Double?, claim: String, in token: JSONWebToken) -> [ClaimWarning] {
        guard let time else {
            let isMissing = token.claims[claim]?.isNull ?? true
            return [isMissing ? .missing(claim: claim) : .notANumber(claim: claim)]
        }
        let isInMilliseconds = JSONWebToken.isInMilliseconds(time)
        guard isInMilliseconds || JSONWebToken.isPlausible(time) else { return [.notATime(claim: claim, time)] }
        var warnings: [ClaimWarning] = []
        if isInMilliseconds { warnings.append(.milliseconds(claim: claim, Int(clamping: time))) }
        if token.claims[claim]?.stringValue != nil { warnings.append(.quoted(claim: claim)) }
        return warnings
    }

    private func claimName(for context: AuthorizationContext) -> String {
        switch context.subject {
        case .vehicle: vehicleClaim?.rawValue ?? "vehicleid or deliveryvehicleid"
        case .trip: "tripid"
        case .shipment: "trackingid"
        }
    }

    /// Returns the first reason not to send the token; `nil` if it may be sent.
    package func problem(of token: JSONWebToken, for context: AuthorizationContext) -> ClaimFault? {
        problems(of: token, for: context).first
    }

    /// Returns all reasons not to send the token.
    package func problems(of token: JSONWebToken, for context: AuthorizationContext) -> [ClaimFault] {
        [
            Self.problemOfSignature(token), problemOfAudience(token), Self.problemOfStartTime(token),
            problemOfSubject(token, for: context),
        ].compactMap { $0 }
    }

    private static func problemOfSignature(_ token: JSONWebToken) -> ClaimFault? {
        let algorithm = token.header["alg"]?.stringValue
        return algorithm == "RS256" ? nil : .wrongAlgorithm(algorithm.map { ReportedText($0, limit: 20) })
    }

    private func problemOfAudience(_ token: JSONWebToken) -> ClaimFault? {
        if token.audience.isEmpty { return .noAudience(expected: audience) }
        guard !token.audience.contains(where: { Self.withoutTrailingSlash($0) == Self.withoutTrailingSlash(audience) })
        else { return nil }
        if token.authorization == nil, let issuer = Self.identityIssuer(of: token) {
            return .identityToken(issuer: issuer, expected: audience)
        }
        return .otherAudience(Self.reportedTexts(of: token.audience), expected: audience)
    }

    /// Returns the fault of a token whose `nbf` is too late. `nbf` is compared with the token's own `iat`, because both
    /// are from the issuer's clock. This machine's clock may be wrong.
    private static func problemOfStartTime(_ token: JSONWebToken) -> ClaimFault? {
        guard let notBefore = token.notBefore, let issuedAt = token.timeOfIssue else { return nil }
        let wait = notBefore - issuedAt
        guard wait.isFinite, wait > skew else { return nil }
        return .notYetValid(seconds: Int(clamping: wait))
    }

    private func problemOfSubject(_ token: JSONWebToken, for context: AuthorizationContext) -> ClaimFault? {
        guard let claims = token.authorization else { return nil }
        return switch context.subject {
        case .vehicle(let id, let taskID): problem(of: claims, in: token, forVehicle: id, taskID: taskID)
        case .trip(let id): Self.problem(of: claims.tripID, in: token, for: id, claim: "tripid")
        case .shipment(let id): Self.problem(of: claims.trackingID, in: token, for: id, claim: "trackingid")
        }
    }

    /// Returns the fault of a claim that isn't a string, such as a list of vehicles.
    private static func typeProblem(of claim: String, in token: JSONWebToken) -> ClaimFault? {
        // Many serializers write null for a missing value, so null isn't a fault here.
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
            if let problem = accepted.lazy.compactMap({ Self.typeProblem(of: $0.claim.rawValue, in: token) }).first {
                return problem
            }
            if let other = named.first(where: { $0.id != nil }) { return .otherService(claim: other.claim) }
            let claim = claimName(for: AuthorizationContext(vehicleID: vehicleID))
            if let misspelled = claims.misspelledVehicleClaim {
                return .misspelled(ReportedText(misspelled, limit: 40), claim: claim)
            }
            return .noSubject(claim: claim)
        }
        guard vehicles.contains(where: { $0 == "*" || $0 == vehicleID }) else {
            if vehicles.contains(where: { $0.hasSuffix("/\(vehicleID)") }) { return .fullResourceName }
            if let other = vehicles.first(where: { $0.lowercased() == vehicleID.lowercased() }) {
                return .otherLetterCase(ReportedText(other, limit: 100))
            }
            return .otherSubject(Self.reportedTexts(of: vehicles))
        }
        if let taskID, let claimed = claims.taskIDs, !claimed.contains("*"), !claimed.contains(taskID) {
            return .otherTask(Self.reportedTexts(of: claimed))
        }
        return nil
    }

    private static func problem(
        of claimed: String?, in token: JSONWebToken, for id: String, claim: String
    ) -> ClaimFault? {
        guard let claimed else { return typeProblem(of: claim, in: token) ?? .noSubject(claim: claim) }
        return claimed == "*" || claimed == id ? nil : .otherSubject(reportedTexts(of: [claimed]))
    }

    /// Returns the issuer of an identity token, which is never valid for Fleet Engine: an https URL (OpenID Connect
    /// Core 1.0, section 2), or Google's name without a scheme. Returns `nil` for any other issuer, such as a service
    /// account's e-mail address.
    private static func identityIssuer(of token: JSONWebToken) -> ReportedText? {
        let issuer = token.claims["iss"]?.stringValue ?? ""
        if issuer == "accounts.google.com" { return "accounts.google.com" }
        guard issuer.hasPrefix("https://") else { return nil }
        return ReportedText(String(issuer.dropFirst("https://".count).prefix { $0 != "/" }), limit: 100)
    }

    /// Returns the first four of `claims` in a form that may be shown. Ids aren't shortened, because Fleet Engine's ids
    /// have at most 64 characters.
    private static func reportedTexts(of claims: [String]) -> [ReportedText] {
        claims.prefix(4).map { ReportedText($0, limit: 100) }
    }

    private static func withoutTrailingSlash(_ audience: String) -> Substring {
        audience.hasSuffix("/") ? audience.dropLast() : Substring(audience)
    }
}

extension Int {
    /// Creates the integer nearest to `value`; `Int.max` if that integer can't be represented.
    fileprivate init(clamping value: Double) { self = Int(exactly: value.rounded()) ?? .max }
}

/// A fault in a token's header or claims. The token isn't sent.
package enum ClaimFault: Sendable, Hashable {
    /// The signature algorithm isn't RS256; `nil` if the header contains none.
    case wrongAlgorithm(ReportedText?)
    case noAudience(expected: String)
    case otherAudience([ReportedText], expected: String)
    /// The token is an OpenID Connect identity token, which Fleet Engine doesn't accept.
    case identityToken(issuer: ReportedText, expected: String)
    /// The token's `nbf` is this long after its `iat`.
    case notYetValid(seconds: Int)
    case notAString(claim: String, kind: String)
    /// The vehicle is named in the claim of the other service: scheduled tasks instead of on-demand trips, or the
    /// reverse.
    case otherService(claim: ClaimRules.VehicleClaim)
    /// The claim's name is misspelled.
    case misspelled(ReportedText, claim: String)
    /// The token names no vehicle, trip or shipment.
    case noSubject(claim: String)
    /// The claim contains the vehicle's full resource name instead of its id.
    case fullResourceName
    /// The claim differs from the vehicle's id only in case.
    case otherLetterCase(ReportedText)
    case otherSubject([ReportedText])
    case otherTask([ReportedText])
}

/// A problem in a token's header or claims that the issuer should correct. The token is sent.
package enum ClaimWarning: Sendable, Hashable {
    case noKeyID
    /// `iss` or `sub` is missing.
    case missingAccount(claim: String)
    /// `sub` differs from `iss`.
    case differentAccounts
    /// `aud` lacks the trailing slash.
    case missingSlash(expected: String)
    case authorizationNotAnObject(kind: String, claim: String)
    /// The claim for the vehicle, trip or shipment is outside the object `authorization`.
    case outsideAuthorization(claim: String)
    case noAuthorization(claim: String)
    /// The token is valid for every vehicle.
    case serverToken
    case missing(claim: String)
    case notANumber(claim: String)
    /// The value isn't a time in seconds since 1970.
    case notATime(claim: String, Double)
    case milliseconds(claim: String, Int)
    /// The value is a number in quotes.
    case quoted(claim: String)

    /// The claim or header field that may make Fleet Engine reject the token; `nil` if Fleet Engine accepts it anyway.
    package var claim: String? {
        switch self {
        case .noKeyID: "kid"
        case .differentAccounts: "sub"
        case .missingSlash: "aud"
        case .authorizationNotAnObject, .outsideAuthorization, .noAuthorization: "authorization"
        case .serverToken: nil
        case .missingAccount(let claim), .missing(let claim), .notANumber(let claim), .notATime(let claim, _),
            .milliseconds(let claim, _), .quoted(let claim):
            claim
        }
    }
}

extension Duration {
    /// The duration in whole seconds, such as `300 s`.
    package var secondsText: String { "\(components.seconds) s" }
}
