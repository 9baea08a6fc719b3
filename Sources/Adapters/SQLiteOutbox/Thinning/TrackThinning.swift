import Glibc
import GNSS
import LocationReporting
import TimeAndChance

/// Decides which updates of a backlog may go while the others still say where the vehicle was, and when.
///
/// Between two updates that stay, the vehicle is taken to have moved straight and evenly. At the time of every update
/// that goes, that position lies within the tolerance of the true one (the synchronised Euclidean distance of
/// Meratnia and de By, 2004), so shape and time are kept together: a turn stays to within the tolerance, and so does a
/// wait. What stays always: the ends of drives, the first and last update of each stop, the fastest and the slowest of
/// each leg between. One pass in time proportional to the number of updates.
enum TrackThinning {
    /// Two updates that stay lie no farther apart in time, unless they were neighbours before: a longer silence ends a
    /// drive.
    static let longestSpan = Duration.seconds(300)

    /// The indices that stay, first and last among them, those of `fixed` too; `tolerance` in metres.
    static func kept(of updates: [LocationUpdate], tolerance: Double, fixed: Set<Int> = []) -> [Int] {
        guard let first = updates.first, updates.count > 2 else { return Array(updates.indices) }
        let landmarks = landmarks(of: updates).union(fixed)
        let points = positions(of: updates)
        var kept = [0]
        var bounds = VelocityBounds(from: points[0], at: first.timeOfFix, tolerance: tolerance)
        for index in updates.indices.dropFirst() {
            let time = updates[index].timeOfFix
            if !bounds.admits(points[index], at: time) {
                kept.append(index - 1)
                bounds = VelocityBounds(
                    from: points[index - 1], at: updates[index - 1].timeOfFix, tolerance: tolerance)
            }
            if landmarks.contains(index) {
                kept.append(index)
                bounds = VelocityBounds(from: points[index], at: time, tolerance: tolerance)
            } else {
                bounds.narrow(to: points[index], at: time)
            }
        }
        return kept
    }

    /// The indices that stay whatever the tolerance.
    static func landmarks(of updates: [LocationUpdate]) -> Set<Int> {
        var landmarks: Set<Int> = [0, updates.count - 1]
        var start = 0
        for index in updates.indices {
            let isLast = index == updates.count - 1
            if isLast || isBreak(updates[index], updates[index + 1])
                || isStanding(updates[index]) != isStanding(updates[index + 1])
            {
                landmarks.formUnion(marks(ofRun: start...index, updates))
                start = index + 1
            }
        }
        return landmarks
    }

    /// Of a stop, or of a drive's leg between two: beginning and end belong to a stop, and to a drive where it breaks.
    private static func marks(ofRun run: ClosedRange<Int>, _ updates: [LocationUpdate]) -> Set<Int> {
        if isStanding(updates[run.lowerBound]) { return [run.lowerBound, run.upperBound] }
        var marks: Set<Int> = []
        if run.lowerBound > 0, isBreak(updates[run.lowerBound - 1], updates[run.lowerBound]) {
            marks.insert(run.lowerBound)
        }
        if run.upperBound < updates.count - 1, isBreak(updates[run.upperBound], updates[run.upperBound + 1]) {
            marks.insert(run.upperBound)
        }
        let speeds = run.compactMap { index in updates[index].speedMetersPerSecond.map { (index, $0) } }
        if let fastest = speeds.max(by: { ($0.1, $1.0) < ($1.1, $0.0) }) { marks.insert(fastest.0) }
        if let slowest = speeds.min(by: { ($0.1, $0.0) < ($1.1, $1.0) }) { marks.insert(slowest.0) }
        return marks
    }

    private static func isBreak(_ one: LocationUpdate, _ next: LocationUpdate) -> Bool {
        let span = one.timeOfFix.duration(to: next.timeOfFix)
        return span <= .zero || span > longestSpan
    }

    private static func isStanding(_ update: LocationUpdate) -> Bool {
        update.speedMetersPerSecond.map { $0 < Motion.standingSpeed } ?? false
    }

