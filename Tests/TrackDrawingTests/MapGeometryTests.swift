import GNSS
import Testing
import TimeAndChance

@testable import TrackDrawing

@Suite struct MapGeometry {
    static let places: [(Double, Double)] = [
        (0, 0), (53.55, 10), (-33.9, 151.2), (71, -179.9999), (-16.8, 179.9999), (89.99, 12), (-90, 0), (90, 0),
    ]

    @Test(arguments: places)
    func projectsMetresAndBack(latitude: Double, longitude: Double) {
        let plane = LocalProjection(latitude: latitude, longitude: longitude)
        #expect(plane.point(latitude: latitude, longitude: longitude).length < 1e-6)
        for point in [PlanePoint(x: 1000, y: 0), PlanePoint(x: -300, y: 20_000), PlanePoint(x: 0, y: -100_000)] {
            let place = plane.place(of: point)
            #expect((-90...90).contains(place.latitude) && (-180...180).contains(place.longitude))
            let back = plane.point(latitude: place.latitude, longitude: place.longitude)
            #expect((back - point).length < 0.001, "\(point) came back as \(back)")
        }
    }

    @Test func agreesWithDistancesOfFixes() {
        let plane = LocalProjection(latitude: 53.55, longitude: 10)
        let start = Fix(timeOfFix: UTCTime(millisecondsSince1970: 0), latitude: 53.55, longitude: 10)
        for (latitude, longitude) in [(53.56, 10.0), (53.55, 10.01), (53.5, 9.9), (53.9, 10.4)] {
            let other = Fix(timeOfFix: start.timeOfFix, latitude: latitude, longitude: longitude)
            let meters = plane.point(latitude: latitude, longitude: longitude).length
            #expect(abs(meters - start.distance(to: other)) < meters * 2e-4)
        }
    }

    /// Lines that are hard to thin, of `count` points.
    static func line(_ shape: String, _ count: Int) -> [PlanePoint] {
        var random = SplitMix64(seed: 7)
        var point = PlanePoint(x: 0, y: 0)
        return (0..<count).map { index in
            let part = Double(index) / Double(count)
            switch shape {
            case "straight": return PlanePoint(x: part * 1000, y: part * 500)
            case "noise on a straight": return PlanePoint(x: part * 1000, y: random.unit() * 0.2)
            case "back and forth": return PlanePoint(x: index % 2 == 0 ? 0 : 100 - part, y: part)
            case "standing": return PlanePoint(x: random.unit() * 0.1, y: random.unit() * 0.1)
            case "out and home": return PlanePoint(x: 500 - abs(part - 0.5) * 1000, y: 0)
            case "sawtooth": return PlanePoint(x: Double(index % 50), y: part * 100)
            default:
                point = point + PlanePoint(x: random.unit() - 0.5, y: random.unit() - 0.5)
                return point
            }
        }
    }

