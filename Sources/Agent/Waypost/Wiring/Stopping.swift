/// How long a stop waits for what may hang, so that it ends within the 10 s that the service manager allows.
enum Stopping {
    /// For everything that was cancelled.
    static let patience = Duration.seconds(1)
    /// For the vehicle's last state.
    static let longestFarewell = Duration.seconds(3)
    /// For the disk to take what is still in memory.
    static let longestClosing = Duration.seconds(3)
}
