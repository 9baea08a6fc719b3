import CMath
package import TimeAndRandomness

/// A position solution of a GNSS receiver, combined from the sentences of one epoch.
///
/// A value that the receiver didn't report is `nil`. Values that are computed from several fixes are in `derived`.
package struct Fix: Sendable, Hashable {
    /// The UTC time of the solution, from the receiver.
    package var timeOfFix: UTCTime
    /// The latitude in degrees, WGS 84, -90...90, north positive.
    package var latitude: Double
    /// The longitude in degrees, WGS 84, -180...180, east positive.
    package var longitude: Double
    /// The altitude above mean sea level, in metres.
    package var altitudeMeters: Double?
    /// The height of mean sea level above the WGS 84 ellipsoid, in metres.
    package var geoidSeparationMeters: Double?
    package var speedMetersPerSecond: Double?
    /// The course over ground in degrees from true north, 0..<360.
    package var headingDegrees: Double?
    package var derived = TrackMotion()
    /// The direction of the vehicle's front (HDT, THS) in degrees from true north, 0..<360. A compass or a second
    /// antenna measures it, so it is correct even at standstill. It may differ from the direction of travel.
    package var bodyHeadingDegrees: Double?
    /// The radius in metres of the circle that contains the true position with a probability of 68 %.
    package var horizontalAccuracyMeters: Double?
    package var hdop: Double?
    package var satellitesUsed: Int?
    package var quality: FixQuality
    package var mode: FixMode?

    package init(timeOfFix: UTCTime, latitude: Double, longitude: Double, quality: FixQuality = .gps) {
        self.timeOfFix = timeOfFix
        self.latitude = latitude
        self.longitude = longitude
        self.quality = quality
    }
}

/// The speed and course derived from the track (`DerivedMotion`), if the receiver doesn't report them correctly.
package struct TrackMotion: Sendable, Hashable {
    package var speedMetersPerSecond: Double?
    package var headingDegrees: Double?

    package init() {}
}

/// The number of decimals with which each value of a fix is written. Receivers don't send more decimals.
enum FixPrecision {
    /// The ninth decimal of a degree is a tenth of a millimetre. Receivers send minutes with at most eight decimals.
    static let degrees = 9
    static let meters = 3
    static let metersPerSecond = 4
    static let headingDegrees = 3
    static let dilution = 2
}

extension Fix {
    /// The length in metres of a degree of latitude, on the sphere that `distance(to:)` assumes.
    package static let metersPerDegree = 111_195.0

    /// Returns the distance to `other` in metres, on a sphere. For two fixes of a vehicle, it differs from the geodesic
    /// distance by at most 0.5 %.
    ///
    /// The equirectangular approximation is accurate enough up to a few hundred kilometres. Beyond that, it still grows
    /// with the true distance, which suffices to recognise an impossible distance.
    package func distance(to other: Fix) -> Double { displacement(to: other).meters }

    /// Returns the displacement to `other`, which is as precise as `distance(to:)`.
    func displacement(to other: Fix) -> Displacement {
        let east =
            Self.degreesEast(from: longitude, to: other.longitude)
            * cmath_cos((latitude + other.latitude) / 2 * .pi / 180)
        return Displacement(
            east: east * Self.metersPerDegree, north: (other.latitude - latitude) * Self.metersPerDegree)
    }

    /// Returns the difference in degrees between two longitudes, positive to the east. The difference is measured
    /// across the 180th meridian if that direction is shorter.
    static func degreesEast(from longitude: Double, to other: Double) -> Double {
        let east = other - longitude
        return east > 180 ? east - 360 : east < -180 ? east + 360 : east
    }

    /// The derived speed if there is one, otherwise the receiver's speed. A speed is derived only if the receiver's
    /// speed is missing or wrong.
    package var knownSpeedMetersPerSecond: Double? { derived.speedMetersPerSecond ?? speedMetersPerSecond }

    /// Returns the position at `time` if the vehicle keeps its speed and heading, extrapolated by at most a minute. If
    /// the speed or the heading is missing, the position doesn't change.
    package func extrapolated(to time: UTCTime) -> Fix {
        var later = self
        later.timeOfFix = time
        guard let speed = speedMetersPerSecond, let heading = headingDegrees else { return later }
        let meters = speed * min(max(timeOfFix.duration(to: time) / .seconds(1), 0), 60)
        let direction = heading * .pi / 180
        later.latitude += meters * cmath_cos(direction) / Self.metersPerDegree
        later.longitude +=
            meters * cmath_sin(direction) / (Self.metersPerDegree * max(cmath_cos(latitude * .pi / 180), 0.01))
        return later
    }

    /// Returns the position at `time`, assuming that the vehicle travels straight to `other` at constant speed.
    package func interpolated(to other: Fix, at time: UTCTime) -> Fix {
        var between = self
        between.timeOfFix = time
        guard timeOfFix < other.timeOfFix else { return between }
        let share = timeOfFix.duration(to: time) / timeOfFix.duration(to: other.timeOfFix)
        between.latitude += (other.latitude - latitude) * share
        between.longitude += Self.degreesEast(from: longitude, to: other.longitude) * share
        return between
    }

