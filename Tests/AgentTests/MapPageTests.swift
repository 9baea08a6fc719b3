import FoundationEssentials
import GNSS
import GNSSReceiver
import LinuxPlatform
import Testing
import TimeAndRandomness
import TrackDrawing
import WaypostTestSupport

@testable import LogReports
@testable import WaypostCommand

@Suite struct MapPages {
    static func page(
        _ fixes: [Fix], name: String = "drive.nmea", failure: String? = nil,
        now: UTCTime = UTCTime(year: 2026, month: 11, day: 21)
    ) -> String? {
        var survey = TrackSurvey()
        for fix in fixes { survey.add(fix) }
        let log = LogOutcome(name: name, statistics: NMEADecoder().statistics)
        let page = MapPage(logs: [log], survey: survey, failure: failure, now: now)
        return page.bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(.enabled(if: Fixtures.recordedReceivers != nil), arguments: RecordedLogs.names)
    func showEveryRecordedReceiverThatHasAFix(log: String) async throws {
        let recorded = try #require(Fixtures.recordedReceivers).appending(path: "gpsd/\(log)").path
        let (decoding, fixes) = try await LogReader(paths: [recorded]).read { reader in
            var fixes: [Fix] = []
            let decoding = reader.decodeAll(progress: .silent) { chunk throws(SystemError) in fixes += chunk.fixes }
            return (decoding, fixes)
        }
        #expect(decoding.failure == nil)
        let page = Self.page(fixes, name: log)
        #expect((page == nil) == fixes.isEmpty)
    }

    @Test func showTheTrackItsGapAndItsFigures() throws {
        let page = try #require(try Self.page(Fixtures.fixes(of: "tunnel")))
        for words in [
            "<!doctype html>", "<title>drive.nmea - Waypost</title>", "4.57 km", "80.6 km/h", "208",
            "gap of 1 min 33 s",
            "class=\"link gap\"", "Speed, km/h", "Altitude above sea level, m", "10:33:30", "start 10:30", "</html>",
        ] {
            #expect(page.contains(words), "no \(words)")
        }
    }

    @Test func showStops() throws {
        let page = try #require(try Self.page(Fixtures.fixes(of: "parking")))
        #expect(page.contains(">Stop 1</td>") && page.contains("class=\"stop\""))
        let town = try #require(try Self.page(Fixtures.fixes(of: "town")))
        #expect(town.contains("class=\"halt\"") && town.contains("3 under a minute") && !town.contains(">Stop 1<"))
        // The start, each stop and the end have a row in the table, with a link to the place.
        let rows = town.matches(of: /<td data-label="">([^<]*)<\/td>.*?<a href/).map { String($0.output.1) }
        #expect(rows == ["Start", "Short stop", "Short stop", "Short stop", "End"])
    }

    /// The warning is the same as in `fixes --summary`.
    @Test(arguments: [(2026, false), (2046, true)]) func noteDatesFrom1024WeeksAgo(year: Int, isOld: Bool) throws {
        let page = try #require(
            try Self.page(Fixtures.fixes(of: "town"), now: UTCTime(year: year, month: 11, day: 21)))
        #expect(page.contains("if the log was recorded 1024 weeks later, on 2045-11-14, the receiver") == isOld)
        #expect(page.contains("class=\"warnings\"") == isOld)
    }

    @Test func linkStartStopsAndEndToAWorldMap() throws {
        let page = try #require(try Self.page(Fixtures.fixes(of: "parking")))
        let links = page.matches(of: /<a href="https:\/\/www\.openstreetmap\.org\/[^"]*" rel="noreferrer">/)
        #expect(links.count == 3, "one per row of the table")
    }

    @Test func includeAScriptOnlyWithAChart() throws {
        let page = try #require(try Self.page(Fixtures.fixes(of: "town")))
        #expect(page.contains("script-src 'unsafe-inline'") && page.contains("type=\"range\""))
        #expect(page.contains("<div class=\"place\" hidden>"), "the slider needs the script")
        let single = try #require(Self.page([Self.fix(at: 0, latitude: 53.55, longitude: 10)]))
        #expect(!single.contains("<script") && !single.contains("script-src") && !single.contains("type=\"range\""))
    }

