import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import TrackDrawing

@Suite struct TrackMaps {
    @Test(arguments: [
        ("plain.nmea", "plain.nmea"), ("<b>", "&lt;b&gt;"), ("a&b", "a&amp;b"), ("\"'", "&quot;&#39;"),
        ("a\nb\u{7F}", "a\u{FFFD}b\u{FFFD}"), ("Zürich 東", "Zürich 東"),
    ])
    func escapeNames(name: String, text: String) { #expect(Markup.escaped(name) == text) }

    @Test func areNarrowAcrossTheDateLine() throws {
        let fixes = [179.9995, 179.9999, -179.9997, -179.999].enumerated().map { second, longitude in
            Fix(
                timeOfFix: UTCTime(millisecondsSince1970: Int64(second) * 1000), latitude: -16.8, longitude: longitude)
        }
        let map = try #require(TrackMap(of: [TrackMap.Vehicle(name: nil, newest: fixes[0], track: fixes)]))
        #expect(map.frame(for: .wide).metersPerPixel < 0.3)
    }

    /// Every fix is within half a pixel of the drawn line, which is parsed from the SVG path data.
    @Test(arguments: ["town", "motorway", "tunnel", "parking", "tenHertz"])
    func drawTheTrackWithinHalfAPixel(drive: String) throws {
        let fixes = try Fixtures.fixes(of: drive)
        var survey = TrackSurvey()
        for fix in fixes { survey.add(fix) }
        let map = try #require(TrackMap(survey))
        let frame = map.frame(for: .wide)
        let strokes = TrackPaths(map.vertices, in: frame).data.flatMap(Self.strokes)
        #expect(!strokes.isEmpty)
        var worst = 0.0
        for fix in fixes {
            let pixel = frame.pixel(map.point(latitude: fix.latitude, longitude: fix.longitude))
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

    /// Returns the strokes of path data: absolute starts (`M`), dots (`h0`) and relative lines (`l`), in tenths of a
    /// pixel.
    static func strokes(of data: String) -> [[PlanePoint]] {
        data.split(separator: "M").map { stroke in
            var place = PlanePoint(x: 0, y: 0)
            return stroke.replacing("h0", with: "").split(separator: "l").compactMap { step in
                let numbers = step.split(separator: " ").compactMap { Double($0) }
                guard numbers.count == 2 else { return nil }
                place = place + PlanePoint(x: numbers[0] / 10, y: numbers[1] / 10)
                return place
            }
        }
    }

    /// A moving vehicle has marks, and the end of its track has none.
    @Test func showTheVehicleAndLateUpdates() throws {
        var survey = TrackSurvey()
        let fixes = try Fixtures.fixes(of: "town")
        for fix in fixes { survey.add(fix) }
        var vehicle = fixes[200]
        vehicle.headingDegrees = 90
        vehicle.horizontalAccuracyMeters = 100
        let map = try #require(TrackMap(survey, newest: vehicle, late: Array(fixes[10..<12]))).section.text
        for words in [
            "class=\"vehicle\"", " rotate(90)\"", "class=\"accuracy\"", "class=\"late\"", "dot late", ">now 10:",
        ] {
            #expect(map.contains(words), "no \(words)")
        }
        #expect(!map.contains("class=\"end\"") && !map.contains("dot end"))
        #expect(!map.contains("<a "), "the map is replaced every second, which would take the focus off a link")
        vehicle.headingDegrees = nil
        #expect(try #require(TrackMap(survey, newest: vehicle)).section.text.contains("<circle r=\"7\"/>"))
    }

    /// The drawings of both sizes have the label, with the time.
    @Test func labelTheLastPosition() throws {
        var survey = TrackSurvey()
        let fixes = try Fixtures.fixes(of: "town")
        for fix in fixes { survey.add(fix) }
        var map = try #require(TrackMap(survey, newest: fixes[200], isCurrent: false)).section.text
        let time = FigureText.timeOfDay(fixes[200].timeOfFix, seconds: false)
        #expect(map.ranges(of: ">last position \(time) UTC<").count == 2)
        #expect(map.contains("class=\"vehicle last\"") && map.contains("dot now last"))
        #expect(!map.contains(">now") && !map.contains("vehicle now"))
        // The label is also there if the vehicle is at the start of its track.
        survey = TrackSurvey()
        for fix in fixes.prefix(2) { survey.add(fix) }
        map = try #require(TrackMap(survey, newest: fixes[0], isCurrent: false)).section.text
        #expect(map.contains(">last position ") && !map.contains("start and end"))
    }

    /// The label fits even in a font with wide letters.
    @Test(arguments: Array(stride(from: 20, to: 600, by: 20)))
    func keepTheLabelsInsideTheDrawing(fixCount: Int) throws {
        var survey = TrackSurvey()
        let fixes = try Fixtures.fixes(of: "town").prefix(fixCount)
        for fix in fixes { survey.add(fix) }
        let map = try #require(TrackMap(survey, newest: fixes.last))
        for size in DrawingSize.allCases {
            let drawing = MapDrawing(map, map.frame(for: size)).svg.text
            let labels = drawing.matches(
                of: /class="label strong" text-anchor="(\w+)" x="([-.\d]+)" y="[^"]*">([^<]*)</)
            #expect(labels.contains { $0.output.3.hasPrefix("now") }, "\(labels.map(\.output.3))")
            for label in labels {
                let x = try #require(Double(label.output.2))
                let width = Double(label.output.3.count) * (size == .wide ? 9 : 8.5)
                let left = x - (label.output.1 == "start" ? 0 : label.output.1 == "end" ? width : width / 2)
                #expect(left >= 0 && left + width <= size.width, "\(label.output.0)")
            }
        }
    }

    /// A part of a drive, at a speed in metres per second, after a pause in seconds without a fix.
    struct Leg: Sendable {
        var seconds: Int
        var north = 0.0
        var east = 0.0
        var pause = 0
    }

    static func survey(of legs: [Leg]) -> TrackSurvey {
        var survey = TrackSurvey()
        var second = 0
        var place = PlanePoint(x: 0, y: 0)
        let plane = LocalProjection(latitude: 53.55, longitude: 10)
        for leg in legs {
            second += leg.pause
            for _ in stride(from: 0, to: leg.seconds, by: 5) {
                let (latitude, longitude) = plane.place(of: place)
                let time = UTCTime(year: 2026, month: 3, day: 31).advanced(by: .seconds(36_000 + second))
                var fix = Fix(timeOfFix: time, latitude: latitude, longitude: longitude)
                fix.speedMetersPerSecond = PlanePoint(x: leg.east, y: leg.north).length
                survey.add(fix)
                second += 5
                place = place + PlanePoint(x: leg.east, y: leg.north) * 5
            }
        }
        return survey
    }

    /// Returns the labels of the track's ends.
    static func endLabels(in map: String) -> [String] {
        map.matches(of: /class="label strong"[^>]*>([^<]*)</).map { String($0.output.1) }
    }

    /// Returns the classes of the legend's keys.
    static func legendKeys(in map: String) -> [String] {
        map.matches(of: /<li[^>]*><i class="((?:dot|line)[^"]*)"/).map { String($0.output.1) }
    }

    static let outwardLeg = Leg(seconds: 1200, north: 25)

    /// On a drawing with 75 m per pixel, 1 km is less than the width of two marks.
    @Test(
        arguments: [
            ([outwardLeg, Leg(seconds: 1160, north: -25)], ["end 10:39", "start 10:00"]),
            ([outwardLeg, Leg(seconds: 1160, north: -25), Leg(seconds: 90)], ["end 10:40", "start 10:00"]),
            ([outwardLeg, Leg(seconds: 1205, north: -25)], ["start and end"]),
            ([Leg(seconds: 90), outwardLeg, Leg(seconds: 1200, north: -25), Leg(seconds: 90)], ["start and end"]),
            ([Leg(seconds: 5)], ["start 10:00"]),
        ])
    func labelBothEnds(legs: [Leg], labels: [String]) throws {
        let map = try #require(TrackMap(Self.survey(of: legs)))
        #expect(Self.endLabels(in: MapDrawing(map, map.frame(for: .wide)).svg.text) == labels)
    }

    /// Three stops, of 90 s, 120 s and 60 s, that are too close together for separate marks.
    @Test func joinTheNumbersAndTimesOfStopsInOnePlace() throws {
        let step = Leg(seconds: 20, north: 20)
        let legs = [
            Self.outwardLeg, Leg(seconds: 95), step, Leg(seconds: 125), step, Leg(seconds: 65),
            Leg(seconds: 1200, north: 5, east: 20),
        ]
        let map = try #require(TrackMap(Self.survey(of: legs))).section.text
        #expect(map.contains(">1–3</text>") && map.contains(">4 min 30 s in total<"))
        #expect(Self.legendKeys(in: map) == ["dot start", "dot end", "dot stop"] && map.contains("several stops"))
    }

    @Test(
        arguments: [
            ([3], "3"), ([1, 2], "1–2"), ([4, 5, 6, 7], "4–7"), ([1, 5], "1, 5"), ([1, 3, 4], "1, 3…"),
            ([100, 102, 104], "100, 102…"),
        ] as [([Int], String)])
    func writeTheNumbersOfAMark(numbers: [Int], text: String) {
        #expect(StopMarks.Mark(point: PlanePoint(x: 0, y: 0), numbers: numbers).text == text)
    }

    /// The legend explains only the marks that are drawn.
    @Test func explainTheDrawnMarksOnly() throws {
        // The track begins and ends with a stop, and the gap is in the same place.
        let legs = [
            Leg(seconds: 90), Leg(seconds: 90, pause: 600), Self.outwardLeg, Leg(seconds: 1200, north: -25),
            Leg(seconds: 90),
        ]
        let map = try #require(TrackMap(Self.survey(of: legs))).section.text
        #expect(Self.legendKeys(in: map) == ["dot stop"], "\(Self.legendKeys(in: map))")
        let broken = try #require(
            TrackMap(Self.survey(of: [Self.outwardLeg, Leg(seconds: 900, north: 25, pause: 60)]))
        ).section
        #expect(Self.legendKeys(in: broken.text) == ["dot start", "dot end", "line gap"])
    }

    /// A vehicle without a heading is drawn as a disc.
    @Test(arguments: [nil, 90] as [Double?]) func explainTheVehicleAsItIsDrawn(heading: Double?) throws {
        var fix = Fix(timeOfFix: UTCTime(millisecondsSince1970: 0), latitude: 53.55, longitude: 10)
        fix.headingDegrees = heading
        let map = try #require(TrackMap(Self.survey(of: [Self.outwardLeg]), newest: fix)).section.text
        #expect(Self.legendKeys(in: map).contains(heading == nil ? "dot now disc" : "dot now"))
        #expect(!Self.legendKeys(in: map).contains(heading == nil ? "dot now" : "dot now disc"))
    }

    /// The legend of a growing track keeps its colours.
    @Test func keepTheColoursOfAMovingVehicle() throws {
        func speedLegend(for legs: [Leg]) throws -> [String] {
            let survey = Self.survey(of: legs)
            let newest = Fix(timeOfFix: UTCTime(millisecondsSince1970: 0), latitude: 53.55, longitude: 10)
            let map = try #require(TrackMap(survey, newest: newest)).section.text
            return map.matches(of: /<li><i class="(k\d"><\/i>[^<]*)</).map { String($0.output.1) }
        }
        let slow = try speedLegend(for: [Leg(seconds: 60, north: 3)])
        #expect(slow.count == SpeedScale.classCount)
        #expect(try speedLegend(for: [Leg(seconds: 60, north: 3), Leg(seconds: 60, north: 30)]) == slow)
    }

