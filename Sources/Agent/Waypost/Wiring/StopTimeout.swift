/// The maximum waits of a stop for calls that may hang. Together they stay below the 10 s of the service manager.
enum StopTimeout {
    /// The wait for the cancelled tasks.
    static let tasks = Duration.seconds(1)
    /// The wait for the vehicle's final state to be sent.
    static let finalState = Duration.seconds(3)
    /// The wait for the outbox to write what is in memory, and to close.
    static let closing = Duration.seconds(3)
}