    /// Returns the time from this fix to `other` in seconds; negative if `other` is earlier.
    func seconds(to other: Fix) -> Double { timeOfFix.duration(to: other.timeOfFix) / .seconds(1) }
}

extension Fix {
    /// The speed in metres per second (252 km/h) that no vehicle is assumed to exceed. The exceptions are a higher
    /// speed that the receiver reports, and a speed on which three fixes agree.
    private static let maximumVehicleSpeed = 70.0
    /// The maximum speed at which civilian receivers work, in metres per second (1,000 knots).
    private static let maximumReceiverSpeed = 515.0
    /// The maximum time in seconds between two fixes from which a vehicle's speed is computed.
    private static let maximumStepSeconds = 60.0
    /// The maximum time in seconds for which a vehicle can accelerate or brake as hard as possible.
    private static let maximumAccelerationSeconds = 3.0
    /// The assumed difference between the position errors of two consecutive fixes, in metres.
    private static let stepPositionError = 10.0
    /// The maximum acceleration of a vehicle, in metres per second squared.
    private static let maximumAcceleration = 10.0
    /// The assumed error of a reported speed, in metres per second.
    private static let speedError = 5.0
    /// The position error in metres that is assumed if the receiver reports none.
    private static let defaultPositionError = 50.0
    /// The minimum tolerance in metres for the errors of two positions, whatever errors the receiver reports.
    private static let minimumPositionTolerance = 25.0

    /// Whether a vehicle can have travelled from `previous` to this fix in the time between them, given their speeds.
    /// Allows for the errors of both positions.
    package func isWithinReach(of previous: Fix) -> Bool {
        let seconds = previous.timeOfFix.duration(to: timeOfFix) / .seconds(1)
        let error =
            (previous.horizontalAccuracyMeters ?? Self.defaultPositionError)
            + (horizontalAccuracyMeters ?? Self.defaultPositionError)
        var reach = seconds * Self.maximumVehicleSpeed
        if let before = previous.speedMetersPerSecond, let after = speedMetersPerSecond {
            let stated = max(before, after) + Self.speedError
            let fastest = max(stated, Self.maximumVehicleSpeed)
            reach = seconds * min(stated + seconds * Self.maximumAcceleration / 2, fastest)
        }
        return previous.distance(to: self) <= reach + max(Self.minimumPositionTolerance, error * 2)
    }

    /// Whether a vehicle that travelled from `earlier` to `previous` can have continued to this fix. Unlike
    /// `isWithinReach(of:)`, this allows any speed at which civilian receivers work.
    package func canContinue(from earlier: Fix, via previous: Fix) -> Bool {
        let before = earlier.seconds(to: previous)
        let after = previous.seconds(to: self)
        guard before > 0, after > 0, max(before, after) <= Self.maximumStepSeconds else { return false }
        let first = earlier.displacement(to: previous)
        let second = previous.displacement(to: self)
        guard max(first.meters / before, second.meters / after) <= Self.maximumReceiverSpeed else { return false }
        let change = Displacement(
            east: second.east / after - first.east / before, north: second.north / after - first.north / before)
        let slack = Self.stepPositionError / min(before, after)
        return Self.canVelocityChange(by: change.meters - slack, in: min(after, Self.maximumAccelerationSeconds))
    }

    /// Returns this fix with missing values filled in from `measured`, which is an earlier fix. If the receiver reports
    /// no speed or wrong speeds, the speed is the maximum that the vehicle can have reached since `measured`. If the
    /// receiver reports no accuracy radius, the radius is that of `measured`.
    package func completed(from measured: Fix) -> Fix {
        var fix = self
        fix.horizontalAccuracyMeters = horizontalAccuracyMeters ?? measured.horizontalAccuracyMeters
        if fix.speedMetersPerSecond == nil || measured.derived.speedMetersPerSecond != nil {
            fix.speedMetersPerSecond = measured.knownSpeedMetersPerSecond.map {
                $0 + measured.seconds(to: fix) * Self.maximumAcceleration
            }
        }
        return fix
    }

    /// Returns the acceleration since `previous` in metres per second squared if no vehicle can accelerate so hard.
    /// Returns `nil` if the acceleration is possible, or if a speed is missing.
    package func impossibleAcceleration(since previous: Fix) -> Double? {
        guard let before = previous.speedMetersPerSecond, let after = speedMetersPerSecond else { return nil }
        let seconds = previous.timeOfFix.duration(to: timeOfFix) / .seconds(1)
        let change = abs(after - before)
        return Self.canVelocityChange(by: change, in: seconds) ? nil : change / seconds
    }

    /// Whether a vehicle's velocity can change by `change` metres per second within `seconds`.
    static func canVelocityChange(by change: Double, in seconds: Double) -> Bool {
        change <= seconds * maximumAcceleration + speedError
    }
}
