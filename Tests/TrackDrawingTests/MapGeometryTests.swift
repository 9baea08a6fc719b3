import GNSS
import Testing
import TimeAndRandomness

@testable import TrackDrawing

@Suite struct MapGeometry {
    static let places: [(Double, Double)] = [
        (0, 0), (53.55, 10), (-33.9, 151.2), (71, -179.9999), (-16.8, 179.9999), (89.99, 12), (-90, 0), (90, 0),
    ]

    @Test(arguments: places)
    func projectsPointsToPlacesAndBack(latitude: Double, longitude: Double) {
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

    @Test func keepsALongLineBoundedAndAccurate() throws {
        var line = TrackLine(capacity: 2000)
        var random = SplitMix64(seed: 3)
        var fixes: [Fix] = []
        var heading = 0.0
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

    @Test func keepsALineOfJumpsBounded() {
        var line = TrackLine(capacity: 500)
        for second in 0..<5000 {
            let fix = Fix(
                timeOfFix: UTCTime(millisecondsSince1970: Int64(second) * 1000), latitude: Double(second * 7919 % 90),
                longitude: Double(second * 104_729 % 180))
            line.add(fix, beginsPiece: true)
        }
        #expect(!line.vertices.isEmpty && line.vertices.count < 500)
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
    func omitsOutliers(degrees: [Double], drawn: [Bool]) {
        var continuity = TrackContinuity()
        var track = MapTrack()
        for (second, latitude) in degrees.enumerated() {
            let fix = Fix(
                timeOfFix: UTCTime(millisecondsSince1970: Int64(second) * 1000), latitude: latitude, longitude: 0)
            track.add(fix, step: continuity.step(to: fix))
        }
        track.finish()
        let kept = zip(degrees, drawn).filter(\.1).map(\.0)
        let places = track.line.vertices.map { ($0.point.y / 111_195).rounded() }
        #expect(places.map { abs($0 - places[0]) } == kept.map { abs($0 - kept[0]) })
        let seconds = [track.start, track.end].map { $0.map { Int($0.timeOfFix.millisecondsSince1970 / 1000) } }
        #expect(seconds == [drawn.firstIndex(of: true), drawn.lastIndex(of: true)])
    }

    @Test func findsRoomForLabels() {
        var labels = LabelPlacement(width: 200, height: 100)
        let mark = PlanePoint(x: 100, y: 50)
        let first = labels.place(nextTo: mark, radius: 5, width: 60, height: 14)
        #expect(first?.anchor == .start)
        #expect(labels.place(nextTo: mark, radius: 5, width: 60, height: 14)?.anchor == .end)
        let drawing = PlaneBounds(around: mark, width: 196, height: 96)
        #expect(!labels.isFree(drawing) && !labels.isFree(PlaneBounds(around: PlanePoint(x: 500, y: 50))))
        labels.reserve(drawing)
        #expect(labels.place(nextTo: mark, radius: 5, width: 60, height: 14) == nil)
    }

    @Test func labelsCoverTheTrackOnlyIfThereIsNoOtherRoom() {
        let mark = PlanePoint(x: 100, y: 50)
        func anchor(_ lines: [(PlanePoint, PlanePoint)]) -> LabelPlacement.Place.Anchor? {
            var labels = LabelPlacement(width: 200, height: 100)
            for (start, end) in lines { labels.avoid(lineFrom: start, to: end) }
            return labels.place(nextTo: mark, radius: 5, width: 60, height: 14)?.anchor
        }
        func vertical(atX x: Double) -> (PlanePoint, PlanePoint) { (PlanePoint(x: x, y: 0), PlanePoint(x: x, y: 100)) }
        #expect(anchor([vertical(atX: 140)]) == .end)
        #expect(anchor([vertical(atX: 140), vertical(atX: 60)]) == .middle)
        let everywhere = stride(from: 0.0, through: 200, by: 10).map(vertical(atX:))
        #expect(anchor(everywhere) == .start)
    }
}
