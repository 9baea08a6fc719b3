/// Which of Fleet Engine's two services a vehicle belongs to.
package enum FleetService: String, Sendable, Hashable, CaseIterable {
    /// On-demand rides and deliveries: `providers/*/vehicles/*`, updated with PUT, has a vehicle state.
    case onDemandTrips
    /// Scheduled tasks: `providers/*/deliveryVehicles/*`, updated with PATCH, has no state.
    case scheduledTasks

    /// The collection's name in a URL.
    package var collection: String {
        switch self {
        case .onDemandTrips: "vehicles"
        case .scheduledTasks: "deliveryVehicles"
        }
    }
}
