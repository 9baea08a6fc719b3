import FleetEngine

import HTTPMessages

/// What a token's private claims allow.
enum FleetPermission {
    /// Reading is for the vehicle's driver, for a server, and on the on-demand side for consumers; writing for the first two.
    static func check(_ method: HTTPMethod, _ name: ResourceName, _ claims: TokenClaims) throws(Refusal) {
        let claim = name.service.claim
        let isReading = method == .get || method == .head
        if isReading, name.service == .onDemandTrips, claims.authorization["tripid"] != nil { return }
        guard let allowed = claims.authorization[claim] else {
            throw .permissionDenied("the token has no \(claim) claim, which \(name.service.collection) need")
        }
        guard allowed == name.id || allowed == "*" else {
            throw .permissionDenied("the token's \(claim) claim does not match the vehicle in the URL")
        }
    }
}
