package import TimeAndChance

/// The motion of a vehicle at the time of a fix, as `MotionClassifier` decides.
///
/// Speeds are in metres per second. The stated speed of a parked vehicle varies up to `creepingSpeed`. Each decision
/// begins and ends at different speeds, so that noise doesn't switch it.
package struct Motion: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case moving
        /// Too slow for its course to be trusted, but not standing.
        case creeping
        case standing
        /// Standing in one place for `parkingTime`.
        case parked
    }

    package let kind: Kind
    /// The place at which it is parked; `nil` if it isn't.
    package let place: Fix?

    package var isParked: Bool { kind == .parked }

    /// A vehicle below this speed stands, and its course is noise.
    package static let standingSpeed = 0.5
    /// A vehicle at this speed certainly doesn't stand. A trusted course remains trusted down to it.
    package static let creepingSpeed = 1.0
    /// A vehicle at this speed moves, even if it was parked, and its course is trusted.
    package static let movingSpeed = 1.5

    /// The minimum time in one place for a vehicle to be parked or stopped: longer than most traffic lights.
    package static let parkingTime = Duration.seconds(60)
    /// How long a standing vehicle may seem to move.
    static let maximumInterruption = Duration.seconds(30)
}

/// Decides fix by fix whether a vehicle stands, creeps or moves, and since when and where it stands. Everything that
/// depends on motion uses this decision, so that all parts agree.
///
/// A vehicle stands from the first slow fix on. It moves off with the first fix that is too fast, or that is outside
/// the circle of a standing vehicle's fixes, whatever speed it states. If it stands in the same place again soon after,
/// it never left. A parked vehicle has a place: deviations within the fixes' accuracy, if they don't last, are drift,
/// and neither motion nor track.
package struct MotionClassifier: Sendable {
    /// The minimum distance in metres at which a vehicle that stands again has left its place.
    private static let samePlace = 5.0
    /// The minimum drift in metres that is tolerated.
    private static let minimumDrift = 15.0
    /// The error in metres of a fix that states none.
    private static let usualError = 25.0
    /// How far apart two fixes of one place may be, in sums of their 68 % radii: 99 of 100 are nearer.
    private static let spread = 1.5
    /// The radius in metres of the fixes of a standing vehicle; parked receivers wander up to 20 m.
    private static let standRadius = 25.0

    /// The minimum distance in metres within `creepTime` that is creeping and not drift, if no speeds are stated.
    private static let minimumCreep = 4.5
    /// The minimum of creeping if the stated speeds agree.
    private static let minimumStatedCreep = 2.5
    private static let creepTime = Duration.seconds(7)
    /// The minimum time between compared fixes, at any rate of fixes.
    private static let creepSpacing = Duration.milliseconds(900)
    /// The radius in metres of a fix that states neither radius nor speed.
    private static let usualRadius = 10.0

    /// A period of standing in one place.
    private struct Stand: Sendable {
        let origin: Fix
        /// Shorter after a parked vehicle has crept.
        var parksAfter = Motion.parkingTime
        var place: Fix?
        /// The first of the latest fixes that are all too far from `place` to be there, but near enough to be drift.
        var awaySince: UTCTime?
        /// The time from which on the vehicle seems to move.
        var interruptedAt: UTCTime?
        /// The fixes of the last `creepTime` whose speed isn't that of standing, oldest first.
        var unsettled: [Fix] = []

        func isParked(at time: UTCTime) -> Bool { origin.timeOfFix.duration(to: time) >= parksAfter }

        /// Adds a fix of the parked vehicle. Drift comes back, so a place from which all fixes stay away was wrong.
        mutating func add(_ fix: Fix) {
            guard let place, MotionClassifier.drifts(from: place, to: fix) else {
                self.place = fix
                awaySince = nil
                return
            }
            let reach =
                fix.speedMetersPerSecond == nil ? fix.horizontalAccuracyMeters ?? MotionClassifier.usualRadius : 0
            let isAway = place.distance(to: fix) > max(MotionClassifier.samePlace, reach)
            awaySince = isAway ? awaySince ?? fix.timeOfFix : nil
            if let awaySince, awaySince.duration(to: fix.timeOfFix) > Motion.maximumInterruption {
                self.place = fix
                self.awaySince = nil
            }
        }

        /// Adds a fix. Returns whether the vehicle has moved too far in the last seconds for drift; one wrong fix isn't
        /// enough.
        mutating func hasCrept(to fix: Fix) -> Bool {
            guard fix.speedMetersPerSecond.map({ $0 >= Motion.standingSpeed }) ?? true else {
                unsettled.removeAll(keepingCapacity: true)
                return false
            }
            unsettled.removeAll {
                !(Duration.zero...MotionClassifier.creepTime).contains($0.timeOfFix.duration(to: fix.timeOfFix))
            }
            let last = unsettled.last
            if last.map({ $0.timeOfFix.duration(to: fix.timeOfFix) >= MotionClassifier.creepSpacing }) ?? true {
                unsettled.append(fix)
            }
            guard let last, unsettled.count > 3 else { return false }
            let minimum =
                fix.speedMetersPerSecond == nil
                ? MotionClassifier.minimumCreep : MotionClassifier.minimumStatedCreep
            return unsettled.prefix(2).allSatisfy { min($0.distance(to: last), $0.distance(to: fix)) >= minimum }
        }
    }

    private var stand: Stand?
    private var isMoving = false

    package init() {}

    /// The time of the first fix at the present place; `nil` while the vehicle moves.
    package var standingSince: UTCTime? { stand.flatMap { $0.interruptedAt == nil ? $0.origin.timeOfFix : nil } }

    /// Returns the motion at the next fix; `nil` if neither speed nor place show it.
    package mutating func motion(at fix: Fix) -> Motion? {
        if let stand, Self.hasLeft(stand, fix) { self.stand = nil }
        if stand?.hasCrept(to: fix) ?? false, stand?.isParked(at: fix.timeOfFix) ?? false {
            stand = fix.speedMetersPerSecond == nil ? Stand(origin: fix, parksAfter: Motion.maximumInterruption) : nil
        }
        guard let speed = fix.knownSpeedMetersPerSecond else { return motionWithoutSpeed(at: fix) }
        updateStand(speed, fix)
        if let standing = standing(at: fix) { return standing }
        isMoving = speed >= (isMoving ? Motion.creepingSpeed : Motion.movingSpeed)
        return Motion(kind: isMoving ? .moving : .creeping, place: nil)
    }

    /// Begins, interrupts, resumes or continues a stand.
    private mutating func updateStand(_ speed: Double, _ fix: Fix) {
        guard let stand else {
            if speed < Motion.standingSpeed { self.stand = Stand(origin: fix) }
            return
        }
        if let interruptedAt = stand.interruptedAt {
            let place = stand.place ?? stand.origin
            let reach = max(Self.samePlace, fix.horizontalAccuracyMeters ?? 0)
            if interruptedAt.duration(to: fix.timeOfFix) > Motion.maximumInterruption {
                self.stand = speed < Motion.standingSpeed ? Stand(origin: fix) : nil
            } else if speed < Motion.standingSpeed {
                if place.distance(to: fix) > reach { self.stand = Stand(origin: fix) }
                self.stand?.interruptedAt = nil
            }
        } else if speed >= (stand.isParked(at: fix.timeOfFix) ? Motion.movingSpeed : Motion.creepingSpeed) {
            self.stand?.interruptedAt = fix.timeOfFix
        }
    }

    private mutating func standing(at fix: Fix) -> Motion? {
        guard var stand, stand.interruptedAt == nil else { return nil }
        isMoving = false
        guard stand.isParked(at: fix.timeOfFix) else { return Motion(kind: .standing, place: nil) }
        stand.add(fix)
        self.stand = stand
        return Motion(kind: .parked, place: stand.place)
    }

    /// Decides for a fix without stated or derived speed: the vehicle may be parked.
    private mutating func motionWithoutSpeed(at fix: Fix) -> Motion? {
        isMoving = false
        var known = stand ?? Stand(origin: fix)
        known.interruptedAt = nil
        let isParked = known.isParked(at: fix.timeOfFix)
        if isParked { known.add(fix) }
        stand = known
        return isParked ? Motion(kind: .parked, place: known.place) : nil
    }

    /// Whether the vehicle has left, whatever its speed: `fix` is outside the circle, or the clock was set back.
    private static func hasLeft(_ stand: Stand, _ fix: Fix) -> Bool {
        let reach = max(standRadius, 2 * (fix.horizontalAccuracyMeters ?? 0))
        return stand.origin.distance(to: fix) > reach || fix.timeOfFix < stand.origin.timeOfFix
    }

    /// Whether `fix` may be at `place`. A much more accurate fix replaces `place`: a receiver that has just started is
    /// inaccurate.
    private static func drifts(from place: Fix, to fix: Fix) -> Bool {
        if let worse = place.horizontalAccuracyMeters, let better = fix.horizontalAccuracyMeters, better < worse / 2 {
            return false
        }
        let errors =
            (place.horizontalAccuracyMeters ?? usualError) + (fix.horizontalAccuracyMeters ?? usualError)
        return place.distance(to: fix) <= max(minimumDrift, errors * spread)
    }
}
