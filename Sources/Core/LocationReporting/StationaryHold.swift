import GNSS

/// Keeps a standing vehicle in one place: its fixes wander by metres, and would draw a star on the map.
///
/// After a few seconds at standstill every fix repeats the place at which the vehicle came to rest, until it moves off
/// or the fixes leave the circle that their accuracy allows. A fix without a speed is passed on as it is.
struct StationaryHold: Sendable {
    /// Metres a second below which a vehicle stands, and from which it certainly drives.
    static let standingSpeed = 0.3
    static let drivingSpeed = 1.0
    /// How long it stands before its place is held.
    static let settlingTime = Duration.seconds(5)
    /// The least that a position may wander, in metres, and what counts as its error when none is stated.
    static let leastReach = 15.0
    static let usualError = 25.0
    /// How far two fixes of one place may be apart, in sums of their 68 % radii: 99 of 100 are nearer.
    static let spread = 1.5

    private var standingSince: UTCTime?
    private var place: Fix?

    init() {}

    /// `fix` at the place held, or as it is.
    mutating func held(_ fix: Fix) -> Fix {
        guard let speed = fix.speedMetersPerSecond, speed < Self.drivingSpeed, !hasLeft(fix) else {
            (standingSince, place) = (nil, nil)
            return fix
        }
        if let place { return at(place, fix) }
        guard speed < Self.standingSpeed else {
            standingSince = nil
            return fix
        }
        let since = standingSince ?? fix.timeOfFix
        standingSince = since
        if since.duration(to: fix.timeOfFix) >= Self.settlingTime { place = fix }
        return fix
    }

    private func hasLeft(_ fix: Fix) -> Bool {
        if let standingSince, fix.timeOfFix < standingSince { return true }
        guard let place else { return false }
        let errors =
            (place.horizontalAccuracyMeters ?? Self.usualError) + (fix.horizontalAccuracyMeters ?? Self.usualError)
        return place.distance(to: fix) > max(Self.leastReach, errors * Self.spread)
    }

    /// A place that turns out much better than the one held takes its place: a receiver that has just started errs.
    private mutating func at(_ place: Fix, _ fix: Fix) -> Fix {
        if let worse = place.horizontalAccuracyMeters, let better = fix.horizontalAccuracyMeters, better < worse / 2 {
            self.place = fix
            return fix
        }
        var held = place
        held.timeOfFix = fix.timeOfFix
        held.speedMetersPerSecond = 0
        held.headingDegrees = nil
        held.bodyHeadingDegrees = fix.bodyHeadingDegrees
        held.quality = fix.quality
        return held
    }
}
