package import TimeAndChance

/// What a vehicle does at the time of a fix, as `MotionClassifier` says.
///
/// Speeds are in metres a second, as receivers state them: also of one that is parked they wander up to `creeping`.
/// Where one decision ends at another speed than it began at, they lie apart, so that noise does not switch it.
package struct Motion: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case moving
        /// Slower than its course over ground can be trusted, and not at a standstill.
        case creeping
        case standing
        /// Standing in one place for longer than at most traffic lights.
        case parked
    }

    package let kind: Kind
    /// Where it is parked; `nil` when it is not.
    package let place: Fix?

    package var isParked: Bool { kind == .parked }

    /// Below this a vehicle stands, and its course over ground is noise.
    package static let standingSpeed = 0.5
    /// From this on it certainly does not stand; a course that was accepted is accepted down to here.
    package static let creepingSpeed = 1.0
    /// From this on it moves, and its course is accepted; so does one that was parked.
    package static let movingSpeed = 1.5

    /// How long it stands in one place until it is parked, or has stopped: longer than most traffic lights.
    package static let parkingTime = Duration.seconds(60)
    /// For so long it may seem to move and still stand.
    static let longestInterruption = Duration.seconds(30)
}

/// Decides when a vehicle stands, creeps or moves, and since when and where it stands, fix by fix: whoever decides by
/// its motion asks here, so that all agree.
///
/// It stands from the first fix of standstill on, and moves off with the first that is too fast for one, or that lies
/// outside the circle in which the fixes of a standing vehicle lie, whatever their speed says. When it stands again in
/// the same place a moment later it has never left. Once it is parked it has a place: what its fixes differ from that,
/// as far as their accuracy allows and not for long, is drift, and neither motion nor track.
package struct MotionClassifier: Sendable {
    /// Metres from a vehicle's place to where it can stand again without having left, at least.
    private static let samePlace = 5.0
    /// Metres of drift at least, and what counts as the error of a fix that states none.
    private static let leastDrift = 15.0
    private static let usualError = 25.0
    /// How far two fixes of one place may be apart, in sums of their 68 % radii: 99 of 100 are nearer.
    private static let spread = 1.5
    /// Metres within which the fixes of one stand lie; parked receivers wander up to 20.
    private static let standRadius = 25.0

    /// Metres that a parked vehicle has crept, and not drifted, if it went them within `creepTime`: by its positions
    /// alone, and if its stated speeds agree.
    private static let leastCreep = 4.5
    private static let leastStatedCreep = 2.5
    private static let creepTime = Duration.seconds(7)
    /// Of the fixes that are compared, at whatever rate they come.
    private static let creepSpacing = Duration.milliseconds(900)
    /// The radius of a fix that states none, of a receiver that states no speed either.
    private static let usualRadius = 10.0

    /// One time of standing in one place.
    private struct Stand: Sendable {
        let origin: Fix
        /// Shorter for one that was parked and has crept since.
        var parksAfter = Motion.parkingTime
        var place: Fix?
        /// Since when each fix has been too far from `place` to be there, and near enough to be drift.
        var awaySince: UTCTime?
        /// Since when it seems to move.
        var interruptedAt: UTCTime?
        /// The fixes of the last `creepTime` whose speed doesn't say that it stands, oldest first.
        var unsettled: [Fix] = []

        func isParked(at time: UTCTime) -> Bool { origin.timeOfFix.duration(to: time) >= parksAfter }

        /// Takes a fix of the parked vehicle. Drift comes back: a place from which every fix stays away was wrong.
        mutating func see(_ fix: Fix) {
            guard let place, MotionClassifier.drifts(from: place, to: fix) else {
                self.place = fix
                awaySince = nil
                return
            }
            let reach =
                fix.speedMetersPerSecond == nil ? fix.horizontalAccuracyMeters ?? MotionClassifier.usualRadius : 0
            let isAway = place.distance(to: fix) > max(MotionClassifier.samePlace, reach)
            awaySince = isAway ? awaySince ?? fix.timeOfFix : nil
            if let awaySince, awaySince.duration(to: fix.timeOfFix) > Motion.longestInterruption {
                self.place = fix
                self.awaySince = nil
            }
        }

        /// Whether the vehicle has moved too far in the last seconds for drift. One wild fix is not enough.
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
            let least =
                fix.speedMetersPerSecond == nil
                ? MotionClassifier.leastCreep : MotionClassifier.leastStatedCreep
            return unsettled.prefix(2).allSatisfy { min($0.distance(to: last), $0.distance(to: fix)) >= least }
        }
    }

    private var stand: Stand?
    private var isMoving = false

    package init() {}

    /// Since when a fix was in this place that stood there, or whose speed is not stated; `nil` while it moves.
    package var standingSince: UTCTime? { stand.flatMap { $0.interruptedAt == nil ? $0.origin.timeOfFix : nil } }

    /// What the vehicle does at the next fix; `nil` when neither its speed nor its place tells.
    package mutating func motion(at fix: Fix) -> Motion? {
        if let stand, Self.hasLeft(stand, fix) { self.stand = nil }
        if stand?.hasCrept(to: fix) ?? false, stand?.isParked(at: fix.timeOfFix) ?? false {
            stand = fix.speedMetersPerSecond == nil ? Stand(origin: fix, parksAfter: Motion.longestInterruption) : nil
        }
        guard let speed = fix.knownSpeedMetersPerSecond else { return motionWithoutSpeed(at: fix) }
        judge(speed, fix)
        if let standing = standing(at: fix) { return standing }
        isMoving = speed >= (isMoving ? Motion.creepingSpeed : Motion.movingSpeed)
        return Motion(kind: isMoving ? .moving : .creeping, place: nil)
    }

    /// Begins, interrupts, resumes or goes on with a stand.
    private mutating func judge(_ speed: Double, _ fix: Fix) {
        guard let stand else {
            if speed < Motion.standingSpeed { self.stand = Stand(origin: fix) }
            return
        }
        if let interruptedAt = stand.interruptedAt {
            let place = stand.place ?? stand.origin
            let reach = max(Self.samePlace, fix.horizontalAccuracyMeters ?? 0)
            if interruptedAt.duration(to: fix.timeOfFix) > Motion.longestInterruption {
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
        stand.see(fix)
        self.stand = stand
        return Motion(kind: .parked, place: stand.place)
    }

    /// A receiver that states no speed, whose track does not show one either: it may be parked.
    private mutating func motionWithoutSpeed(at fix: Fix) -> Motion? {
        isMoving = false
        var known = stand ?? Stand(origin: fix)
        known.interruptedAt = nil
        let isParked = known.isParked(at: fix.timeOfFix)
        if isParked { known.see(fix) }
        stand = known
        return isParked ? Motion(kind: .parked, place: known.place) : nil
    }

    /// Whatever its speed says, outside this circle it has moved; so it has when its clock was set back.
    private static func hasLeft(_ stand: Stand, _ fix: Fix) -> Bool {
        let reach = max(standRadius, 2 * (fix.horizontalAccuracyMeters ?? 0))
        return stand.origin.distance(to: fix) > reach || fix.timeOfFix < stand.origin.timeOfFix
    }

    /// Whether `fix` may be at `place`. One that is much better takes its place: a receiver that has just started errs.
    private static func drifts(from place: Fix, to fix: Fix) -> Bool {
        if let worse = place.horizontalAccuracyMeters, let better = fix.horizontalAccuracyMeters, better < worse / 2 {
            return false
        }
        let errors =
            (place.horizontalAccuracyMeters ?? usualError) + (fix.horizontalAccuracyMeters ?? usualError)
        return place.distance(to: fix) <= max(leastDrift, errors * spread)
    }
}
