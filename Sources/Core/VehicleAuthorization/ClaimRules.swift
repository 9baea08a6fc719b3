/// What a JSON Web Token must say before it is sent to Fleet Engine.
///
/// Nothing is proved by it, since signatures are not checked here; it names a wrong set-up in words, before the server
/// does with a 401 or 403. A token that is no JSON Web Token is left to the server.
public struct ClaimRules: Sendable, Hashable {
    /// The accepted `aud`, compared without the slash at its end.
    public var audience: String

    /// The rules for tokens of drivers; the audience is Fleet Engine's.
    public init(audience: String = "https://fleetengine.googleapis.com/") { self.audience = audience }

    /// - Throws: `.unusableAnswer` when the token names another vehicle, no vehicle, or another audience.
    package func check(_ token: AuthorizationToken, for context: AuthorizationContext) throws(AuthorizationError) {
        guard let parsed = try? JSONWebToken(token.value) else { return }
        if let problem = problem(of: parsed, for: context) {
            throw AuthorizationError(.unusableAnswer, "the token for vehicle \(context.vehicleID) \(problem)")
        }
    }

    /// The end of a sentence that begins with "the token".
    package func problem(of token: JSONWebToken, for context: AuthorizationContext) -> String? {
        if token.audience.isEmpty { return "names no audience; let the issuer set aud to \(audience)" }
        guard token.audience.contains(where: { Self.trimmed($0) == Self.trimmed(audience) }) else {
            return "is for \(token.audience.joined(separator: ", ")); let the issuer set aud to \(audience)"
        }
        guard let claims = token.authorization else { return nil }
        let vehicles = [claims.vehicleID, claims.deliveryVehicleID].compactMap { $0 }
        guard !vehicles.isEmpty else {
            return "names no vehicle (it may be a consumer's); let the issuer set vehicleid or deliveryvehicleid"
        }
        guard vehicles.contains(where: { $0 == "*" || $0 == context.vehicleID }) else {
            return "is for vehicle \(vehicles.joined(separator: ", ")); check the vehicle id and the endpoint"
        }
        if let taskID = context.taskID, let claimed = claims.taskIDs, !claimed.contains("*"), !claimed.contains(taskID)
        {
            return "is for task \(claimed.joined(separator: ", ")), not for \(taskID)"
        }
        return nil
    }

    private static func trimmed(_ audience: String) -> Substring {
        audience.hasSuffix("/") ? audience.dropLast() : Substring(audience)
    }
}
