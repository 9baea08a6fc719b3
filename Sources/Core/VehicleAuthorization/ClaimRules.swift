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

    /// - Throws: `.unusableAnswer` when the token is for somebody else, nobody, another audience, or another time.
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
            return "is for \(token.audience.joined(separator: ", ")); let the issuer set aud to \(audience)"
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
            return "is for vehicle \(vehicles.joined(separator: ", ")); check the vehicle id and the endpoint"
        }
        if let taskID, let claimed = claims.taskIDs, !claimed.contains("*"), !claimed.contains(taskID) {
            return "is for task \(claimed.joined(separator: ", ")), not for \(taskID)"
        }
        return nil
    }

    private static func problem(of claimed: String?, for id: String, kind: String, claim: String) -> String? {
        guard let claimed else { return "names no \(kind) (it may be a driver's); let the issuer set \(claim)" }
        return claimed == "*" || claimed == id ? nil : "is for \(kind) \(claimed); check the id and the endpoint"
    }

    private static func trimmed(_ audience: String) -> Substring {
        audience.hasSuffix("/") ? audience.dropLast() : Substring(audience)
    }
}

extension Int {
    /// The nearest whole number there is.
    fileprivate init(clamping value: Double) { self = Int(exactly: value.rounded()) ?? .max }
}
