package import TimeAndRandomness

/// The motion of a vehicle at the time of a fix, as decided by `MotionClassifier`.
///
/// Speeds are in metres per second. The reported speed of a parked vehicle varies up to `creepingSpeed`. Each state
/// begins and ends at different speeds, so that noise doesn't toggle the state.
package struct Motion: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case moving
        /// The vehicle isn't standing, but its speed is too low for its course to be trusted.
        case creeping
        case standing
        /// The vehicle has been standing in one place for at least `parkingTime`.
        case parked
    }

    package let kind: Kind
    /// The place where the vehicle is parked; `nil` if it isn't parked.
    package let place: Fix?

    package var isParked: Bool { kind == .parked }

    /// The speed below which a vehicle is standing. Its course is only noise at such a speed.
    package static let standingSpeed = 0.5
    /// The minimum speed at which a vehicle certainly isn't standing. A course that is already trusted remains trusted
    /// down to this speed.
    package static let creepingSpeed = 1.0
    /// The minimum speed at which a vehicle is moving and its course is trusted, even if the vehicle was parked before.
    package static let movingSpeed = 1.5

    /// The minimum time in one place after which a vehicle is parked or has made a stop. It is longer than most waits
    /// at traffic lights.
    package static let parkingTime = Duration.seconds(60)
    /// The maximum time for which a standing vehicle may seem to move without having left.
    static let maximumInterruption = Duration.seconds(30)
}

