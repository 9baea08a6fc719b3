import VehicleAuthorization

/// Another vehicle that uses the same token cache, as in a process that reports several vehicles.
struct Companion: Sendable {
    let world: World
    let authorization: any VehicleAuthorization
    let vehicleID: String

    func run() async {
        while !Task.isCancelled {
            await world.clock.wait(for: .seconds(170))
            _ = try? await authorization.token(for: AuthorizationContext(vehicleID: vehicleID))
        }
    }
}
