import GNSS
import Testing
import TimeAndChance
import WaypostTestSupport

@testable import TrackDrawing

@Suite struct TrackMaps {
    @Test(arguments: [
        ("plain.nmea", "plain.nmea"), ("<b>", "&lt;b&gt;"), ("a&b", "a&amp;b"), ("\"'", "&quot;&#39;"),
        ("a\nb\u{7F}", "a\u{FFFD}b\u{FFFD}"), ("Zürich 東", "Zürich 東"),
    ])
    func escapeNames(name: String, text: String) { #expect(Markup.escaped(name) == text) }

    @Test func acrossTheDateLineAreNarrow() throws {
        var line = TrackLine()
        for (second, longitude) in [179.9995, 179.9999, -179.9997, -179.999].enumerated() {
            let time = UTCTime(millisecondsSince1970: Int64(second) * 1000)
            line.add(Fix(timeOfFix: time, latitude: -16.8, longitude: longitude), beginsPiece: second == 0)
        }
        let frame = try #require(MapFrame.fitting(line)?.frame)
        #expect(frame.metersPerPixel < 0.3)
        #expect(abs(abs(frame.middle.longitude) - 180) < 0.001)
    }

    /// The line as drawn, read back from the page, against every fix.
    @Test(arguments: ["town", "motorway", "tunnel", "parking", "tenHertz"])
    func drawTheTrackWithinHalfAPixel(drive: String) throws {
        let fixes = try Fixtures.fixes(of: drive)
        var survey = TrackSurvey()
        for fix in fixes { survey.add(fix) }
        let fitted = try #require(MapFrame.fitting(survey.drawn.line))
        let paths = TrackPaths(fitted.vertices, scale: SpeedScale(dividing: survey.speeds))
        let strokes = paths.data.flatMap(Self.strokes)
        #expect(!strokes.isEmpty)
        var worst = 0.0
        for fix in fixes {
            let pixel = fitted.frame.pixel(of: fix)
            var nearest = Double.infinity
            for stroke in strokes {
                for (from, to) in zip(stroke, stroke.count > 1 ? stroke.dropFirst() : stroke[...]) {
                    nearest = min(nearest, pixel.distance(toSegmentFrom: from, to: to))
                }
            }
            worst = max(worst, nearest)
        }
        #expect(worst < 0.5, "\(worst) pixels")
    }

    static func strokes(of data: String) -> [[PlanePoint]] {
        data.split(separator: "M").map { stroke in
            var place = PlanePoint(x: 0, y: 0)
            var numbers = stroke.matches(of: /-?\d+/).compactMap { Double($0.output) }[...]
            if stroke.contains("h0") { numbers = numbers.prefix(2) }
            var points: [PlanePoint] = []
            while let x = numbers.popFirst(), let y = numbers.popFirst() {
                place = place + PlanePoint(x: x / 10, y: y / 10)
                points.append(place)
            }
            return points
        }
    }

    /// What only the page of a vehicle under way has.
    @Test func showTheVehicleAndWhatCameLate() throws {
        var survey = TrackSurvey()
        let fixes = try Fixtures.fixes(of: "town")
        for fix in fixes { survey.add(fix) }
        var vehicle = fixes[200]
        (vehicle.headingDegrees, vehicle.horizontalAccuracyMeters) = (90, 100)
        let map = try #require(TrackMap(survey, newest: vehicle, late: Array(fixes[10..<12]))).section.text
        for words in [
            "class=\"vehicle\"", " rotate(90)\"", "class=\"accuracy\"", "<use href=\"#late\"/>", "dot late", ">now 10:",
        ] {
            #expect(map.contains(words), "no \(words)")
        }
        #expect(!map.contains("class=\"end\"") && !map.contains("dot end"))
        // It is replaced every second, which would take the focus off a link.
        #expect(!map.contains("<a "))
        vehicle.headingDegrees = nil
        #expect(try #require(TrackMap(survey, newest: vehicle)).section.text.contains("<circle r=\"7\"/>"))
    }

    /// Where a vehicle was minutes ago is not where it is: in both widths with its time.
    @Test func sayWhenTheVehicleWasThereLast() throws {
        var survey = TrackSurvey()
        let fixes = try Fixtures.fixes(of: "town")
        for fix in fixes { survey.add(fix) }
        var map = try #require(TrackMap(survey, newest: fixes[200], isCurrent: false)).section.text
        let time = FigureText.clock(fixes[200].timeOfFix, seconds: false)
        #expect(map.ranges(of: ">last position \(time) UTC<").count == 2)
        #expect(map.contains("class=\"vehicle last\"") && map.contains("dot now last"))
        #expect(!map.contains(">now") && !map.contains("vehicle now"))
        // At the start of its track as well.
        survey = TrackSurvey()
        for fix in fixes.prefix(2) { survey.add(fix) }
        map = try #require(TrackMap(survey, newest: fixes[0], isCurrent: false)).section.text
        #expect(map.contains(">last position ") && !map.contains("start and end"))
    }

    /// In a font of wide bold letters, too.
    @Test(arguments: Array(stride(from: 20, to: 600, by: 20)))
    func nameTheVehicleOnTheDrawing(fixCount: Int) throws {
        var survey = TrackSurvey()
        let fixes = try Fixtures.fixes(of: "town").prefix(fixCount)
        for fix in fixes { survey.add(fix) }
        let map = try #require(TrackMap(survey, newest: fixes.last))
        for layout in PageLayout.allCases {
            let drawing = MapDrawing(map, layout).svg.text
            let labels = drawing.matches(
                of: /class="label strong" text-anchor="(\w+)" x="([-.\d]+)" y="[^"]*">([^<]*)</)
            #expect(labels.contains { $0.output.3.hasPrefix("now") }, "\(labels.map(\.output.3))")
            for label in labels {
                let x = try #require(Double(label.output.2))
                let width = Double(label.output.3.count) * (layout == .wide ? 9 : 8.5)
                let left = x - (label.output.1 == "start" ? 0 : label.output.1 == "end" ? width : width / 2)
                #expect(left >= 0 && left + width <= layout.width, "\(label.output.0)")
            }
        }
    }

    @Test func showSeveralVehiclesWithTheirNames() throws {
        let fixes = try Fixtures.fixes(of: "town")
        let vehicles = [("van <1>", 0), ("van-2", 300)].map { name, first in
            TrackMap.Vehicle(name: name, newest: fixes[first + 200], track: Array(fixes[first..<first + 200]))
        }
        let map = try #require(TrackMap(of: vehicles)).section.text
        #expect(map.contains("van &lt;1&gt;") && map.contains(">van-2<") && !map.contains("<1>"))
        #expect(map.contains("vehicle now") && !map.contains("dot start") && !map.contains("class=\"start\""))
        #expect(TrackMap(of: []) == nil)
        #expect(TrackMap(of: [TrackMap.Vehicle(name: "van", newest: fixes[0], track: [])]) == nil)
    }

    /// A second for each number, a speed in metres per second; `nil` is no fix.
    @Test(
        arguments: [
            ([Double](repeating: 0, count: 9), []), ([Double](repeating: 0, count: 30), [29]),
            ([9, 9] + [Double](repeating: 0.2, count: 12) + [9, 9, 9], [11]),
            ([Double](repeating: 0, count: 80), []),
            (
                [Double](repeating: 0, count: 20) + [Double](repeating: 9, count: 40)
                    + [Double](repeating: 0, count: 15),
                [19, 14]
            ),
        ] as [([Double], [Int])])
    func markTimesOfStandingThatAreTooShortForAStop(speeds: [Double], seconds: [Int]) {
        var (survey, unstated) = (TrackSurvey(), TrackSurvey())
        var latitude = 53.55
        for (second, speed) in speeds.enumerated() {
            latitude += speed / 111_195
            var fix = Fix(
                timeOfFix: UTCTime(millisecondsSince1970: Int64(second) * 1000), latitude: latitude, longitude: 10)
            unstated.add(fix)
            fix.speedMetersPerSecond = speed
            survey.add(fix)
        }
        #expect(survey.shortStops.map { Int($0.duration / .seconds(1)) } == seconds)
        #expect(unstated.shortStops.isEmpty)
    }

    @Test(arguments: ["town", "motorway", "tunnel", "parking", "tenHertz"])
    func pointFromTheChartToTheTrack(drive: String) throws {
        let fixes = try Fixtures.fixes(of: drive)
        var survey = TrackSurvey()
        for fix in fixes { survey.add(fix) }
        let samples = TrackSample.samples(of: survey.profile)
        #expect(samples.count > 100 && samples.count < 540)
        #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.time < $1.time })
        for sample in samples {
            let nearest = fixes.min { one, other in
                abs(one.timeOfFix.millisecondsSince1970 - sample.time.millisecondsSince1970)
                    < abs(other.timeOfFix.millisecondsSince1970 - sample.time.millisecondsSince1970)
            }
            let fix = Fix(timeOfFix: sample.time, latitude: sample.slot.latitude, longitude: sample.slot.longitude)
            #expect(try #require(nearest).distance(to: fix) < 40)
        }
        let section = try #require(TrackMap(survey)?.profileSection).text
        let places = section.matches(of: /data-x="\[([^\]]*)\]"/).map { $0.output.1.split(separator: ",").count }
        #expect(places == [samples.count, samples.count] && section.contains("max=\"\(samples.count - 1)\""))
    }

    /// Every shape: the whole track is on both drawings, and the wide one leaves room on a first screen.
    @Test(arguments: [(0.0, 0.0), (0.2, 0), (0, 0.3), (0.1, 0.1), (1e-5, 0.2)])
    func fitBothDrawings(north: Double, east: Double) throws {
        var survey = TrackSurvey()
        for second in 0..<100 {
            let part = Double(second) / 100
            survey.add(
                Fix(
                    timeOfFix: UTCTime(millisecondsSince1970: Int64(second) * 60_000), latitude: 53.5 + north * part,
                    longitude: 10 + east * part))
        }
        let map = try #require(TrackMap(survey))
        #expect(map.frame.height <= 504)
        for layout in PageLayout.allCases {
            let view = map.view(layout)
            #expect(view.height <= 504 && view.scale <= 1)
            for vertex in map.vertices {
                let pixel = view.pixel(vertex.point)
                #expect(pixel.x >= 20 && pixel.x <= view.width - 20 && pixel.y >= 20 && pixel.y <= view.height - 20)
            }
        }
    }

    @Test(arguments: [
        (53.55, 10.0, "?mlat=53.55000&mlon=10.00000#map=17/53.55000/10.00000"),
        (-0.000001, -179.9999, "?mlat=0.00000&mlon=-179.99990#map=17/0.00000/-179.99990"),
    ])
    func linkPlacesToAWorldMap(latitude: Double, longitude: Double, rest: String) {
        let address = WorldMapLink.address(latitude: latitude, longitude: longitude)
        #expect(address == "https://www.openstreetmap.org/\(rest)")
        let link = WorldMapLink.place(latitude: latitude, longitude: longitude).text
        #expect(link.contains("&amp;mlon=") && link.contains("rel=\"noreferrer\""))
    }
}

extension PlanePoint {
    /// To the nearest point of the straight line between two others.
    func distance(toSegmentFrom start: Self, to end: Self) -> Double {
        let way = end - start
        let square = way.x * way.x + way.y * way.y
        guard square > 0 else { return (self - start).length }
        let place = ((x - start.x) * way.x + (y - start.y) * way.y) / square
        return (self - (start + way * min(1, max(0, place)))).length
    }
}
