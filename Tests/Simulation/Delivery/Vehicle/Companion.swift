import VehicleAuthorization

/// Another vehicle whose tokens come from the same cache, as where one process reports several.
struct Companion: Sendable {
    let world: World
    let authorization: any VehicleAuthorization
    let vehicleID: String

    /// Asks until cancelled.
    func run() async {
        while !Task.isCancelled {
            await world.clock.wait(for: .seconds(170))
            _ = try? await authorization.token(for: AuthorizationContext(vehicleID: vehicleID))
        }
    }
}
