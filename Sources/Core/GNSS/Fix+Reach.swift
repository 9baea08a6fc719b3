extension Fix {
    /// No vehicle is faster, in metres per second (360 km/h).
    private static let fastestSpeed = 100.0
    /// What a receiver may be off at any time, in metres, when it does not say.
    private static let usualError = 50.0

    /// Whether a vehicle can have come here from `previous` in the time between, errors of both positions allowed for.
    package func isWithinReach(of previous: Fix) -> Bool {
        let seconds = previous.timeOfFix.duration(to: timeOfFix) / .seconds(1)
        let error =
            (previous.horizontalAccuracyMeters ?? Self.usualError) + (horizontalAccuracyMeters ?? Self.usualError)
        return previous.distance(to: self) <= seconds * Self.fastestSpeed + max(Self.usualError, error * 2)
    }
}
