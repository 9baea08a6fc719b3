import GNSS

/// The velocities at which one leaves a point so as to pass every later one in time and close enough.
///
/// Each point passed allows a disc of velocities. In its place stands the regular octagon within it, so that what is
/// left of all is eight numbers; it gives away less than a twelfth of the tolerance.
struct TimeSleeve {
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
