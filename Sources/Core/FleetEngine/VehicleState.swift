/// Whether an on-demand vehicle takes new trips (`maps.fleetengine.v1.VehicleState`).
package enum VehicleState: String, Sendable, Hashable, CaseIterable, Codable {
    case online = "ONLINE"
    case offline = "OFFLINE"
}
