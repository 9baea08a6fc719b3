/// The settings for delivering one vehicle's updates.
package struct UploadSettings: Sendable, Hashable {
    /// The presence that is sent with every update, unless the vehicle is or may be private.
    package var presence: Presence
    /// The time limit for an exchange.
    package var timeLimit: Duration
    package var maximumPastLocations: Int
    /// The rate at which a backlog is sent; `nil` sends it as fast as answers arrive.
    package var backlogUpdatesPerSecond: Double?
    package var retry: RetryPolicy
    /// The maximum time between two deliveries. After that, the newest update is sent again.
    package var heartbeat: Duration

    package init(
        presence: Presence = .online, timeLimit: Duration = .seconds(15), maximumPastLocations: Int = 50,
        backlogUpdatesPerSecond: Double? = nil,
        retry: RetryPolicy = RetryPolicy(initialDelay: .seconds(1), maximumDelay: .seconds(60)),
        heartbeat: Duration = .seconds(60)
    ) {
        self.presence = presence
        self.timeLimit = timeLimit
        self.maximumPastLocations = maximumPastLocations
        self.backlogUpdatesPerSecond = backlogUpdatesPerSecond
        self.retry = retry
        self.heartbeat = heartbeat
    }
}
