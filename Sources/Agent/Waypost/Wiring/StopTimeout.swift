/// The time limits for calls that may hang while the service stops. Their sum is below the service manager's 10 s.
enum StopTimeout {
    /// The time limit for the cancelled tasks.
    static let tasks = Duration.seconds(1)
    /// The time limit for sending the vehicle's final state.
    static let finalState = Duration.seconds(3)
    /// The time limit for storing the updates in memory and closing the outbox.
    static let closing = Duration.seconds(3)
}