    /// The colours of speed would hide the reported track.
    @Test func drawTheTrackInGreyBelowTheReportedTrack() throws {
        let survey = Self.survey(of: [Self.outwardLeg])
        let places = [0, 1].map { index in
            let time = UTCTime(millisecondsSince1970: Int64(index) * 1000)
            let fix = Fix(timeOfFix: time, latitude: 53.55 + Double(index) / 10, longitude: 10)
            return ReportedPlace(fix, isLive: index == 0)
        }
        let map = try #require(TrackMap(survey, reported: places)).section.text
        #expect(map.contains("class=\"track plain\"") && !map.contains("share of"))
        for words in ["track of the log", "reported track", "update", "past location"] {
            #expect(map.contains("</i>\(words)<"), "no \(words)")
        }
        let alone = try #require(TrackMap(survey)).section.text
        #expect(!alone.contains("track plain") && alone.contains("share of") && !alone.contains("reported track"))
    }

    /// The band of a stop doesn't hide a gap without fixes.
    @Test func drawGapsOverTheBandOfAStop() throws {
        let legs = [
            Leg(seconds: 600, north: 10), Leg(seconds: 120), Leg(seconds: 120, pause: 1200),
            Leg(seconds: 600, north: 10),
        ]
        let section = try #require(TrackMap(Self.survey(of: legs))?.profileSection).text
        func spans(_ kind: String, of drawing: Substring) -> [ClosedRange<Double>] {
            drawing.matches(of: /<g class="(\w+)"><title>[^<]*<\/title><rect x="([\d.]+)" y="26" width="([\d.]+)"/)
                .filter { $0.output.1 == kind }
                .compactMap { match in
                    guard let x = Double(match.output.2), let width = Double(match.output.3) else { return nil }
                    return x + 0.05...x + width - 0.05
                }
        }
        let drawings = section.split(separator: "</svg>").filter { $0.contains("profile\"") }
        #expect(drawings.count == 2)
        for drawing in drawings {
            let stops = spans("standing", of: drawing)
            let pauses = spans("pause", of: drawing)
            #expect(stops.count == 1 && pauses.count == 1)
            #expect(stops[0].overlaps(pauses[0]))
            let first = try #require(drawing.firstRange(of: "class=\"standing\""))
            let second = try #require(drawing.firstRange(of: "class=\"pause\""))
            #expect(first.lowerBound < second.lowerBound, "the pause covers the stop")
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
        #expect(!map.contains("last position"))
        let gone = TrackMap.Vehicle(name: "van-3", newest: fixes[0], track: [fixes[0]], isCurrent: false)
        let both = try #require(TrackMap(of: vehicles + [gone])).section.text
        #expect(both.contains("vehicle now") && both.contains("last position") && both.contains("\"vehicle last\""))
        #expect(TrackMap(of: []) == nil)
        #expect(TrackMap(of: [TrackMap.Vehicle(name: "van", newest: fixes[0], track: [])]) == nil)
    }

    /// Each fix is a second after the previous one; speeds are in metres per second.
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
    func markShortStandstills(speeds: [Double], seconds: [Int]) {
        var survey = TrackSurvey()
        var unstated = TrackSurvey()
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
    func linkTheChartToTheTrack(drive: String) throws {
        let fixes = try Fixtures.fixes(of: drive)
        var survey = TrackSurvey()
        for fix in fixes { survey.add(fix) }
        let map = try #require(TrackMap(survey))
        let samples = map.chartSamples.map(\.sample)
        #expect(samples.count > 100 && samples.count < 540)
        #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.from < $1.from })
        for sample in samples {
            let nearest = fixes.min { one, other in
                abs(one.timeOfFix.millisecondsSince1970 - sample.from.millisecondsSince1970)
                    < abs(other.timeOfFix.millisecondsSince1970 - sample.from.millisecondsSince1970)
            }
            let fix = Fix(timeOfFix: sample.from, latitude: sample.latitude, longitude: sample.longitude)
            #expect(try #require(nearest).distance(to: fix) < 40)
        }
        let section = try #require(map.profileSection).text
        let places = section.matches(of: /data-x="\[([^\]]*)\]"/).map { $0.output.1.split(separator: ",").count }
        #expect(places == [samples.count, samples.count] && section.contains("max=\"\(samples.count - 1)\""))
    }

    /// A track of any shape fits both drawings, and both drawings fit a screen.
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
        for size in DrawingSize.allCases {
            let frame = map.frame(for: size)
            #expect(frame.height <= 504)
            for vertex in map.vertices {
                let pixel = frame.pixel(vertex.point)
                #expect(pixel.x >= 20 && pixel.x <= frame.width - 20 && pixel.y >= 20 && pixel.y <= frame.height - 20)
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
    /// Returns the distance to the nearest point of the line segment between two points.
    func distance(toSegmentFrom start: Self, to end: Self) -> Double {
        let segment = end - start
        let square = segment.x * segment.x + segment.y * segment.y
        guard square > 0 else { return (self - start).length }
        let share = ((x - start.x) * segment.x + (y - start.y) * segment.y) / square
        return (self - (start + segment * min(1, max(0, share)))).length
    }
}
