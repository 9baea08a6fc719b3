import FleetEngine

/// What a token's private claims allow: each opens the one resource that it names, or all with `*`.
enum FleetPermission {
    /// Reading and writing a vehicle are for its driver and for a server.
    static func check(_ vehicle: ResourceName, _ claims: TokenClaims) throws(Refusal) {
        try check(vehicle.service.claim, vehicle.id, claims, resource: vehicle.service.collection)
    }

    /// A trip is for its consumer and for a server.
    static func check(tripID: String, _ claims: TokenClaims) throws(Refusal) {
        try check("tripid", tripID, claims, resource: "trips")
    }

    private static func check(
        _ claim: String, _ id: String, _ claims: TokenClaims, resource: String
    ) throws(Refusal) {
        guard let allowed = claims.authorization[claim] else {
            throw .permissionDenied("the token has no \(claim) claim, which \(resource) need")
        }
        guard allowed == id || allowed == "*" else {
            throw .permissionDenied("the token's \(claim) claim does not match the one in the URL")
        }
    }
}
