import CMath
package import TimeAndChance

/// Finds the fewest points of a track that still say where the vehicle was, and when.
///
/// Between two points that stay, the vehicle is taken to have moved straight and evenly. At the time of every point
/// that goes, that position lies within the tolerance of the true one (the synchronised Euclidean distance of Meratnia
/// and de By, 2004), so shape and time are kept together: a turn stays to within the tolerance, and so does a wait. No
/// other choice among the points that does this is smaller.
package enum TrackSimplification {
    /// Two points that stay lie no farther apart in time, unless they were neighbours before: a longer silence ends a
    /// drive.
    package static let longestSpan = Duration.seconds(300)

    /// The indices that stay, first and last among them; `tolerance` in metres. The times must grow.
    ///
    /// A way of the fewest legs: for each point in order, every point that one leg from there reaches; of several such
    /// ways the one whose last leg is the shortest. Rarely more than time proportional to the number of points, and the
    /// square of it where they wander within the tolerance.
    package static func kept(of points: [TrackPoint], tolerance: Double) -> [Int] {
        guard points.count > 2 else { return Array(points.indices) }
        let goal = points.count - 1
        let places = places(of: points)
        var legs = [Int](repeating: points.count, count: points.count)
        var previous = [Int](repeating: 0, count: points.count)
        legs[0] = 0
        for start in 0..<goal where legs[start] < legs[goal] {
            var bounds = VelocityBounds(start: places[start], tolerance: tolerance)
            for end in (start + 1)...goal {
                let isNeighbour = end == start + 1
                guard isNeighbour || bounds.isOpen(for: places[end]) else { break }
                if legs[start] < legs[end],
                    isNeighbour || bounds.admits(places[end], passing: places[start + 1..<end])
                {
                    legs[end] = legs[start] + 1
                    previous[end] = start
                }
                bounds.narrow(to: places[end])
            }
        }
        var kept = [goal]
        while let first = kept.last, first > 0 { kept.append(previous[first]) }
        return kept.reversed()
    }

    /// Where and when on a plane where no distance is shorter than on the ellipsoid, or on a sphere.
    private static func places(of points: [TrackPoint]) -> [TimedPlace] {
        guard let first = points.first else { return [] }
        // A degree is longest at the latitude that is nearest to the pole, and across at that nearest to the equator.
        let latitudes = points.map { abs($0.latitude) * .pi / 180 }
        let least = latitudes.min() ?? 0
        let greatest = latitudes.max() ?? 0
        let northPerDegree = max(Fix.metersPerDegree, 111_133 - 559.8 * cmath_cos(2 * greatest))
        let eastPerDegree = 111_413 * cmath_cos(least) - 93.5 * cmath_cos(3 * least)
        return points.map { point in
            var east = point.longitude - first.longitude
            if east > 180 { east -= 360 } else if east < -180 { east += 360 }
            return TimedPlace(
                east: east * eastPerDegree, north: (point.latitude - first.latitude) * northPerDegree,
                seconds: Double(point.timeOfFix.millisecondsSince1970 - first.timeOfFix.millisecondsSince1970) / 1000)
        }
    }
}

/// Where a track was, and when.
package struct TrackPoint: Sendable, Hashable {
    package let timeOfFix: UTCTime
    /// Degrees, WGS 84.
    package let latitude, longitude: Double

    package init(timeOfFix: UTCTime, latitude: Double, longitude: Double) {
        self.timeOfFix = timeOfFix
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// Metres on a plane, and seconds.
private struct TimedPlace {
    let seconds: Double
    /// East, north, and the two directions between them.
    let components: SIMD4<Double>

    init(east: Double, north: Double, seconds: Double) {
        let half = 0.5.squareRoot()
        self.seconds = seconds
        components = SIMD4(east, north, (east + north) * half, (east - north) * half)
    }
}

/// The velocities at which one leaves a point so as to pass every later one in time and close enough.
///
/// Each point passed allows a disc of velocities. What lies within all of the regular octagons inside these discs
/// passes them all, what lies outside one of the octagons around them does not; between the two, each point is looked
/// at.
private struct VelocityBounds {
    /// From the middle of an octagon to its sides, by that to its corners: a little below cos(22.5°).
    private static let apothem = 0.92

    let start: TimedPlace
    /// In metres.
    let tolerance: Double
    /// Metres per second, by direction, of the octagons around the discs and of those inside; nothing is allowed where
    /// a slowest exceeds its fastest.
    var slowest = SIMD4<Double>(repeating: -.infinity)
    var fastest = SIMD4<Double>(repeating: .infinity)
    var surelySlowest = SIMD4<Double>(repeating: -.infinity)
    var surelyFastest = SIMD4<Double>(repeating: .infinity)

    /// Whether a leg may lead to `place` or to a later one.
    func isOpen(for place: TimedPlace) -> Bool {
        let seconds = place.seconds - start.seconds
        return seconds > 0 && seconds <= TrackSimplification.longestSpan / .seconds(1) && all(slowest .<= fastest)
    }

    /// Whether the leg to `place` passes all `between`, to which these bounds were narrowed.
    func admits(_ place: TimedPlace, passing between: ArraySlice<TimedPlace>) -> Bool {
        let velocity = (place.components - start.components) / (place.seconds - start.seconds)
        if all(surelySlowest .<= velocity .& velocity .<= surelyFastest) { return true }
        guard all(slowest .<= velocity .& velocity .<= fastest) else { return false }
        return between.allSatisfy { passed in
            let error = start.components + velocity * (passed.seconds - start.seconds) - passed.components
            return error.x * error.x + error.y * error.y <= tolerance * tolerance
        }
    }

    /// Demands that `place`, which is later, is passed within the tolerance.
    mutating func narrow(to place: TimedPlace) {
        let seconds = place.seconds - start.seconds
        let velocity = (place.components - start.components) / seconds
        let slack = tolerance / seconds
        let sureSlack = tolerance * Self.apothem / seconds
        slowest = pointwiseMax(slowest, velocity - slack)
        fastest = pointwiseMin(fastest, velocity + slack)
        surelySlowest = pointwiseMax(surelySlowest, velocity - sureSlack)
        surelyFastest = pointwiseMin(surelyFastest, velocity + sureSlack)
    }
}
