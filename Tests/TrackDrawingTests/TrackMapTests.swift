import FoundationEssentials
import GNSS
import Testing
import TimeAndChance
import WaypostTestSupport

@testable import TrackDrawing

@Suite struct TrackMaps {
    static func decoded(_ drive: String) throws -> [Fix] {
        var decoder = NMEADecoder()
        var fixes: [Fix] = []
        let bytes = try [UInt8](Data(contentsOf: Fixtures.url("nmea/\(drive).nmea")))
        decoder.decode(bytes.span, receivedAt: .zero) { fixes.append($0) }
        decoder.finish { fixes.append($0) }
        return fixes
    }

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
        let fixes = try Self.decoded(drive)
        var survey = TrackSurvey()
        for fix in fixes { survey.add(fix) }
        let fitted = try #require(MapFrame.fitting(survey.drawn.line))
        let paths = TrackPaths(fitted.vertices, scale: SpeedScale(top: survey.speeds.usualTop))
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
        let fixes = try Self.decoded("town")
        for fix in fixes { survey.add(fix) }
        var vehicle = fixes[200]
        (vehicle.headingDegrees, vehicle.horizontalAccuracyMeters) = (90, 100)
        let map = try #require(TrackMap(survey, vehicle: vehicle, late: Array(fixes[10..<12]))).section.text
        for words in [
            "class=\"vehicle\"", " rotate(90)\"", "class=\"accuracy\"", "<use href=\"#late\"/>", "dot late", ">now 10:",
        ] {
            #expect(map.contains(words), "no \(words)")
        }
        #expect(!map.contains("class=\"end\"") && !map.contains("dot end"))
        vehicle.headingDegrees = nil
        #expect(try #require(TrackMap(survey, vehicle: vehicle)).section.text.contains("<circle r=\"7\"/>"))
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
