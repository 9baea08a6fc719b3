import CMath
import TimeAndChance

/// Derives speed and course from positions, for receivers that don't report them. Works fix by fix, in bounded memory.
///
/// Both values are taken from the shortest path to the fix that position errors can't explain: the path is longer than
/// the maximum distance between two fixes of one place, and its newer half continues the older half. Without such a
/// path there is no course, and a speed only if the positions cover so much time that the vehicle is at most creeping.
/// After a gap or a jump, the derivation starts over.
package struct DerivedMotion: Sendable {
    /// The minimum time of a path. In less time, the path is shorter than the rounding of positions.
    private static let minimumTime = Duration.seconds(1)
    /// The maximum time of a path. Earlier positions say nothing about the present motion.
    private static let maximumTime = Duration.seconds(15)
    /// The minimum time between kept fixes, so that a few fixes cover enough time even at 20 Hz.
    private static let spacing = Duration.milliseconds(450)
    /// The maximum distance between two fixes of one place, as a multiple of the sum of their 68 % radii: 99 of 100 are
    /// closer.
    private static let spread = 1.5
    /// The number of earlier fixes that must agree with the newest (`isJump`), because one of two fixes may be wrong.
    private static let minimumFixes = 2
    /// The minimum speed of a path's newer half in the path's direction, as a fraction of the mean speed. A lower speed
    /// means that the vehicle is stopping or turning.
    private static let steadiness = 0.7
    /// The accuracy radius in metres that is assumed if a fix has none.
    private static let usualRadius = 10.0
    /// The minimum radius in metres: receivers round to metres.
    private static let minimumRadius = 1.0

    /// The previous fixes, oldest first.
    private var track: [Fix] = []
    private var stated = StatedMotion()
    private var continuity = TrackContinuity()

    package init() {}

    /// Continues the track to `fix`. Returns it with derived values in place of missing or wrong ones.
    package mutating func complete(_ fix: Fix) -> Fix {
        if case .onward = continuity.step(to: fix), !isJump(to: fix) {} else { track.removeAll(keepingCapacity: true) }
        let young = track.firstIndex { $0.timeOfFix.duration(to: fix.timeOfFix) <= Self.maximumTime } ?? track.endIndex
        track.removeSubrange(..<max(0, min(young, track.count - Self.minimumFixes)))
        defer {
            if track.last.map({ $0.timeOfFix.duration(to: fix.timeOfFix) >= Self.spacing }) ?? true {
                track.append(fix)
            }
        }
        // A receiver that reports a speed below `movingSpeed` omits the course because there is none.
        let needsHeading =
            fix.headingDegrees == nil && fix.speedMetersPerSecond.map { $0 >= Motion.movingSpeed } ?? true
        guard fix.speedMetersPerSecond == nil || needsHeading || stated.checkContradiction(by: fix, after: track) else {
            return fix
        }
        let wander = Self.wander(of: track + [fix]) ?? 0
        let motion = motion(to: fix, wander: wander)
        let recent = track.filter { $0.seconds(to: fix) <= Self.maximumTime / .seconds(1) } + [fix]
        stated.compare(
            recent, errors: Self.radius(recent[0], wander) + Self.radius(fix, wander), wander: wander,
            course: motion?.heading)
        var fix = fix
        if fix.speedMetersPerSecond == nil || stated.isWrong { fix.derived.speedMetersPerSecond = motion?.speed }
        if needsHeading || stated.isWrong { fix.derived.headingDegrees = motion?.heading }
        return fix
    }

    /// Whether the track contradicts the speeds and courses that the receiver reports. If so, they aren't used.
    package var contradictsStated: Bool { stated.isWrong }

    /// Whether the path to `fix` requires an impossible change of velocity. Small jumps of a position look like speed.
    private func isJump(to fix: Fix) -> Bool {
        guard let last = track.lastIndex(where: { $0.timeOfFix.duration(to: fix.timeOfFix) >= Self.spacing }), last > 0
        else { return false }
        let seconds = track[last].seconds(to: fix)
        let change = Self.bend(track[last - 1], track[last], fix).meters / seconds
        return !Fix.canChange(by: change, in: seconds)
    }

    /// Returns the displacement of `fix` from the place that is extrapolated from `first` and `second`.
    private static func bend(_ first: Fix, _ second: Fix, _ fix: Fix) -> Displacement {
        let before = first.displacement(to: second)
        let after = second.displacement(to: fix)
        let ratio = second.seconds(to: fix) / first.seconds(to: second)
        return Displacement(east: after.east - before.east * ratio, north: after.north - before.north * ratio)
    }

    /// Returns the larger of the reported radius and `wander`.
    private static func radius(_ fix: Fix, _ wander: Double) -> Double {
        max(fix.horizontalAccuracyMeters ?? usualRadius, wander, minimumRadius)
    }

    /// Returns speed in metres per second and course in degrees; `nil` if the track doesn't show them.
    private func motion(to fix: Fix, wander: Double) -> (speed: Double, heading: Double?)? {
        guard track.count >= Self.minimumFixes else { return nil }
        var standing: Double?
        for index in track.indices.reversed() {
            let start = track[index]
            let seconds = start.seconds(to: fix)
            guard seconds >= Self.minimumTime / .seconds(1) else { continue }
            guard seconds <= Self.maximumTime / .seconds(1) else { break }
            let displacement = start.displacement(to: fix)
            let errors = Self.radius(start, wander) + Self.radius(fix, wander)
            if displacement.meters >= errors * Self.spread {
                return isSteady(displacement, from: index, to: fix)
                    ? (displacement.meters / seconds, displacement.degrees) : standing.map { ($0, nil) }
            }
            if standing == nil, displacement.meters <= errors, errors / seconds <= Motion.creepingSpeed {
                standing = displacement.meters / seconds
            }
        }
        return standing.map { ($0, nil) }
    }

    /// Whether the newer half of the path from the fix at `index` has the speed and course of the whole path.
    private func isSteady(_ displacement: Displacement, from index: Int, to fix: Fix) -> Bool {
        let half = track[index].seconds(to: fix) / 2
        let between = track.indices[(index + 1)...]
        func distanceToHalf(_ index: Int) -> Double { abs(track[index].seconds(to: fix) - half) }
        guard let middle = between.min(by: { distanceToHalf($0) < distanceToHalf($1) }) else { return true }
        let newer = track[middle].displacement(to: fix)
        let along = (newer.east * displacement.east + newer.north * displacement.north) / displacement.meters
        return along / track[middle].seconds(to: fix) >= Self.steadiness * displacement.meters / (half * 2)
    }

    /// The 68 % radius of the last positions, estimated from their scatter; `nil` if there are too few positions.
    package var scatterRadius: Double? { Self.wander(of: track).map { max($0, Self.minimumRadius) } }

    /// Returns the 68 % radius estimated from the scatter of positions, which may exceed the reported radius.
    private static func wander(of fixes: [Fix]) -> Double? {
        guard fixes.count >= 5 else { return nil }
        let bends = fixes.indices.dropFirst(2).map { bend(fixes[$0 - 2], fixes[$0 - 1], fixes[$0]).meters }.sorted()
        return bends[bends.count / 2] / 2  // if errors are independent, the median is about twice their radius
    }
}

/// The displacement from one place to another on a plane, in metres.
struct Displacement {
    let east: Double
    let north: Double

    var meters: Double { (east * east + north * north).squareRoot() }

    /// The direction in degrees from true north, 0..<360, rounded to thousandths.
    var degrees: Double {
        let degrees = (cmath_atan2(east, north) * 180_000 / .pi).rounded() / 1000
        return degrees < 0 ? degrees + 360 : degrees
    }
}