    @Test(arguments: [
        "straight", "noise on a straight", "back and forth", "standing", "out and home", "sawtooth", "walk",
    ])
    func thinsWithinItsTolerance(shape: String) {
        let points = Self.line(shape, 4000)
        for tolerance in [0.05, 0.3, 5] {
            let kept = LineThinning.kept(of: points, tolerance: tolerance)
            #expect(kept.first == 0 && kept.last == points.count - 1)
            var worst = 0.0
            for (from, to) in zip(kept, kept.dropFirst()) {
                #expect(from < to)
                for index in from...to {
                    worst = max(worst, points[index].distance(toSegmentFrom: points[from], to: points[to]))
                }
            }
            #expect(worst <= tolerance * 1.000001, "\(shape): \(worst) at \(tolerance)")
        }
        if shape == "straight" { #expect(LineThinning.kept(of: points, tolerance: 0.05).count <= 3) }
    }

    @Test(arguments: [0, 1, 2]) func thinsNothingOfALineWithoutMiddle(count: Int) {
        let points = Self.line("walk", count)
        #expect(LineThinning.kept(of: points, tolerance: 100).count == count)
    }

    @Test func keepsALongLineBoundedAndTrue() throws {
        var line = TrackLine(capacity: 2000)
        var random = SplitMix64(seed: 3)
        var (fixes, heading) = ([Fix](), 0.0)
        var place = (latitude: 53.55, longitude: 179.99)
        for second in 0..<60_000 {
            heading += (random.unit() - 0.5) * 0.3
            place.latitude += 1e-4 * (1 - heading * heading / 8)
            place.longitude += 1e-4 * heading
            if abs(heading) > 2 { heading = 0 }
            if place.latitude > 53.8 { place.latitude = 53.55 }
            if place.longitude > 180 { place.longitude -= 360 }
            var fix = Fix(
                timeOfFix: UTCTime(millisecondsSince1970: Int64(second) * 1000), latitude: place.latitude,
                longitude: place.longitude)
            fix.speedMetersPerSecond = 10 + 5 * random.unit()
            fixes.append(fix)
            line.add(fix, beginsPiece: false)
            #expect(line.vertices.count < 2000)
        }
        let plane = try #require(line.plane)
        let bounds = try #require(line.bounds)
        for fix in fixes.indices.filter({ $0 % 500 == 0 }).map({ fixes[$0] }) {
            let point = plane.point(latitude: fix.latitude, longitude: fix.longitude)
            let nearest = zip(line.vertices, line.vertices.dropFirst()).map {
                point.distance(toSegmentFrom: $0.point, to: $1.point)
            }.min()
            #expect(nearest ?? .infinity <= line.error * 1.001)
        }
        #expect(line.error > 0 && line.error < max(bounds.width, bounds.height))
    }

    @Test func drawsAThousandJumpsAsDots() {
        var line = TrackLine(capacity: 500)
        for second in 0..<5000 {
            let fix = Fix(
                timeOfFix: UTCTime(millisecondsSince1970: Int64(second) * 1000), latitude: Double(second * 7919 % 90),
                longitude: Double(second * 104_729 % 180))
            line.add(fix, beginsPiece: true)
        }
        #expect(line.vertices.count < 500)
        #expect(line.vertices.allSatisfy { $0.beginsPiece })
    }

    @Test(
        arguments: [
            ([0, 0, 0], [true, true, true]), ([0, 0], [true, true]),
            ([0, 9, 0, 0, 0], [false, false, true, true, true]),
            ([0, 0, 0, 9, 0], [true, true, true, false, false]),
            ([0, 0, 0, 9, 9, 9], [true, true, true, true, true, true]),
            ([9, 0, 0, 0], [false, true, true, true]), ([0, 9], [false, true]), ([], []),
        ] as [([Double], [Bool])])
    func leavesWildFixesOut(degrees: [Double], drawn: [Bool]) {
        var (continuity, steady) = (TrackContinuity(), SteadyFixes())
        var taken: [Int64] = []
        for (second, latitude) in degrees.enumerated() {
            let fix = Fix(
                timeOfFix: UTCTime(millisecondsSince1970: Int64(second) * 1000), latitude: latitude, longitude: 0)
            steady.take(fix, continuity.step(to: fix)) { fix, _ in
                taken.append(fix.timeOfFix.millisecondsSince1970 / 1000)
            }
        }
        steady.finish { fix, _ in taken.append(fix.timeOfFix.millisecondsSince1970 / 1000) }
        #expect(taken == drawn.indices.filter { drawn[$0] }.map(Int64.init))
    }

    @Test func findsRoomForLabels() {
        var labels = LabelPlacement(width: 200, height: 100)
        let mark = PlanePoint(x: 100, y: 50)
        let first = labels.place(beside: mark, radius: 5, width: 60, height: 14)
        #expect(first?.anchor == .start)
        #expect(labels.place(beside: mark, radius: 5, width: 60, height: 14)?.anchor == .end)
        labels.reserve(PlaneBounds(low: PlanePoint(x: 0, y: 0), high: PlanePoint(x: 200, y: 100)))
        #expect(labels.place(beside: mark, radius: 5, width: 60, height: 14) == nil)
        let isOutside = !labels.reserve(around: PlanePoint(x: 500, y: 50), radius: 5)
        #expect(isOutside)
    }

    @Test func keepsLabelsOffTheLine() {
        var labels = LabelPlacement(width: 200, height: 100)
        let ends = [PlanePoint(x: 100, y: 50), PlanePoint(x: 190, y: 50)]
        labels.avoid(
            ends.enumerated().map { TrackLine.Vertex(point: $1, speed: nil, beginsPiece: $0 == 0) }, pixel: { $0 })
        #expect(labels.place(beside: ends[0], radius: 5, width: 60, height: 14)?.anchor == .end)
    }
}
