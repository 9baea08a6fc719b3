import CMath
package import TimeAndChance

/// One position solution of a GNSS receiver: everything that one epoch's sentences said, put together.
///
/// A field is absent when the receiver did not say it; an absent heading is not a heading of 0. What is derived from
/// other fixes stands in fields of its own.
package struct Fix: Sendable, Hashable {
    /// UTC of the solution, from the receiver.
    package var timeOfFix: UTCTime
    /// Degrees, WGS 84, -90...90, north positive.
    package var latitude: Double
    /// Degrees, WGS 84, -180...180, east positive.
    package var longitude: Double
    /// Metres above mean sea level.
    package var altitudeMeters: Double?
    /// Height of mean sea level above the WGS 84 ellipsoid, in metres.
    package var geoidSeparationMeters: Double?
    package var speedMetersPerSecond: Double?
    /// Course over ground in degrees from true north, 0..<360.
    package var headingDegrees: Double?
    package var derived = TrackMotion()
    /// Where the vehicle's front points (HDT, THS), in degrees from true north, 0..<360: from a compass or a second
    /// antenna, true at standstill too; says nothing about its way.
    package var bodyHeadingDegrees: Double?
    /// Radius of the 68 % circle in metres.
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

/// Speed and course by the track, if the receiver doesn't state them and the track shows them (`DerivedMotion`).
package struct TrackMotion: Sendable, Hashable {
    package var speedMetersPerSecond: Double?
    package var headingDegrees: Double?

    package init() {}
}

/// Decimals that written fixes keep: all that a receiver states, none that arithmetic invents.
enum FixPrecision {
    /// A tenth of a millimetre; receivers state minutes to eight decimals at most.
    static let degrees = 9
    static let meters = 3
    static let metersPerSecond = 4
    static let headingDegrees = 3
    static let dilution = 2
}

extension Fix {
    /// On the sphere of `distance`.
    static let metersPerDegree = 111_195.0

    /// Metres to `other` on a sphere; within 0.5 % of the geodesic at the distances between two fixes of a vehicle.
    ///
    /// An equirectangular approximation: exact enough below a few hundred kilometres, and monotonic beyond, where only
    /// "impossibly far" matters.
    package func distance(to other: Fix) -> Double { displacement(to: other).meters }

    /// The way to `other`, as exact.
    func displacement(to other: Fix) -> Displacement {
        var east = other.longitude - longitude
        if east > 180 { east -= 360 } else if east < -180 { east += 360 }
        east *= cmath_cos((latitude + other.latitude) / 2 * .pi / 180)
        return Displacement(
            east: east * Self.metersPerDegree, north: (other.latitude - latitude) * Self.metersPerDegree)
    }

    /// The speed that counts: if the track shows one, the receiver states none or a wrong one.
    package var knownSpeedMetersPerSecond: Double? { derived.speedMetersPerSecond ?? speedMetersPerSecond }

    /// Where the vehicle is at `time` if it drives on with its speed and heading, for a minute at most; at the same
    /// place where either is absent.
    package func drivenOn(to time: UTCTime) -> Fix {
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

    /// Where the vehicle is at `time` if it goes straight and evenly from here to `other`.
    package func onTheWay(to other: Fix, at time: UTCTime) -> Fix {
        var between = self
        between.timeOfFix = time
        guard timeOfFix < other.timeOfFix else { return between }
        let share = timeOfFix.duration(to: time) / timeOfFix.duration(to: other.timeOfFix)
        var east = other.longitude - longitude
        if east > 180 { east -= 360 } else if east < -180 { east += 360 }
        between.latitude += (other.latitude - latitude) * share
        between.longitude += east * share
        return between
    }

    /// From this time of fix to that of `other`.
    func seconds(to other: Fix) -> Double { timeOfFix.duration(to: other.timeOfFix) / .seconds(1) }
}

extension Fix {
    /// No vehicle is faster unless it states so or three fixes agree on it, in metres per second (252 km/h).
    private static let fastestSpeed = 70.0
    /// No receiver on sale works at a higher speed (1,000 knots).
    private static let receiverLimit = 515.0
    /// Seconds over which two fixes still show how fast a vehicle goes, and over which it speeds up or brakes at most.
    private static let longestStep = 60.0
    private static let longestChange = 3.0
    /// Metres by which the errors of two fixes in a row differ.
    private static let stepError = 10.0
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
            let stated = max(before, after) + Self.speedError
            reach = seconds * min(stated + seconds * Self.hardestAcceleration / 2, max(stated, Self.fastestSpeed))
        }
        return previous.distance(to: self) <= reach + max(Self.leastError, error * 2)
    }

    /// Whether a vehicle that went from `earlier` to `previous` can have gone on to here, however fast it is.
    package func continues(from earlier: Fix, by previous: Fix) -> Bool {
        let before = earlier.seconds(to: previous)
        let after = previous.seconds(to: self)
        guard before > 0, after > 0, max(before, after) <= Self.longestStep else { return false }
        let first = earlier.displacement(to: previous)
        let second = previous.displacement(to: self)
        guard max(first.meters / before, second.meters / after) <= Self.receiverLimit else { return false }
        let change = Displacement(
            east: second.east / after - first.east / before, north: second.north / after - first.north / before)
        let slack = Self.stepError / min(before, after)
        return Self.canChange(by: change.meters - slack, in: min(after, Self.longestChange))
    }

    /// This fix with the highest speed that it can have after `measured`, and with the radius of that fix, if it states
    /// none or its receiver states wrong speeds.
    package func completed(after measured: Fix) -> Fix {
        var fix = self
        fix.horizontalAccuracyMeters = horizontalAccuracyMeters ?? measured.horizontalAccuracyMeters
        if fix.speedMetersPerSecond == nil || measured.derived.speedMetersPerSecond != nil {
            fix.speedMetersPerSecond = measured.knownSpeedMetersPerSecond.map {
                $0 + measured.seconds(to: fix) * Self.hardestAcceleration
            }
        }
        return fix
    }

    /// The acceleration since `previous` in metres per second squared, where it is one that no vehicle has.
    package func impossibleAcceleration(since previous: Fix) -> Double? {
        guard let before = previous.speedMetersPerSecond, let after = speedMetersPerSecond else { return nil }
        let seconds = previous.timeOfFix.duration(to: timeOfFix) / .seconds(1)
        let change = abs(after - before)
        return Self.canChange(by: change, in: seconds) ? nil : change / seconds
    }

    /// Whether a vehicle's velocity can change by so many metres a second in that time.
    static func canChange(by change: Double, in seconds: Double) -> Bool {
        change <= seconds * hardestAcceleration + speedError
    }
}
