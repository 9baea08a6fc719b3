import FoundationEssentials
import LinuxPlatform
import Testing
import TimeAndRandomness
import WaypostTestSupport

/// Logs whose fixes contradict each other in every way: each command ends, and writes what was requested.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: !Sanitizer.isActive, "starts the program dozens of times, which takes seconds under a sanitizer")
)
struct BrokenTracks {
    enum Kind: String, Sendable, CaseIterable {
        case jumps, gaps, backward, stops, midnights, years, talkers, texts
    }

    /// The number of epochs, which is more than any list or sketch in a summary can hold.
    private static let epochCount = 10_000

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static func letters(encoding number: Int, count: Int) -> String {
        var (rest, text) = (number, "")
        for _ in 0..<count {
            text.unicodeScalars.append(Unicode.Scalar(UInt8(ascii: "A") + UInt8(rest % 26)))
            rest /= 26
        }
        return text
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Returns an RMC sentence `second` seconds after 2026-01-05, at whole degrees north.
    private static func rmcSentence(at second: Int, latitude: Int = 48, knots: Int = 20, talker: String = "GP")
        -> String
    {
        let time = UTCTime(millisecondsSince1970: 1_767_571_200_000 + Int64(second) * 1000)
        let (date, secondOfDay) = (time.civilDate, time.millisecondOfDay / 1000)
        let timeText = [secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60].map(twoDigits).joined()
        let dateText = [date.day, date.month, date.year % 100].map(twoDigits).joined()
        return sentence(
            "\(talker)RMC,\(timeText).00,A,\(latitude)00.0000,N,01100.0000,E,\(knots).0,90.0,\(dateText),,,A")
    }

    /// Returns ZDA and GGA sentences for a minute and second after midnight.
    private static func datedSentences(at time: String, year: String) -> String {
        sentence("GPZDA,00\(time).00,05,01,\(year),00,00")
            + sentence("GPGGA,00\(time).00,4800.0,N,01100.0,E,1,08,1.0,5.0,M,47.0,M,,")
    }

    private static func epoch(of kind: Kind, number: Int) -> String {
        switch kind {
        case .jumps: rmcSentence(at: number, latitude: number % 2 == 0 ? 48 : 78)
        case .gaps: rmcSentence(at: number / 2 * 3600 + number % 2)
        case .backward: rmcSentence(at: number % 2 == 0 ? number : -number)
        case .stops:
            rmcSentence(at: number / 4 * 300 + [0, 30, 65, 150][number % 4], latitude: 10 + number / 4 % 70, knots: 0)
        case .midnights: rmcSentence(at: number / 2 * 86_400 + 86_399 + number % 2)
        case .years:
            datedSentences(
                at: twoDigits(number / 60 % 60) + twoDigits(number % 60), year: ["1980", "2999", "2026"][number % 3])
        case .talkers:
            sentence("\(letters(encoding: number, count: 5)),1")
                + rmcSentence(at: number, talker: "G" + letters(encoding: number, count: 1))
        case .texts: sentence("GPTXT,01,01,02,receiver \(number)") + rmcSentence(at: number)
        }
    }

    @Test(arguments: Kind.allCases) func areProcessedInBoundedTime(kind: Kind) async throws {
        let text = (0..<Self.epochCount).map { Self.epoch(of: kind, number: $0) }.joined()
        let log = try directory.write(text.utf8, to: "\(kind).nmea")
        let page = directory.path("page.html")
        let commands =
            ["jsonl", "csv", "gpx", "geojson"].map { ["fixes", log, "--format", $0] }
            + [
                ["fixes", log, "--summary"], ["fixes", log, "--explain", "\(Self.epochCount)"],
                ["map", log, "-o", page],
            ]
        for words in commands {
            let outcome = try await ChildProcess(
                arguments: [BuiltProgram.waypost] + words, environment: BuiltProgram.environment,
                timeLimit: .seconds(120), outputLimit: 16 << 20
            ).run()
            #expect(
                outcome.ending == .exited(0),
                "\(words): \(String(decoding: outcome.standardError.suffix(500), as: UTF8.self))")
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.url.path).count == 2, "the log and the page")
    }
}
