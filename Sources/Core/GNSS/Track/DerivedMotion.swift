import CMath
import TimeAndChance

/// Derives speed and course from positions, for receivers that don't report them correctly. It processes one fix at a
/// time, in bounded memory.
///
/// Both values are computed from the shortest path to the fix that can't be due to position errors. Such a path is
/// longer than the maximum distance between two fixes of one place. Its newer half must also have about the speed and
/// direction of the whole path. Without such a path, there is no course. A speed is derived even so if the positions
/// cover enough time to show that the vehicle is at most creeping. After a gap or a jump, the derivation starts again.
package struct DerivedMotion: Sendable {
    /// The minimum duration of a path. In less time, the vehicle moves by less than the rounding error of positions.
    private static let minimumTime = Duration.seconds(1)
    /// The maximum duration of a path. Earlier positions say nothing about the present motion.
    private static let maximumTime = Duration.seconds(15)
    /// The minimum time between two fixes that are kept, so that a few fixes cover enough time even at 20 Hz.
    private static let spacing = Duration.milliseconds(450)
    /// The maximum distance between two fixes of one place, as a multiple of the sum of their 68 % radii. 99 of 100
    /// such pairs are closer.
    private static let spread = 1.5
    /// The minimum number of earlier fixes with which the newest fix must agree (`isJump`). With only one, it would be
    /// unclear which of the two fixes is wrong.
    private static let minimumFixes = 2
    /// The minimum speed of a path's newer half, measured in the path's direction, as a fraction of the path's mean
    /// speed. If the newer half is slower, the vehicle is stopping or turning.
    private static let steadiness = 0.7
    /// The accuracy radius in metres that is assumed for a fix without one.
    private static let usualRadius = 10.0
    /// The minimum accuracy radius in metres, because receivers round to metres.
    private static let minimumRadius = 1.0

    /// The previous fixes, oldest first.
    private var track: [Fix] = []
    private var stated = StatedMotion()
    private var continuity = TrackContinuity()

    package init() {}

    /// Adds `fix` to the track. Returns the fix with derived values if reported values are missing or wrong.
    package mutating func complete(_ fix: Fix) -> Fix {
        if case .onward = continuity.step(to: fix), !isJump(to: fix) {} else { track.removeAll(keepingCapacity: true) }
        let young = track.firstIndex { $0.timeOfFix.duration(to: fix.timeOfFix) <= Self.maximumTime } ?? track.endIndex
        track.removeSubrange(..<max(0, min(young, track.count - Self.minimumFixes)))
        defer {
            if track.last.map({ $0.timeOfFix.duration(to: fix.timeOfFix) >= Self.spacing }) ?? true {
                track.append(fix)
            }
        }
        // If a receiver reports a speed below `movingSpeed` but no course, there is no course to derive.
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

    /// Whether the speeds and courses that the receiver reports contradict the track. If so, derived values are used
    /// instead.
    package var contradictsStated: Bool { stated.isWrong }

    /// Whether reaching `fix` requires an impossible change of velocity. This finds small jumps of the position, which
    /// would otherwise look like motion.
    private func isJump(to fix: Fix) -> Bool {
        guard let last = track.lastIndex(where: { $0.timeOfFix.duration(to: fix.timeOfFix) >= Self.spacing }), last > 0
        else { return false }
        let seconds = track[last].seconds(to: fix)
        let change = Self.bend(track[last - 1], track[last], fix).meters / seconds
        return !Fix.canVelocityChange(by: change, in: seconds)
    }

    /// Returns the displacement of `fix` from the place that the vehicle would have reached by keeping its velocity
    /// between `first` and `second`.
    private static func bend(_ first: Fix, _ second: Fix, _ fix: Fix) -> Displacement {
        let before = first.displacement(to: second)
        let after = second.displacement(to: fix)
        let ratio = second.seconds(to: fix) / first.seconds(to: second)
        return Displacement(east: after.east - before.east * ratio, north: after.north - before.north * ratio)
    }

    /// Returns the larger of the fix's accuracy radius and `wander`, but at least `minimumRadius`.
    private static func radius(_ fix: Fix, _ wander: Double) -> Double {
        max(fix.horizontalAccuracyMeters ?? usualRadius, wander, minimumRadius)
    }

    /// Returns the speed in metres per second and the course in degrees; `nil` if the track doesn't show them.
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

    /// Whether the newer half of a path has about the speed and course of the whole path. The path begins at the fix at
    /// `index`.
    private func isSteady(_ displacement: Displacement, from index: Int, to fix: Fix) -> Bool {
        let half = track[index].seconds(to: fix) / 2
        let between = track.indices[(index + 1)...]
        func distanceToHalf(_ index: Int) -> Double { abs(track[index].seconds(to: fix) - half) }
        guard let middle = between.min(by: { distanceToHalf($0) < distanceToHalf($1) }) else { return true }
        let newer = track[middle].displacement(to: fix)
        let along = (newer.east * displacement.east + newer.north * displacement.north) / displacement.meters
        return along / track[middle].seconds(to: fix) >= Self.steadiness * displacement.meters / (half * 2)
    }

    /// The 68 % radius of the latest positions, estimated from their scatter; `nil` if there are too few positions.
    package var scatterRadius: Double? { Self.wander(of: track).map { max($0, Self.minimumRadius) } }

    /// Returns the 68 % radius of positions, estimated from their scatter; `nil` if there are fewer than five. It may
    /// exceed the reported radius.
    private static func wander(of fixes: [Fix]) -> Double? {
        guard fixes.count >= 5 else { return nil }
        let bends = fixes.indices.dropFirst(2).map { bend(fixes[$0 - 2], fixes[$0 - 1], fixes[$0]).meters }.sorted()
        return bends[bends.count / 2] / 2  // for independent errors, the median is about twice the radius
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