    @Test func loadNoExternalResources() throws {
        let page = try #require(try Self.page(Fixtures.fixes(of: "town")))
        let loaded = page.replacing("href=\"https://www.openstreetmap.org/", with: "").replacing(
            "link.href = `https://www.openstreetmap.org/", with: "")
        for word in ["http:", "https:", "<link", "@import", "url(", "src=", "fetch(", "import(", "XMLHttpRequest"] {
            #expect(!loaded.contains(word), "\(word) loads something")
        }
        #expect(page.contains("default-src 'none'") && !page.contains("connect-src"))
    }

    @Test func areWellFormed() throws {
        for drive in ["town", "tunnel", "parking"] {
            let page = try #require(
                try Self.page(Fixtures.fixes(of: drive), name: "<a & \"b\">\u{7}.nmea", failure: "cut <off>"))
            var open: [Substring] = []
            for match in page.matches(of: /<(\/?)([a-z0-9]+)[^>]*?(\/?)>/)
            where !["meta", "input"].contains(match.output.2) {
                let (slash, name) = (match.output.1, match.output.2)
                if slash.isEmpty {
                    if match.output.3.isEmpty { open.append(name) }
                } else {
                    let last = open.popLast()
                    #expect(last == name)
                }
            }
            #expect(open.isEmpty, "\(open)")
            #expect(!page.contains("<a &") && !page.contains("cut <off>") && !page.contains("\u{7}"))
            #expect(page.contains("&lt;a &amp; &quot;b&quot;&gt;\u{FFFD}.nmea"))
            #expect(!page.contains("nan") && !page.contains("inf\""))
        }
    }

    static let rareTracks: [(String, [Fix])] = [
        ("one fix", [fix(at: 0, latitude: 53.55, longitude: 10)]),
        ("two in one place", [fix(at: 0, latitude: 53.55, longitude: 10), fix(at: 1, latitude: 53.55, longitude: 10)]),
        (
            "the date line",
            [
                fix(at: 0, latitude: -16.8, longitude: 179.9995), fix(at: 1, latitude: -16.8, longitude: -179.9999),
                fix(at: 2, latitude: -16.8, longitude: -179.999),
            ]
        ),
        (
            "the pole",
            [
                fix(at: 0, latitude: 89.9999, longitude: 10), fix(at: 1, latitude: 90, longitude: 0),
                fix(at: 2, latitude: 89.9999, longitude: -170),
            ]
        ),
        (
            "both ends of the earth",
            [
                fix(at: 0, latitude: 10, longitude: 10), fix(at: 1, latitude: -10, longitude: -170),
                fix(at: 100_000, latitude: 10, longitude: 10),
            ]
        ),
        (
            "time that goes back",
            [
                fix(at: 100, latitude: 53.55, longitude: 10), fix(at: 0, latitude: 53.55, longitude: 10),
                fix(at: 0, latitude: 53.56, longitude: 10),
            ]
        ),
        (
            "decades",
            [
                fix(at: 0, latitude: 53.55, longitude: 10), fix(at: 1_400_000_000, latitude: 53.55, longitude: 10),
                fix(at: 1_400_000_001, latitude: 53.55, longitude: 10),
            ]
        ),
    ]

    static func fix(at seconds: Int64, latitude: Double, longitude: Double) -> Fix {
        Fix(timeOfFix: UTCTime(millisecondsSince1970: seconds * 1000), latitude: latitude, longitude: longitude)
    }

    @Test(arguments: rareTracks) func drawRareTracks(name: String, fixes: [Fix]) throws {
        for speed in [nil, 0, 12.5] as [Double?] {
            let page = try #require(
                Self.page(
                    fixes.map { fix in
                        var fix = fix
                        fix.speedMetersPerSecond = speed
                        return fix
                    }))
            #expect(!page.contains("nan"))
            #expect(page.utf8.count < 50_000)
        }
    }

    @Test func requireAFix() { #expect(Self.page([]) == nil) }
}
