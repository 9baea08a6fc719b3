import FoundationEssentials
import GNSS
import Testing
import TimeAndChance
import WaypostTestSupport

/// Inputs rebuilt from public bug reports. They are not part of the project, so these tests run only on machines that
/// have them beside the checkout (`Fixtures.fieldCases`).
@Suite(.enabled(if: Fixtures.fieldCases != nil, "no field cases beside the checkout")) struct FieldCases {
    private static func outcome(_ file: String) throws -> (fixes: [Fix], statistics: DecoderStatistics) {
        let folder = try #require(Fixtures.fieldCases)
        return Decoding.outcome(of: [UInt8](try Data(contentsOf: folder.appending(path: file))))
    }

    /// Files, how many fixes they have, and the time of the first.
    static let cases: [(String, Int, String)] = [
        ("cold-start-date-1980.nmea", 40, "2026-11-20T09:00:00.000Z"), ("cr-only.nmea", 20, "2026-11-20T09:00:00.000Z"),
        ("date-only-in-void-rmc.nmea", 10, "2026-11-20T09:00:05.000Z"),
        ("gga-time-is-epoch-seconds.nmea", 5, "2026-11-20T09:00:00.000Z"),
        ("gll-local-time.nmea", 60, "2026-11-20T09:00:00.000Z"), ("gnsslogger.txt", 10, "2026-11-20T09:00:00.000Z"),
        ("lbe1421-rmc-tenths.nmea", 60, "2026-11-20T09:00:00.000Z"),
        ("lon-two-degree-digits.nmea", 10, "2026-11-20T09:00:00.000Z"),
        ("magvar-E-without-value.nmea", 10, "2026-11-20T09:00:00.000Z"),
        ("midnight-date-late.nmea", 40, "2026-12-31T23:59:40.000Z"),
        ("midnight-gga-first.nmea", 3, "2024-01-01T23:59:01.000Z"),
        ("modem-at-mixed.nmea", 10, "2026-11-20T09:00:00.000Z"),
        ("mux-second-receiver-void.nmea", 30, "2026-11-20T09:00:00.000Z"),
        ("overlong-precision.nmea", 10, "2026-11-20T09:00:00.000Z"),
        ("prefix-datagram.nmea", 10, "2019-05-09T17:00:00.000Z"),
        ("rmc-5hz-gga-1hz.nmea", 150, "2026-11-20T09:00:00.000Z"),
        ("rmc-status-L.nmea", 10, "2026-11-20T09:00:00.000Z"),
        ("space-in-course.nmea", 10, "2026-11-20T09:00:00.000Z"),
        ("spreadsheet-trailing-commas.nmea", 10, "2026-11-20T09:00:00.000Z"),
        ("stray-sentence-no-checksum.nmea", 10, "2026-11-20T09:00:00.000Z"),
        ("truncated-checksum-agrees.nmea", 10, "2026-11-20T09:00:00.000Z"),
        ("truncated-gga-before-rmc.nmea", 20, "2026-11-20T09:00:00.000Z"),
        ("utf8-bom.log", 20, "2026-11-20T09:00:00.000Z"),
    ]

    @Test(arguments: cases)
    func giveTheirFixes(file: String, count: Int, first: String) throws {
        let fixes = try Self.outcome("gnss/\(file)").fixes
        #expect(fixes.count == count)
        #expect(fixes.first?.timeOfFix.description.prefix(13) == first.prefix(13))
        #expect(zip(fixes, fixes.dropFirst()).allSatisfy { $0.timeOfFix < $1.timeOfFix })
    }

    /// One fix each second or fifth of it: none invented, none missing between the first and the last.
    @Test(arguments: [
        ("gll-local-time.nmea", 59), ("lbe1421-rmc-tenths.nmea", 59), ("midnight-date-late.nmea", 39),
        ("cold-start-date-1980.nmea", 39), ("mux-second-receiver-void.nmea", 29),
    ])
    func areWhole(file: String, seconds: Int) throws {
        let fixes = try Self.outcome("gnss/\(file)").fixes
        let (first, last) = (try #require(fixes.first), try #require(fixes.last))
        #expect(first.timeOfFix.duration(to: last.timeOfFix) == .seconds(seconds))
        #expect(fixes.allSatisfy { $0.speedMetersPerSecond != nil })
    }

    /// A datum that shifts by 4 cm, and text that has a start byte, are nothing to warn of.
    @Test(arguments: ["spreadsheet-trailing-commas.nmea", "modem-at-mixed.nmea", "min-dtm-p90.nmea", "min-bang.nmea"])
    func areNotWarnedOf(file: String) throws {
        let statistics = try Self.outcome("gnss/\(file)").statistics
        #expect(ReceiverWarning.allCases.allSatisfy { statistics.warnings($0).count == 0 })
        #expect(statistics.refusals(.missingChecksum).count == 0)
    }

    @Test(arguments: [
        ("lon-minus-E.nmea", "longitude out of range"), ("truncated-gga-before-rmc.nmea", "quality can't be read"),
    ])
    func nameWhatWasRejected(file: String, description: String) throws {
        #expect(try Self.outcome("gnss/\(file)").statistics.mostFrequentRejection?.description == description)
    }

    @Test func haveAnAccuracyWhereverTheHDOPIsStated() throws {
        let fixes = try Self.outcome("truth/c3-hdop-every-second-fix.nmea").fixes
        #expect(fixes.count == 60 && fixes.allSatisfy { $0.horizontalAccuracyMeters != nil })
    }
}
