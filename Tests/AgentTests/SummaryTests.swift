import FoundationEssentials
import GNSSReceiver
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import WaypostCommand

@Suite struct Summary {
    static func summary(of paths: String...) async throws -> String {
        let (logs, total, _) = await LogSummary.summaries(of: try LogReader(paths: paths))
        return FixesSummary(logs: logs, total: total, now: now).text
    }

    /// A time in January 2027.
    private static let now = UTCTime(millisecondsSince1970: 1_800_000_000_000)

    /// A log of 2006 may be genuine, or from a receiver whose week number has rolled over.
    @Test(arguments: [("150806", "on 2026-03-31,"), ("150826", nil)])
    func notesDatesFrom1024WeeksAgo(date: String, note: String?) async throws {
        let directory = try TemporaryDirectory()
        let lines = [
            sentence("GPRMC,101500.00,A,5231.1234,N,01323.1234,E,1,9,\(date),,,A", ending: "\n"),
            sentence("GPRMC,101501.00,A,5231.1234,N,01323.1234,E,1,9,\(date),,,A", ending: "\n"),
        ]
        let text = try await Self.summary(of: try directory.write(lines.joined().utf8, to: "drive.log"))
        let plain = text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        let isNoted = note.map { plain.contains("if the log was recorded 1024 weeks later, \($0)") }
        #expect(isNoted ?? !plain.contains("1024 weeks"), "\(text)")
    }

    @Test func hasOneSectionPerLog() async throws {
        let path = Fixtures.url("nmea/tunnel.nmea").path
        #expect(
            try await Self.summary(of: path) == """
                \(path)
                  receiver     not named in the log
                  talkers      GN several constellations, GP GPS
                  sentences    1,680 in 1,680 lines, 91.9 kB
                               GNGGA 300  GNGLL 300  GNGSA 300  GNRMC 300  GNVTG 300  GPGSV 180
                  fixes        208 of 300 epochs; 92 without a position
                  time         2026-03-31 10:30:00 to 10:34:59 UTC, 4 min 59 s
                  distance     4.57 km
                  top speed    80.6 km/h (22.4 m/s)
                  accuracy     4.2 m on average, 8.5 m at worst
                  breaks       gap of 1 min 33 s, 10:31:39 to 10:33:12
                """)
    }

    @Test func endsWithTheTotalOfSeveralLogs() async throws {
        let (town, tunnel) = (Fixtures.url("nmea/town.nmea").path, Fixtures.url("nmea/tunnel.nmea").path)
        let text = try await Self.summary(of: town, tunnel, "/nonexistent.nmea")
        #expect(text.contains("\n\ntotal of 2 logs\n  fixes        808\n"))
        #expect(text.contains("1 gap of 1 min 33 s; time goes back once\n"))
        #expect(!text.contains("nonexistent"))
    }

    @Test func listsReceiverRejectionsAndWarnings() async throws {
        let directory = try TemporaryDirectory()
        let bodies = [
            "GPTXT,01,01,02,u-blox ag - www.u-blox.com", "GPGSV,1,1,00", "GPTXT,01,01,01,ANTSTATUS=OPEN",
            "GPTXT,01,01,01,ANTSTATUS=OPEN",
        ]
        let lines = bodies.map { sentence($0, ending: "\n") }
        let log = try directory.write((lines.joined() + "$GPGLL,1*00\n$GPGLL,1*00\n$GPGLL,1\n").utf8, to: "drive.log")
        let text = try await Self.summary(of: log)
        for words in [
            "receiver     u-blox ag - www.u-blox.com\n", "talkers      GP GPS\n",
            "rejected     2  wrong checksum, first on line 5\n",
            "             1  no checksum, on line 7 (--accept-missing-checksum accepts them)\n",
            "fixes        none in 0 epochs\n",
            "warnings     antenna line faulty: the receiver reports an open line; check the antenna,",
        ] {
            #expect(text.contains(words), "\"\(words)\" is missing from \(text)")
        }
    }

    @Test(.enabled(if: Fixtures.recordedReceivers != nil), arguments: RecordedLogs.names)
    func isAtMostAHundredColumnsWide(log: String) async throws {
        let directory = try #require(Fixtures.recordedReceivers)
        let path = directory.appending(path: "gpsd/\(log)").path
        let text = try await Self.summary(of: path)
        for line in text.split(separator: "\n").dropFirst() { #expect(line.count <= 100, "\(line)") }
        #expect(!text.contains(" 1 fixes") && !text.contains(" 1 lines") && !text.contains(" 1 epochs"))
    }

    @Test func saysIfThereIsNothingToSummarise() async throws {
        #expect(try await Self.summary() == "total of 0 logs\n  fixes        none")
    }
}

/// Logs of recorded receivers, which some machines have next to the checkout.
enum RecordedLogs {
    static let names: [String] = {
        guard let directory = Fixtures.recordedReceivers else { return [] }
        let names = try? FileManager.default.contentsOfDirectory(atPath: directory.appending(path: "gpsd").path)
        return (names ?? []).filter { $0.hasSuffix(".log") }.sorted()
    }()
}
