import CMath
import TimeAndChance

/// Speed and course of a vehicle by its positions alone, for receivers that do not state them; fix by fix, in bounded
/// memory.
///
/// Both are those of the shortest way to this fix that is no error of its positions: longer than what two fixes of one
/// place can be apart, and still going on in its newer half. Where there is no such way there is no course, and a speed
/// only if all of it could be error, for so long that the vehicle at most creeps. A gap or a jump begins anew.
package struct DerivedMotion: Sendable {
    /// In a shorter time a position's last digits count for more than the way.
    private static let shortestTime = Duration.seconds(1)
    /// Further back the vehicle was somewhere else in its journey.
    private static let longestTime = Duration.seconds(15)
    /// Places are kept no closer: at 20 Hz too a few of them reach as far back.
    private static let spacing = Duration.milliseconds(450)
    /// How far two fixes of one place may be apart, in sums of their 68 % radii: 99 of 100 are nearer.
    private static let spread = 1.5
    /// Of two fixes alone, one may be wild: so many before the newest must agree with it (`isJump`).
    private static let fewest = 2
    /// The newer half of a way goes at this part of its mean speed in its direction, or the vehicle stops or turns.
    private static let steadiness = 0.7
    /// What counts as a radius where none is stated, and the least: receivers round to metres.
    private static let usualRadius = 10.0
    private static let leastRadius = 1.0

    /// The fixes before, oldest first.
    private var track: [Fix] = []
    private var stated = StatedMotion()
    private var continuity = TrackContinuity()

    package init() {}

    /// `fix` with what it does not state and the track tells, in fields of their own.
    package mutating func completed(_ fix: Fix) -> Fix {
        if case .onward = continuity.step(to: fix), !isJump(to: fix) {} else { track.removeAll(keepingCapacity: true) }
        let young = track.firstIndex { $0.timeOfFix.duration(to: fix.timeOfFix) <= Self.longestTime } ?? track.endIndex
        track.removeSubrange(..<max(0, min(young, track.count - Self.fewest)))
        defer {
            if track.last.map({ $0.timeOfFix.duration(to: fix.timeOfFix) >= Self.spacing }) ?? true {
                track.append(fix)
            }
        }
        // A receiver that states a speed below that of motion leaves the course out because there is none.
        let needsHeading =
            fix.headingDegrees == nil && fix.speedMetersPerSecond.map { $0 >= Motion.movingSpeed } ?? true
        guard fix.speedMetersPerSecond == nil || needsHeading || stated.doubts(fix, after: track) else { return fix }
        let wander = Self.wander(of: track + [fix]) ?? 0
        let motion = motion(to: fix, wander: wander)
        let recent = track.filter { $0.seconds(to: fix) <= Self.longestTime / .seconds(1) } + [fix]
        stated.compare(
            recent, errors: Self.radius(recent[0], wander) + Self.radius(fix, wander), wander: wander,
            course: motion?.heading)
        var fix = fix
        if fix.speedMetersPerSecond == nil || stated.isWrong { fix.derived.speedMetersPerSecond = motion?.speed }
        if needsHeading || stated.isWrong { fix.derived.headingDegrees = motion?.heading }
        return fix
    }

    /// Whether the track contradicts the speeds and courses that the receiver states, so that they mean nothing.
    package var contradictsStated: Bool { stated.isWrong }

    /// Whether no vehicle changes its way so suddenly: small jumps of a position look like speed.
    private func isJump(to fix: Fix) -> Bool {
        guard let last = track.lastIndex(where: { $0.timeOfFix.duration(to: fix.timeOfFix) >= Self.spacing }), last > 0
        else { return false }
        let seconds = track[last].seconds(to: fix)
        let change = Self.bend(track[last - 1], track[last], fix).meters / seconds
        return !Fix.canChange(by: change, in: seconds)
    }

    /// What `fix` is off the line on which the two before it lie, had their speed lasted.
    private static func bend(_ first: Fix, _ second: Fix, _ fix: Fix) -> Displacement {
        let before = first.displacement(to: second)
        let after = second.displacement(to: fix)
        let ratio = second.seconds(to: fix) / first.seconds(to: second)
        return Displacement(east: after.east - before.east * ratio, north: after.north - before.north * ratio)
    }

    /// A receiver may wander more than it says.
    private static func radius(_ fix: Fix, _ wander: Double) -> Double {
        max(fix.horizontalAccuracyMeters ?? usualRadius, wander, leastRadius)
    }

    /// Speed in metres a second and course in degrees to `fix`; `nil` where the track does not tell.
    private func motion(to fix: Fix, wander: Double) -> (speed: Double, heading: Double?)? {
        guard track.count >= Self.fewest else { return nil }
        var standing: Double?
        for index in track.indices.reversed() {
            let start = track[index]
            let seconds = start.seconds(to: fix)
            guard seconds >= Self.shortestTime / .seconds(1) else { continue }
            guard seconds <= Self.longestTime / .seconds(1) else { break }
            let way = start.displacement(to: fix)
            let errors = Self.radius(start, wander) + Self.radius(fix, wander)
            if way.meters >= errors * Self.spread {
                return isSteady(way, from: index, to: fix)
                    ? (way.meters / seconds, way.degrees) : standing.map { ($0, nil) }
            }
            if standing == nil, way.meters <= errors, errors / seconds <= Motion.creepingSpeed {
                standing = way.meters / seconds
            }
        }
        return standing.map { ($0, nil) }
    }

    /// Whether the newer half of the `way` from the fix at `index` goes on as the whole does.
    private func isSteady(_ way: Displacement, from index: Int, to fix: Fix) -> Bool {
        let half = track[index].seconds(to: fix) / 2
        let between = track.indices[(index + 1)...]
        func distanceToHalf(_ index: Int) -> Double { abs(track[index].seconds(to: fix) - half) }
        guard let middle = between.min(by: { distanceToHalf($0) < distanceToHalf($1) }) else { return true }
        let newer = track[middle].displacement(to: fix)
        let along = (newer.east * way.east + newer.north * way.north) / way.meters
        return along / track[middle].seconds(to: fix) >= Self.steadiness * way.meters / (half * 2)
    }

    /// The 68 % radius that the last positions show by themselves; `nil` if there are too few.
    package var shownRadius: Double? { Self.wander(of: track).map { max($0, Self.leastRadius) } }

    /// The 68 % radius that the positions show by themselves: a receiver may wander more than it says.
    private static func wander(of fixes: [Fix]) -> Double? {
        guard fixes.count >= 5 else { return nil }
        let bends = fixes.indices.dropFirst(2).map { bend(fixes[$0 - 2], fixes[$0 - 1], fixes[$0]).meters }.sorted()
        return bends[bends.count / 2] / 2  // of independent errors the median is about twice their radius
    }
}

/// The way from one place to another on a plane, in metres.
struct Displacement {
    let east: Double
    let north: Double

    var meters: Double { (east * east + north * north).squareRoot() }

    /// Its direction in thousandths of a degree from true north, 0..<360.
    var degrees: Double {
        let degrees = (cmath_atan2(east, north) * 180_000 / .pi).rounded() / 1000
        return degrees < 0 ? degrees + 360 : degrees
    }
}
