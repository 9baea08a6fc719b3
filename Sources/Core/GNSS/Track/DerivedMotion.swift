import CMath
import TimeAndRandomness

/// A derivation of speed and course from positions, for receivers that don't report them correctly. It processes one
/// fix at a time, in bounded memory.
///
/// Both values are computed from the shortest path to the fix that can't be due to position errors. Such a path is
/// longer than the distance up to which two fixes count as the same place. Its newer half must also have about the
/// speed and direction of the whole path. Without such a path, there is no course. A speed is still derived if the
/// positions cover enough time to show that the vehicle is at most creeping. After a gap or a jump, the derivation
/// starts again.
package struct DerivedMotion: Sendable {
    /// The minimum duration of a path. In less time, the vehicle moves by less than the rounding error of positions.
    private static let minimumPathDuration = Duration.seconds(1)
    /// The maximum duration of a path. Earlier positions say nothing about the current motion.
    private static let maximumPathDuration = Duration.seconds(15)
    /// The minimum time between two fixes that are kept, so that a few fixes cover enough time even at 20 Hz.
    private static let minimumFixSpacing = Duration.milliseconds(450)
    /// The distance up to which two fixes count as the same place, as a multiple of the sum of their 68 % radii. 99 of
    /// 100 pairs of fixes from the same place are closer.
    private static let samePlaceFactor = 1.5
    /// The minimum number of earlier fixes with which the newest fix must agree (`isJump`). If a single earlier fix
    /// disagreed, it would be unclear which of the two fixes is wrong.
    private static let minimumFixes = 2
    /// The minimum speed of a path's newer half, measured in the path's direction, as a fraction of the path's mean
    /// speed. If the newer half is slower, the vehicle is stopping or turning.
    private static let minimumSpeedRatio = 0.7
    /// The accuracy radius in metres that is assumed for a fix without a reported radius.
    private static let defaultRadius = 10.0
    /// The minimum accuracy radius in metres, because receivers round to metres.
    private static let minimumRadius = 1.0

    /// The previous fixes, oldest first.
    private var track: [Fix] = []
    private var statedMotion = StatedMotion()
    private var continuity = TrackContinuity()

    package init() {}

    /// Adds `fix` to the track. Returns the fix with derived values if reported values are missing or wrong.
    package mutating func complete(_ fix: Fix) -> Fix {
        if case .onward = continuity.step(to: fix), !isJump(to: fix) {} else { track.removeAll(keepingCapacity: true) }
        let young =
            track.firstIndex { $0.timeOfFix.duration(to: fix.timeOfFix) <= Self.maximumPathDuration } ?? track.endIndex
        track.removeSubrange(..<max(0, min(young, track.count - Self.minimumFixes)))
        defer {
            if track.last.map({ $0.timeOfFix.duration(to: fix.timeOfFix) >= Self.minimumFixSpacing }) ?? true {
                track.append(fix)
            }
        }
        // If a receiver reports a speed below `movingSpeed` but no course, there is no course to derive.
        let needsHeading =
            fix.headingDegrees == nil && fix.speedMetersPerSecond.map { $0 >= Motion.movingSpeed } ?? true
        guard fix.speedMetersPerSecond == nil || needsHeading || statedMotion.checkContradiction(by: fix, after: track)
        else {
            return fix
        }
        let scatterRadius = Self.scatterRadius(of: track + [fix]) ?? 0
        let motion = motion(to: fix, scatterRadius: scatterRadius)
        let recent = track.filter { $0.seconds(to: fix) <= Self.maximumPathDuration / .seconds(1) } + [fix]
        let startRadius = Self.accuracyRadius(of: recent[0], scatterRadius: scatterRadius)
        let endRadius = Self.accuracyRadius(of: fix, scatterRadius: scatterRadius)
        statedMotion.comparePath(
            of: recent, errors: startRadius + endRadius, scatterRadius: scatterRadius, course: motion?.heading)
        var fix = fix
        if fix.speedMetersPerSecond == nil || statedMotion.isWrong { fix.derived.speedMetersPerSecond = motion?.speed }
        if needsHeading || statedMotion.isWrong { fix.derived.headingDegrees = motion?.heading }
        return fix
    }

    /// Whether the speeds and courses that the receiver reports contradict the track. If so, derived values are used
    /// instead.
    package var contradictsReportedMotion: Bool { statedMotion.isWrong }

    /// Whether reaching `fix` requires an impossible change of velocity. Small jumps of the position would otherwise
    /// look like motion.
    private func isJump(to fix: Fix) -> Bool {
        guard let last = track.lastIndex(where: { $0.timeOfFix.duration(to: fix.timeOfFix) >= Self.minimumFixSpacing }),
            last > 0
        else { return false }
        let seconds = track[last].seconds(to: fix)
        let change = Self.deviation(of: fix, after: track[last - 1], track[last]).meters / seconds
        return !Fix.canVelocityChange(by: change, in: seconds)
    }

    /// Returns the displacement of `fix` from the place that the vehicle would have reached by keeping its velocity
    /// between `first` and `second`.
    private static func deviation(of fix: Fix, after first: Fix, _ second: Fix) -> Displacement {
        let before = first.displacement(to: second)
        let after = second.displacement(to: fix)
        let ratio = second.seconds(to: fix) / first.seconds(to: second)
        return Displacement(east: after.east - before.east * ratio, north: after.north - before.north * ratio)
    }

    /// Returns the larger of the fix's accuracy radius and `scatterRadius`, but at least `minimumRadius`.
    private static func accuracyRadius(of fix: Fix, scatterRadius: Double) -> Double {
        max(fix.horizontalAccuracyMeters ?? defaultRadius, scatterRadius, minimumRadius)
    }

    /// Returns the speed in metres per second and the course in degrees; `nil` if the track doesn't show them.
    private func motion(to fix: Fix, scatterRadius: Double) -> (speed: Double, heading: Double?)? {
        guard track.count >= Self.minimumFixes else { return nil }
        var standing: Double?
        for index in track.indices.reversed() {
            let start = track[index]
            let seconds = start.seconds(to: fix)
            guard seconds >= Self.minimumPathDuration / .seconds(1) else { continue }
            guard seconds <= Self.maximumPathDuration / .seconds(1) else { break }
            let displacement = start.displacement(to: fix)
            let errors =
                Self.accuracyRadius(of: start, scatterRadius: scatterRadius)
                + Self.accuracyRadius(of: fix, scatterRadius: scatterRadius)
            if displacement.meters >= errors * Self.samePlaceFactor {
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
        return along / track[middle].seconds(to: fix) >= Self.minimumSpeedRatio * displacement.meters / (half * 2)
    }

    /// The 68 % radius of the latest positions, estimated from their scatter; `nil` if there are too few positions.
    package var scatterRadius: Double? { Self.scatterRadius(of: track).map { max($0, Self.minimumRadius) } }

    /// Returns the 68 % radius of positions, estimated from their scatter; `nil` if there are fewer than five. The
    /// result may exceed the reported radius.
    private static func scatterRadius(of fixes: [Fix]) -> Double? {
        guard fixes.count >= 5 else { return nil }
        let deviations = fixes.indices.dropFirst(2).map {
            deviation(of: fixes[$0], after: fixes[$0 - 2], fixes[$0 - 1]).meters
        }.sorted()
        return deviations[deviations.count / 2] / 2  // for independent errors, the median is about twice the radius
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
