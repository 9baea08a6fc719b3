import VehicleAuthorization

/// A token cache that breaks a rule about reusing tokens.
actor FaultyCache: VehicleAuthorization {
    private let cached: any VehicleAuthorization
    private let issuer: any VehicleAuthorization
    private let bug: PlantedBug
    private let world: World
    private var tokens: [AuthorizationContext: (token: AuthorizationToken, end: Duration)] = [:]

    init(
        _ cached: any VehicleAuthorization, issuer: any VehicleAuthorization, bug: PlantedBug, world: World
    ) {
        (self.cached, self.issuer, self.bug, self.world) = (cached, issuer, bug, world)
    }

    func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        if bug == .asksAtEachUpload { return try await issuer.token(for: context) }
        // Keeps one token for all vehicles, or one per vehicle, and uses it until its last second.
        let key = bug == .mixesVehicles ? AuthorizationContext(vehicleID: "any") : context
        if let kept = tokens[key], world.now < kept.end { return kept.token }
        let token = try await cached.token(for: context)
        let margin: Duration = bug == .mixesVehicles ? .seconds(300) : .zero
        tokens[key] = (token, world.now + (token.lifetime ?? .zero) - margin)
        return token
    }

    func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async {
        tokens = [:]
        await cached.discard(token, for: context)
    }

    func networkReturned() async { await cached.networkReturned() }
}
