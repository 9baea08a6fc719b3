/// The time limits for the steps of stopping, any of which may hang. They add up to less than the 10 s that the service
/// manager allows.
enum StopTimeout {
    /// The time limit for the tasks to end after they have been cancelled.
    static let tasks = Duration.seconds(1)
    /// The time limit for sending the vehicle's final state.
    static let finalState = Duration.seconds(3)
    /// The time limit for storing the updates that are only in memory, and for closing the outbox.
    static let closing = Duration.seconds(3)
}