    /// Metres east and north of the first one, on a plane where no distance is shorter than on the ellipsoid.
    private static func positions(of updates: [LocationUpdate]) -> [VelocityBounds.Point] {
        guard let first = updates.first else { return [] }
        let metersPerDegree = 111_700.0  // of a meridian near the pole, where it is longest
        let nearestToEquator = updates.reduce(90) { min($0, abs($1.latitude)) }
        let shrinking = cos(nearestToEquator * .pi / 180)
        return updates.map { update in
            let east = remainder(update.longitude - first.longitude, 360)
            return VelocityBounds.Point(
                east: east * metersPerDegree * shrinking,
                north: (update.latitude - first.latitude) * metersPerDegree)
        }
    }
}

/// The velocities at which one leaves a point so as to pass every later one in time and close enough.
///
/// Each point passed allows a disc of velocities. In its place stands the regular octagon within it, so that what is
/// left of all is eight numbers; it gives away less than a twelfth of the tolerance.
struct VelocityBounds {
    /// Metres on a plane.
    struct Point: Sendable, Hashable {
        let east, north: Double

        /// East, north, and the two directions between them.
        fileprivate var components: SIMD4<Double> {
            let half = 0.5.squareRoot()
            return SIMD4(east, north, (east + north) * half, (east - north) * half)
        }
    }

    /// From the middle of an octagon to its sides, by that to its corners: a little below cos(22.5°).
    private static let apothem = 0.92

    private let origin: SIMD4<Double>
    private let start: UTCTime
    private let tolerance: Double
    /// Metres per second, by direction; nothing is allowed where `slowest` exceeds `fastest`.
    private var slowest = SIMD4<Double>(repeating: -.infinity)
    private var fastest = SIMD4<Double>(repeating: .infinity)
    private var isNew = true

    /// `tolerance` in metres.
    init(from origin: Point, at start: UTCTime, tolerance: Double) {
        (self.origin, self.start, self.tolerance) = (origin.components, start, tolerance)
    }

    /// Whether the way may go straight to `point`: nothing between is passed too far away, nor is it too long after. A
    /// neighbour always can be reached.
    func admits(_ point: Point, at time: UTCTime) -> Bool {
        if isNew { return true }
        let span = start.duration(to: time)
        guard span > .zero, span <= TrackThinning.longestSpan else { return false }
        let velocity = (point.components - origin) / (span / .seconds(1))
        return all(slowest .<= velocity .& velocity .<= fastest)
    }

    /// Demands that `point`, which is later, is passed within the tolerance.
    mutating func narrow(to point: Point, at time: UTCTime) {
        isNew = false
        let seconds = start.duration(to: time) / .seconds(1)
        let velocity = (point.components - origin) / seconds
        let slack = tolerance * Self.apothem / seconds
        slowest = pointwiseMax(slowest, velocity - slack)
        fastest = pointwiseMin(fastest, velocity + slack)
    }
}

/// One of the passes in which a backlog is thinned, each coarser than the one before.
enum ThinningStep: Int, Sendable, Hashable, CaseIterable {
    case first, second, third, fourth, fifth

    /// What is left says where everything was to within so many metres, after this step and those before.
    var bound: Double { [10, 25, 50, 100, 250][rawValue] }

    /// What this step may add: errors of steps add up, because the ways through the updates that stay are straight from
    /// one to the next, and two such ways are farthest apart where one of them bends.
    var tolerance: Double { bound - (previous?.bound ?? 0) }

    var previous: Self? { Self(rawValue: rawValue - 1) }
}

/// How far each step has come through the backlog; part of the ledger's row.
struct ThinningProgress: Sendable, Hashable {
    /// By step: rows up to this sequence have been thinned by it. It is the last row of a block, and stays until the
    /// next block begins with it.
    private var fronts = [Int64](repeating: 0, count: ThinningStep.allCases.count)

    func front(of step: ThinningStep) -> Int64 { fronts[step.rawValue] }

    mutating func advance(_ step: ThinningStep, to sequence: Int64) { fronts[step.rawValue] = sequence }

    /// The sequences that `step` may look at: a step follows the one before, so that their bounds add up.
    func range(of step: ThinningStep) -> ClosedRange<Int64> {
        let end = step.previous.map(front) ?? .max
        return min(front(of: step), end)...end
    }

    func write(into writer: inout RecordWriter) {
        for front in fronts { writer.write(front) }
    }

    init() {}

    init?(from reader: inout RecordReader) {
        for index in fronts.indices {
            guard let front = reader.count() else { return nil }
            fronts[index] = front
        }
    }
}