/// A classifier that decides for each fix whether the vehicle is standing, creeping or moving. It also determines where
/// the vehicle stands, and since when. All other code that depends on motion uses this classifier, so that all results
/// agree.
///
/// A vehicle stands from its first slow fix until a fix is too fast, or lies outside the circle that contains the
/// vehicle's fixes since it stopped. If it soon stands in the same place again, the interruption is ignored. The place
/// of a parked vehicle doesn't change. Brief deviations within the accuracy of the fixes are drift, which is neither
/// motion nor part of the track.
package struct MotionClassifier: Sendable {
    /// The distance in metres beyond which a vehicle that stops again is in a new place.
    private static let samePlaceRadius = 5.0
    /// The drift in metres that is tolerated even if the fixes are more accurate.
    private static let minimumDrift = 15.0
    /// The position error in metres that is assumed for a fix without an accuracy radius.
    private static let defaultPositionError = 25.0
    /// The distance up to which two fixes count as the same place, as a multiple of the sum of their 68 % radii. 99 of
    /// 100 pairs of fixes from the same place are closer.
    private static let samePlaceFactor = 1.5
    /// The radius in metres of the circle that contains a standing vehicle's fixes. The positions of parked receivers
    /// wander by up to 20 m.
    private static let standRadius = 25.0

    /// The minimum distance in metres within `creepTime` that means creeping rather than drift, if no speeds are
    /// reported.
    private static let minimumCreepDistance = 4.5
    /// The minimum distance in metres within `creepTime` that means creeping rather than drift, if the reported speeds
    /// confirm it.
    private static let minimumConfirmedCreepDistance = 2.5
    private static let creepTime = Duration.seconds(7)
    /// The minimum time between two fixes that are compared, however often fixes arrive.
    private static let creepSpacing = Duration.milliseconds(900)
    /// The accuracy radius in metres that is assumed for a fix with neither an accuracy radius nor a speed.
    private static let defaultRadius = 10.0

    /// A period in which the vehicle stands in one place.
    private struct Standstill: Sendable {
        let origin: Fix
        /// The time in one place after which the vehicle is parked. It is shorter if the vehicle was already parked and
        /// has only crept since.
        var timeUntilParked = Motion.parkingTime
        var place: Fix?
        /// The time of the first in a series of fixes that are too far from `place` for the vehicle to be there, but
        /// near enough to be drift; `nil` if the last fix was near `place`.
        var awaySince: UTCTime?
        /// The time from which the vehicle has seemed to move; `nil` if it seems to stand.
        var interruptedAt: UTCTime?
        /// The fixes of the last `creepTime` that aren't slow enough for a standing vehicle, oldest first.
        var unsettledFixes: [Fix] = []

        func isParked(at time: UTCTime) -> Bool { origin.timeOfFix.duration(to: time) >= timeUntilParked }

        /// Adds a fix of the parked vehicle, and corrects `place` if it was wrong. Drift returns to the true place. If
        /// no fix returns to `place`, `place` was wrong.
        mutating func addParkedFix(_ fix: Fix) {
            guard let place, MotionClassifier.isDrift(from: place, to: fix) else {
                self.place = fix
                awaySince = nil
                return
            }
            let reach =
                fix.speedMetersPerSecond == nil ? fix.horizontalAccuracyMeters ?? MotionClassifier.defaultRadius : 0
            let isAway = place.distance(to: fix) > max(MotionClassifier.samePlaceRadius, reach)
            awaySince = isAway ? awaySince ?? fix.timeOfFix : nil
            if let awaySince, awaySince.duration(to: fix.timeOfFix) > Motion.maximumInterruption {
                self.place = fix
                self.awaySince = nil
            }
        }

        /// Adds a fix. Returns whether the vehicle has moved so far within `creepTime` that the movement can't be
        /// drift. A single wrong fix isn't enough.
        mutating func detectCreep(to fix: Fix) -> Bool {
            guard fix.speedMetersPerSecond.map({ $0 >= Motion.standingSpeed }) ?? true else {
                unsettledFixes.removeAll(keepingCapacity: true)
                return false
            }
            unsettledFixes.removeAll {
                !(Duration.zero...MotionClassifier.creepTime).contains($0.timeOfFix.duration(to: fix.timeOfFix))
            }
            let last = unsettledFixes.last
            if last.map({ $0.timeOfFix.duration(to: fix.timeOfFix) >= MotionClassifier.creepSpacing }) ?? true {
                unsettledFixes.append(fix)
            }
            guard let last, unsettledFixes.count > 3 else { return false }
            let minimum =
                fix.speedMetersPerSecond == nil
                ? MotionClassifier.minimumCreepDistance : MotionClassifier.minimumConfirmedCreepDistance
            return unsettledFixes.prefix(2).allSatisfy { min($0.distance(to: last), $0.distance(to: fix)) >= minimum }
        }
    }

    private var standstill: Standstill?
    private var isMoving = false

    package init() {}

    /// The time at which the vehicle began to stand in its current place; `nil` while it moves.
    package var standingSince: UTCTime? { standstill.flatMap { $0.interruptedAt == nil ? $0.origin.timeOfFix : nil } }

    /// Returns the motion at the next fix; `nil` if neither the speed nor the positions show it.
    package mutating func motion(at fix: Fix) -> Motion? {
        if let standstill, Self.hasLeft(standstill, at: fix) { self.standstill = nil }
        if standstill?.detectCreep(to: fix) ?? false, standstill?.isParked(at: fix.timeOfFix) ?? false {
            standstill =
                fix.speedMetersPerSecond == nil
                ? Standstill(origin: fix, timeUntilParked: Motion.maximumInterruption) : nil
        }
        guard let speed = fix.knownSpeedMetersPerSecond else { return motionWithoutSpeed(at: fix) }
        updateStand(at: fix, speed: speed)
        if let motion = standingMotion(at: fix) { return motion }
        isMoving = speed >= (isMoving ? Motion.creepingSpeed : Motion.movingSpeed)
        return Motion(kind: isMoving ? .moving : .creeping, place: nil)
    }

    /// Begins, interrupts, resumes or ends a standstill, depending on the speed at the next fix.
    private mutating func updateStand(at fix: Fix, speed: Double) {
        guard let standstill else {
            if speed < Motion.standingSpeed { self.standstill = Standstill(origin: fix) }
            return
        }
        if let interruptedAt = standstill.interruptedAt {
            let place = standstill.place ?? standstill.origin
            let reach = max(Self.samePlaceRadius, fix.horizontalAccuracyMeters ?? 0)
            if interruptedAt.duration(to: fix.timeOfFix) > Motion.maximumInterruption {
                self.standstill = speed < Motion.standingSpeed ? Standstill(origin: fix) : nil
            } else if speed < Motion.standingSpeed {
                if place.distance(to: fix) > reach { self.standstill = Standstill(origin: fix) }
                self.standstill?.interruptedAt = nil
            }
        } else if speed >= (standstill.isParked(at: fix.timeOfFix) ? Motion.movingSpeed : Motion.creepingSpeed) {
            self.standstill?.interruptedAt = fix.timeOfFix
        }
    }

    private mutating func standingMotion(at fix: Fix) -> Motion? {
        guard var standstill, standstill.interruptedAt == nil else { return nil }
        isMoving = false
        guard standstill.isParked(at: fix.timeOfFix) else { return Motion(kind: .standing, place: nil) }
        standstill.addParkedFix(fix)
        self.standstill = standstill
        return Motion(kind: .parked, place: standstill.place)
    }

    /// Returns the motion at a fix that has neither a reported nor a derived speed. Returns `nil` if the vehicle isn't
    /// parked, because only parking can be recognised without a speed.
    private mutating func motionWithoutSpeed(at fix: Fix) -> Motion? {
        isMoving = false
        var known = standstill ?? Standstill(origin: fix)
        known.interruptedAt = nil
        let isParked = known.isParked(at: fix.timeOfFix)
        if isParked { known.addParkedFix(fix) }
        standstill = known
        return isParked ? Motion(kind: .parked, place: known.place) : nil
    }

    /// Whether `fix` is outside the circle around the first fix of the standstill, so that the vehicle has left at any
    /// speed. The standstill also ends if the clock was set back.
    private static func hasLeft(_ standstill: Standstill, at fix: Fix) -> Bool {
        let reach = max(standRadius, 2 * (fix.horizontalAccuracyMeters ?? 0))
        return standstill.origin.distance(to: fix) > reach || fix.timeOfFix < standstill.origin.timeOfFix
    }

    /// Whether the distance between `place` and `fix` may be drift. If `fix` is much more accurate, it isn't drift,
    /// because a receiver that has just started is inaccurate.
    private static func isDrift(from place: Fix, to fix: Fix) -> Bool {
        if let worse = place.horizontalAccuracyMeters, let better = fix.horizontalAccuracyMeters, better < worse / 2 {
            return false
        }
        let errors =
            (place.horizontalAccuracyMeters ?? defaultPositionError)
            + (fix.horizontalAccuracyMeters ?? defaultPositionError)
        return place.distance(to: fix) <= max(minimumDrift, errors * samePlaceFactor)
    }
}
