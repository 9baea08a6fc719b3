package import FleetEngine
package import HTTPMessages

/// What the uploader needs to know of a vehicle and its Fleet Engine.
package struct UploadSettings: Sendable, Hashable {
    package var vehicle: VehicleName
    package var endpoint: HTTPURL
    /// Sent with every update of an on-demand vehicle, but while it may be private and nobody knows.
    package var state: VehicleState?
    package var limits: HTTPLimits
    package var maximumPastLocations: Int
    /// The pace of a backlog; `nil` sends it as fast as answers come.
    package var backlogUpdatesPerSecond: Double?
    package var retry: RetryPolicy
    /// The longest time without an update; the newest one is repeated when nothing newer has come.
    package var heartbeat: Duration

    package init(
        vehicle: VehicleName, endpoint: HTTPURL, state: VehicleState?, limits: HTTPLimits = HTTPLimits(),
        maximumPastLocations: Int = 50, backlogUpdatesPerSecond: Double? = nil,
        retry: RetryPolicy = RetryPolicy(initialDelay: .seconds(1), maximumDelay: .seconds(60)),
        heartbeat: Duration = .seconds(60)
    ) {
        (self.vehicle, self.endpoint, self.state, self.limits) = (vehicle, endpoint, state, limits)
        (self.maximumPastLocations, self.backlogUpdatesPerSecond) = (maximumPastLocations, backlogUpdatesPerSecond)
        (self.retry, self.heartbeat) = (retry, heartbeat)
    }
}
