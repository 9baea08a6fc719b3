import FoundationEssentials
import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

/// Inputs rebuilt from public bug reports. They are not part of the project, so these tests run only on machines that
/// have them next to the checkout (`Fixtures.fieldCases`).
@Suite(.enabled(if: Fixtures.fieldCases != nil, "no field cases next to the checkout")) struct FieldCases {
    private static func outcome(of file: String) throws -> (fixes: [Fix], statistics: DecoderStatistics) {
        let directory = try #require(Fixtures.fieldCases)
        return Decoding.outcome(of: [UInt8](try Data(contentsOf: directory.appending(path: file))))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let file: String
        let fixes: Int
        let times: [String]
        let latitude: Double
        let longitude: Double
        /// The speed of every fix in whole metres per second; `nil` if no fix has one.
        let speed: Double?

        init(
            _ file: String, fixes: Int, from first: String, to last: String, at place: (Double, Double),
            speed: Double?
        ) {
            self.file = file
            self.fixes = fixes
            times = [first, last]
            latitude = place.0
            longitude = place.1
            self.speed = speed
        }

        var testDescription: String { file }
    }

    /// Files with the number of fixes, the times of the first and last, the first position and the speed.
    static let cases = [
        Case(
            "cold-start-date-1980.nmea", fixes: 40, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:39.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "cr-only.nmea", fixes: 20, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:19.000Z",
            at: (48.5, 9.1),
            speed: 10),
        Case(
            "date-only-in-void-rmc.nmea", fixes: 10, from: "2026-11-20T09:00:05.000Z", to: "2026-11-20T09:00:14.000Z",
            at: (48.5, 9.1), speed: nil),
        Case(
            "gga-time-is-epoch-seconds.nmea", fixes: 5, from: "2026-11-20T09:00:00.000Z",
            to: "2026-11-20T09:00:04.000Z",
            at: (48.5, 9.1), speed: nil),
        Case(
            "gll-local-time.nmea", fixes: 60, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:59.000Z",
            at: (59.72, 24.73), speed: 10),
        Case(
            "gnsslogger.txt", fixes: 10, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:09.000Z",
            at: (48.5, 9.1),
            speed: 10),
        Case(
            "lbe1421-rmc-tenths.nmea", fixes: 60, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:59.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "leap-3s-back.nmea", fixes: 117, from: "2026-11-20T09:00:03.000Z", to: "2026-11-20T09:01:59.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "lon-two-degree-digits.nmea", fixes: 10, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:09.000Z",
            at: (44.01, -88.543), speed: 0),
        Case(
            "magvar-E-without-value.nmea", fixes: 10, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:09.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "midnight-date-late.nmea", fixes: 40, from: "2026-12-31T23:59:40.000Z", to: "2027-01-01T00:00:19.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "midnight-gga-first.nmea", fixes: 3, from: "2024-01-01T23:59:01.000Z", to: "2024-01-02T00:01:01.000Z",
            at: (35.145, 136.865), speed: 0),
        Case(
            "min-bang.nmea", fixes: 1, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:00.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "min-date-1980.nmea", fixes: 2, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:01.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "min-date-late.nmea", fixes: 3, from: "2026-12-31T23:59:59.000Z", to: "2027-01-01T00:00:01.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "min-dtm-p90.nmea", fixes: 1, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:00.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "min-gll-local.nmea", fixes: 2, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:01.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "min-mux-void.nmea", fixes: 1, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:00.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "min-space-course.nmea", fixes: 1, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:00.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "min-void-date.nmea", fixes: 1, from: "2026-11-20T09:00:01.000Z", to: "2026-11-20T09:00:01.000Z",
            at: (48.5, 9.1), speed: nil),
        Case(
            "modem-at-mixed.nmea", fixes: 10, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:09.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "mux-second-receiver-void.nmea", fixes: 30, from: "2026-11-20T09:00:00.000Z",
            to: "2026-11-20T09:00:29.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "overlong-precision.nmea", fixes: 10, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:09.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "prefix-datagram.nmea", fixes: 10, from: "2019-05-09T17:53:08.000Z", to: "2019-05-09T17:53:17.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "rmc-5hz-gga-1hz.nmea", fixes: 150, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:29.800Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "rmc-status-L.nmea", fixes: 10, from: "2026-11-20T09:00:05.000Z", to: "2026-11-20T09:00:14.000Z",
            at: (48.5, 9.101), speed: 10),
        Case(
            "space-in-course.nmea", fixes: 10, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:09.000Z",
            at: (47.49, 8.73), speed: 10),
        Case(
            "spreadsheet-trailing-commas.nmea", fixes: 10, from: "2026-11-20T09:00:00.000Z",
            to: "2026-11-20T09:00:09.000Z",
            at: (28.07, -82.42), speed: 10),
        Case(
            "stray-sentence-no-checksum.nmea", fixes: 10, from: "2026-11-20T09:00:00.000Z",
            to: "2026-11-20T09:00:09.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "truncated-checksum-agrees.nmea", fixes: 10, from: "2026-11-20T09:00:00.000Z",
            to: "2026-11-20T09:00:09.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "truncated-gga-before-rmc.nmea", fixes: 20, from: "2026-11-20T09:00:00.000Z",
            to: "2026-11-20T09:00:19.000Z",
            at: (48.5, 9.1), speed: 10),
        Case(
            "utf8-bom.log", fixes: 20, from: "2026-11-20T09:00:00.000Z", to: "2026-11-20T09:00:19.000Z",
            at: (48.5, 9.1),
            speed: 10),
    ]

    @Test(arguments: cases)
    func produceTheExpectedFixes(fieldCase: Case) throws {
        let fixes = try Self.outcome(of: "gnss/\(fieldCase.file)").fixes
        #expect(fixes.count == fieldCase.fixes)
        let first = try #require(fixes.first)
        let last = try #require(fixes.last)
        #expect([first.timeOfFix.description, last.timeOfFix.description] == fieldCase.times)
        #expect(
            abs(first.latitude - fieldCase.latitude) < 0.0006 && abs(first.longitude - fieldCase.longitude) < 0.0006)
        #expect(fixes.allSatisfy { $0.speedMetersPerSecond.map { $0.rounded() } == fieldCase.speed })
        #expect(zip(fixes, fixes.dropFirst()).allSatisfy { $0.timeOfFix < $1.timeOfFix })
    }

    /// A modem's answers instead of NMEA, and UTF-16.
    @Test(arguments: ["modem-cgpsinfo-only.nmea", "utf16le-bom.log"])
    func produceNoFix(file: String) throws { #expect(try Self.outcome(of: "gnss/\(file)").fixes.isEmpty) }

    /// The fixes span the whole file, and each has a speed.
    @Test(arguments: [
        ("gll-local-time.nmea", 59), ("lbe1421-rmc-tenths.nmea", 59), ("midnight-date-late.nmea", 39),
        ("cold-start-date-1980.nmea", 39), ("mux-second-receiver-void.nmea", 29),
    ])
    func spanTheWholeFile(file: String, seconds: Int) throws {
        let fixes = try Self.outcome(of: "gnss/\(file)").fixes
        let first = try #require(fixes.first)
        let last = try #require(fixes.last)
        #expect(first.timeOfFix.duration(to: last.timeOfFix) == .seconds(seconds))
        #expect(fixes.allSatisfy { $0.speedMetersPerSecond != nil })
    }

    /// A datum that shifts by 4 cm, and text with a start byte, cause no warning.
    @Test(arguments: ["spreadsheet-trailing-commas.nmea", "modem-at-mixed.nmea", "min-dtm-p90.nmea", "min-bang.nmea"])
    func causeNoWarning(file: String) throws {
        let statistics = try Self.outcome(of: "gnss/\(file)").statistics
        #expect(ReceiverWarning.allCases.allSatisfy { statistics.warnings($0).count == 0 })
        #expect(statistics.rejections(.missingChecksum).count == 0)
    }

    @Test(arguments: [
        ("lon-minus-E.nmea", "longitude out of range"), ("truncated-gga-before-rmc.nmea", "quality can't be read"),
    ])
    func nameTheRejectedField(file: String, description: String) throws {
        #expect(try Self.outcome(of: "gnss/\(file)").statistics.mostFrequentRejection?.description == description)
    }

    @Test func haveAnAccuracyIfTheHDOPIsReported() throws {
        let fixes = try Self.outcome(of: "truth/c3-hdop-every-second-fix.nmea").fixes
        #expect(fixes.count == 60 && fixes.allSatisfy { $0.horizontalAccuracyMeters != nil })
    }
}
