extension Fix {
    /// No vehicle is faster, in metres per second (252 km/h).
    private static let fastestSpeed = 70.0
    /// No vehicle brakes or accelerates harder, in metres per second squared.
    private static let hardestAcceleration = 10.0
    /// What a stated speed may be off, in metres per second.
    private static let speedError = 5.0
    /// What a receiver may be off at any time, in metres: when it does not say, and whatever it says.
    private static let usualError = 50.0
    private static let leastError = 25.0

    /// Whether a vehicle can have come here from `previous` in the time between, at the speeds that both state, errors
    /// of both positions allowed for.
    package func isWithinReach(of previous: Fix) -> Bool {
        let seconds = previous.timeOfFix.duration(to: timeOfFix) / .seconds(1)
        let error =
            (previous.horizontalAccuracyMeters ?? Self.usualError) + (horizontalAccuracyMeters ?? Self.usualError)
        var reach = seconds * Self.fastestSpeed
        if let before = previous.speedMetersPerSecond, let after = speedMetersPerSecond {
            let fastest = max(before, after) + Self.speedError + seconds * Self.hardestAcceleration / 2
            reach = min(reach, seconds * fastest)
        }
        return previous.distance(to: self) <= reach + max(Self.leastError, error * 2)
    }

    /// The acceleration since `previous` in metres per second squared, where it is one that no vehicle has.
    package func impossibleAcceleration(since previous: Fix) -> Double? {
        guard let before = previous.speedMetersPerSecond, let after = speedMetersPerSecond else { return nil }
        let seconds = previous.timeOfFix.duration(to: timeOfFix) / .seconds(1)
        let change = abs(after - before)
        return change > seconds * Self.hardestAcceleration + Self.speedError ? change / seconds : nil
    }
}
