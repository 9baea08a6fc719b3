import CMath
package import TimeAndRandomness

/// An algorithm for the smallest set of a track's points that still shows where the vehicle was, and when.
///
/// Between two kept points, the vehicle is assumed to move in a straight line at constant speed. At the time of each
/// dropped point, the assumed position differs from the true one by at most the tolerance. This difference is the
/// synchronised Euclidean distance of Meratnia and de By (2004). So both the shape and the times of the track are
/// preserved, including turns and waits. No smaller set of points achieves this.
package enum TrackSimplification {
    /// The maximum time between two consecutive kept points if points between them were dropped. A longer gap in the
    /// track itself ends a drive.
    package static let maximumSpan = Duration.seconds(300)

    /// Returns the indices of the points to keep, including the first and the last. `tolerance` is in metres. The times
    /// of `points` must increase.
    ///
    /// Finds a path with the minimum number of legs. For each point in order, determines every point that a single leg
    /// can reach from there. Of several paths with the minimum number of legs, uses the one whose squared differences
    /// from the dropped points have the smallest sum. The running time is usually proportional to the number of points.
    /// It is quadratic if the points wander within the tolerance.
    package static func keptIndices(of points: [TrackPoint], tolerance: Double) -> [Int] {
        guard points.count > 2 else { return Array(points.indices) }
        let goal = points.count - 1
        let places = projectedPlaces(of: points)
        var paths = [Path](repeating: Path(legs: points.count, squaredErrors: 0), count: points.count)
        var previous = [Int](repeating: 0, count: points.count)
        paths[0].legs = 0
        for start in 0..<goal where paths[start].legs < paths[goal].legs {
            var bounds = VelocityBounds(start: places[start], tolerance: tolerance)
            var passed = PassedPlaces(start: places[start])
            for end in (start + 1)...goal {
                let isNeighbour = end == start + 1
                guard isNeighbour || bounds.mayReach(places[end]) else { break }
                let path = Path(
                    legs: paths[start].legs + 1,
                    squaredErrors: paths[start].squaredErrors + passed.squaredErrors(onLegTo: places[end]))
                if path.isBetter(than: paths[end]),
                    isNeighbour || bounds.admitsLeg(to: places[end], passing: places[start + 1..<end])
                {
                    paths[end] = path
                    previous[end] = start
                }
                bounds.narrow(to: places[end])
                passed.add(places[end])
            }
        }
        var kept = [goal]
        while let first = kept.last, first > 0 { kept.append(previous[first]) }
        return kept.reversed()
    }

    /// Returns the points projected onto a plane. No distance on the plane is shorter than the distance on the
    /// ellipsoid or on a sphere.
    private static func projectedPlaces(of points: [TrackPoint]) -> [TimedPlace] {
        guard let first = points.first else { return [] }
        // A degree of latitude is longest near the poles, and a degree of longitude is longest near the equator.
        let latitudes = points.map { abs($0.latitude) * .pi / 180 }
        let least = latitudes.min() ?? 0
        let greatest = latitudes.max() ?? 0
        let northPerDegree = max(Fix.metersPerDegree, 111_133 - 559.8 * cmath_cos(2 * greatest))
        let eastPerDegree = 111_413 * cmath_cos(least) - 93.5 * cmath_cos(3 * least)
        return points.map { point in
            TimedPlace(
                east: Fix.degreesEast(from: first.longitude, to: point.longitude) * eastPerDegree,
                north: (point.latitude - first.latitude) * northPerDegree,
                seconds: Double(point.timeOfFix.millisecondsSince1970 - first.timeOfFix.millisecondsSince1970) / 1000)
        }
    }
}

/// The number of legs from the first point to another point, and the sum of the squared differences, in square metres,
/// from the points that these legs drop.
private struct Path {
    var legs: Int
    let squaredErrors: Double

    func isBetter(than other: Path) -> Bool {
        (legs, squaredErrors) < (other.legs, other.squaredErrors)
    }
}

