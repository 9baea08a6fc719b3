import GNSS
import Testing
import TimeAndRandomness

@Suite struct TrackSimplifications {
    /// Returns a point `second` seconds after the first, `east` and `north` metres from it.
    private static func point(_ second: Double, east: Double, north: Double = 0) -> TrackPoint {
        TrackPoint(
            timeOfFix: UTCTime(millisecondsSince1970: 1_767_600_000_000 + Int64(second * 1000)),
            latitude: north / 111_195, longitude: east / 111_195)
    }

    /// Returns the distance in metres of `point` from the straight path between the two others at its time.
    private static func error(of point: TrackPoint, between one: TrackPoint, and next: TrackPoint) -> Double {
        let share = one.timeOfFix.duration(to: point.timeOfFix) / one.timeOfFix.duration(to: next.timeOfFix)
        let between = Fix(
            timeOfFix: point.timeOfFix, latitude: one.latitude + (next.latitude - one.latitude) * share,
            longitude: one.longitude + (next.longitude - one.longitude) * share)
        return between.distance(
            to: Fix(timeOfFix: point.timeOfFix, latitude: point.latitude, longitude: point.longitude))
    }

    /// Returns the minimum number of points, and the smallest sum of squared errors in square metres that as many
    /// points can have. Both are found by trying every leg.
    private static func best(of points: [TrackPoint], tolerance: Double) -> (count: Int, squaredErrors: Double) {
        var paths = [(count: 1, squaredErrors: 0.0)]
        for end in points.indices.dropFirst() {
            let candidates = (0..<end).compactMap { start -> (count: Int, squaredErrors: Double)? in
                let errors = errors(of: points[start...end])
                guard errors.allSatisfy({ $0 <= tolerance }) else { return nil }
                return (paths[start].count + 1, paths[start].squaredErrors + sumOfSquares(errors))
            }
            paths.append(candidates.min { $0 < $1 } ?? (count: .max, squaredErrors: .infinity))
        }
        return paths[paths.count - 1]
    }

    /// Returns the errors of the points between the first and the last, if these are the only ones kept.
    private static func errors(of points: ArraySlice<TrackPoint>) -> [Double] {
        guard let first = points.first, let last = points.last else { return [] }
        return points.dropFirst().dropLast().map { error(of: $0, between: first, and: last) }
    }

    private static func sumOfSquares(_ errors: [Double]) -> Double { errors.reduce(0) { $0 + $1 * $1 } }

    /// Returns the track of a vehicle with random acceleration.
    private static func track(points: Int, seed: UInt64) -> [TrackPoint] {
        var chance = SplitMix64(seed: seed)
        var east = 0.0
        var north = 0.0
        var eastward = 10.0
        var northward = 0.0
        return (0..<points).map { second in
            eastward += .random(in: -3...3, using: &chance)
            northward += .random(in: -3...3, using: &chance)
            east += eastward
            north += northward
            return point(Double(second), east: east, north: north)
        }
    }

    /// Of the paths with the minimum number of points, the one with the smallest errors is kept.
    @Test(arguments: 1...300 as ClosedRange<UInt64>) func keepTheMinimumNumberOfPoints(seed: UInt64) {
        let points = Self.track(points: 2 + Int(seed % 30), seed: seed)
        // The plane's distances are a little too long, so the reference has a smaller tolerance.
        let kept = TrackSimplification.keptIndices(of: points, tolerance: 5)
        let best = Self.best(of: points, tolerance: 4.97)
        #expect(kept.count <= best.count)
        #expect(kept.first == 0 && kept.last == points.count - 1)
        let errors = zip(kept, kept.dropFirst()).flatMap { Self.errors(of: points[$0...$1]) }
        #expect(errors.allSatisfy { $0 <= 5 })
        if kept.count == best.count { #expect(Self.sumOfSquares(errors) <= best.squaredErrors * 1.01 + 1e-6) }
    }

    /// The farthest point that one leg reaches isn't always on the path with the fewest legs.
    @Test func keepFewerPointsThanAGreedyChoice() {
        var fewer = 0
        for seed in 1...200 as ClosedRange<UInt64> {
            let points = Self.track(points: 60, seed: seed)
            var start = 0
            var greedy = 1
            while start < points.count - 1 {
                let reached = ((start + 1)..<points.count).filter { end in
                    points[start..<end].dropFirst().allSatisfy {
                        Self.error(of: $0, between: points[start], and: points[end]) <= 4.97
                    }
                }
                start = reached.max() ?? start + 1
                greedy += 1
            }
            let kept = TrackSimplification.keptIndices(of: points, tolerance: 5).count
            #expect(kept <= greedy, "seed \(seed)")
            if kept < greedy { fewer += 1 }
        }
        #expect(fewer > 20)
    }

    @Test func limitALegToFiveMinutes() {
        let points = (0..<20).map { Self.point(Double($0) * 60, east: 0) }
        #expect(TrackSimplification.keptIndices(of: points, tolerance: 5).count == 5)
        #expect(
            TrackSimplification.keptIndices(of: [Self.point(0, east: 0), Self.point(1000, east: 0)], tolerance: 5) == [
                0, 1,
            ])
    }

    @Test func acceptEmptyAndSinglePointTracks() {
        #expect(TrackSimplification.keptIndices(of: [], tolerance: 5).isEmpty)
        #expect(TrackSimplification.keptIndices(of: [Self.point(0, east: 0)], tolerance: 5) == [0])
    }
}