/// A point of a track, with its position and time.
package struct TrackPoint: Sendable, Hashable {
    package let timeOfFix: UTCTime
    /// The coordinates in degrees, WGS 84.
    package let latitude, longitude: Double

    package init(timeOfFix: UTCTime, latitude: Double, longitude: Double) {
        self.timeOfFix = timeOfFix
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// A point on a plane, in metres, with a time in seconds.
private struct TimedPlace {
    let seconds: Double
    /// The components of the position to the east, north, north-east and south-east.
    let components: SIMD4<Double>

    init(east: Double, north: Double, seconds: Double) {
        let half = 0.5.squareRoot()
        self.seconds = seconds
        components = SIMD4(east, north, (east + north) * half, (east - north) * half)
    }
}

/// The velocities at which a leg from one point passes each later point within the tolerance.
///
/// The velocities at which a leg passes one later point form a disc. The disc is approximated by an octagon inside it
/// and an octagon around it. A velocity within all inner octagons suits all points. A velocity outside any outer
/// octagon doesn't. For any other velocity, each point is checked.
private struct VelocityBounds {
    /// The ratio of the inner octagon's size to the outer octagon's size, rounded down from cos(22.5°).
    private static let innerToOuterRatio = 0.92

    let start: TimedPlace
    /// The tolerance in metres.
    let tolerance: Double
    /// The velocities within all outer octagons, as bounds in metres per second for each direction. If a minimum
    /// exceeds its maximum, no velocity is left.
    var outerMinimum = SIMD4<Double>(repeating: -.infinity)
    var outerMaximum = SIMD4<Double>(repeating: .infinity)
    /// The velocities within all inner octagons, as bounds for each direction.
    var innerMinimum = SIMD4<Double>(repeating: -.infinity)
    var innerMaximum = SIMD4<Double>(repeating: .infinity)

    /// Whether a leg may lead to `place` or to a later point.
    func mayReach(_ place: TimedPlace) -> Bool {
        let seconds = place.seconds - start.seconds
        return seconds > 0 && seconds <= TrackSimplification.maximumSpan / .seconds(1)
            && all(outerMinimum .<= outerMaximum)
    }

    /// Whether the leg to `place` passes all points of `between` within the tolerance. The bounds must already have
    /// been narrowed to these points.
    func admitsLeg(to place: TimedPlace, passing between: ArraySlice<TimedPlace>) -> Bool {
        let velocity = (place.components - start.components) / (place.seconds - start.seconds)
        if all(innerMinimum .<= velocity .& velocity .<= innerMaximum) { return true }
        guard all(outerMinimum .<= velocity .& velocity .<= outerMaximum) else { return false }
        return between.allSatisfy { passed in
            let error = start.components + velocity * (passed.seconds - start.seconds) - passed.components
            return error.x * error.x + error.y * error.y <= tolerance * tolerance
        }
    }

    /// Narrows the bounds to the velocities that pass `place` within the tolerance.
    mutating func narrow(to place: TimedPlace) {
        let seconds = place.seconds - start.seconds
        let velocity = (place.components - start.components) / seconds
        let slack = tolerance / seconds
        let sureSlack = tolerance * Self.innerToOuterRatio / seconds
        outerMinimum = pointwiseMax(outerMinimum, velocity - slack)
        outerMaximum = pointwiseMin(outerMaximum, velocity + slack)
        innerMinimum = pointwiseMax(innerMinimum, velocity - sureSlack)
        innerMaximum = pointwiseMin(innerMaximum, velocity + sureSlack)
    }
}

/// The sums over the points that a leg passes. From these sums, the squared errors of any leg with the same start can
/// be computed without visiting the points again.
private struct PassedPlaces {
    let start: TimedPlace
    /// The sum of the squared distances from the start, in square metres.
    private var squaredDistances = 0.0
    /// The sum of the displacements from the start, each multiplied by the time since the start.
    private var displacementsByTime = SIMD2<Double>.zero
    /// The sum of the squared times since the start.
    private var squaredTimes = 0.0

    init(start: TimedPlace) { self.start = start }

    mutating func add(_ place: TimedPlace) {
        let seconds = place.seconds - start.seconds
        let displacement = place.components.lowHalf - start.components.lowHalf
        squaredDistances += (displacement * displacement).sum()
        displacementsByTime += displacement * seconds
        squaredTimes += seconds * seconds
    }

    /// Returns the sum of the squared differences between the passed points and the positions on a straight leg at
    /// constant speed to `end`, in square metres.
    func squaredErrors(onLegTo end: TimedPlace) -> Double {
        let velocity = (end.components.lowHalf - start.components.lowHalf) / (end.seconds - start.seconds)
        return squaredDistances - 2 * (velocity * displacementsByTime).sum()
            + (velocity * velocity).sum() * squaredTimes
    }
}
