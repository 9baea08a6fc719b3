import FoundationEssentials
import Testing
import WaypostTestSupport

@testable import GNSS

/// The explanations of a log's lines.
@Suite(.enabled(if: !Sanitizer.isActive, "computes for a long time on one thread, as fuzzers do"))
struct LogTraces {
    private static func minimum(_ second: Int, _ ending: String = "A,5231.5,N,01324.25,E,1.0,90.0,050126,,,A") -> String
    {
        sentence("GPRMC,1015\(second).00,\(ending)")
    }
    private static func data(_ second: Int, quality: Int = 1, position: String = "5231.6,N,01324.35,E") -> String {
        sentence("GPGGA,1015\(second).00,\(position),\(quality),08,0.9,34.5,M,46.9,M,,")
    }
    /// Five epochs, enough for the decoder to learn their last sentence.
    private static let learned = (30...34).map { data($0) + minimum($0) }.joined()

    /// A log, the number of a line, and parts of its explanation.
    static let logs: [(String, Int, [String])] = [
        (
            learned, 2,
            [
                "gave the fix of 2026-01-05T10:15:30.000Z, which was released at GPGGA in line 3, where another epoch begins",
                "date: from this sentence", "speed, course from this sentence",
                "position, altitude, HDOP, geoid separation, satellites used, quality from GPGGA in line 1 (GGA has precedence over RMC)",
                "accuracy from the HDOP of GPGGA in line 1",
            ]
        ),
        (learned, 9, ["which was released at GPRMC in line 10, the last sentence of this receiver's epochs"]),
        (
            learned + sentence("GPVTG,90.0,T,,M,1.0,N,,K,A"), 11,
            ["epoch 10:15:34.000", "it arrived after its epoch was complete: none of its values was used"]
        ),
        (minimum(30), 1, ["which was released at the end of the log", "quality from this sentence"]),
        (
            data(30) + minimum(30, "V,,,,,,,050126,,,N"), 1,
            ["epoch 10:15:30.000: no fix: void according to GPRMC in line 2 (status V, mode N)"]
        ),
        (
            data(30, quality: 8) + minimum(30), 2,
            ["no fix: simulated or entered by hand, according to GPGGA in line 1 (quality 8)"]
        ),
        (minimum(30, "A,0000.0,N,00000.0,E,,,050126,,,A"), 1, ["no fix: its position is 0, 0"]),
        (minimum(30) + minimum(31) + minimum(30), 3, ["no fix: one of the last fixes has the same time"]),
        (
            data(29) + data(30) + minimum(31) + minimum(32), 1,
            [
                "gave the fix of 2026-01-05T10:15:29.000Z, which waited for a date until GPRMC in line 4",
                "date: from GPRMC in line 3",
            ]
        ),
        (data(29), 1, ["epoch 10:15:29.000: no fix: no sentence contains a date"]),
        (data(29) + data(30) + data(29) + minimum(31), 3, ["no fix: one of the last fixes has the same time"]),
        (data(30) + Decoding.dateSentence(), 2, ["its date was used for the fix of 2026-01-05T10:15:30.000Z"]),
        (Decoding.dateSentence() + data(30), 2, ["date: from GPZDA in line 1, which is close to the fix in time"]),
        (minimum(30) + data(31), 2, ["date: from GPRMC in line 1, the last date before the fix"]),
        (
            TagBlocks.tagged("c:1767608131", data(30)), 1,
            [
                "date: from the time of transmission in the tag block in line 1",
                "after a tag block, sent at 2026-01-05T10:15:31.000Z",
            ]
        ),
        (
            sentence("GPGLL,5231.5,N,01324.25,E,101530.00"), 1,
            ["no fix: none of its sentences confirms a position"]
        ),
        (sentence("GPRMC,,V,,,,,,,,,,N"), 1, ["no fix: no sentence of its epoch contains a time"]),
        (
            sentence("HEHDT,12.5,T") + minimum(30), 2, ["body heading from HEHDT in line 1"]
        ),
        (minimum(30) + sentence("GPGST,101530.00,5,,,,3.0,4.0,5.0"), 1, ["accuracy from GPGST in line 2"]),
        (
            sentence("GPGGA,101530.00,5231.6,N,01324.35,E,1,08,,,M,,M,,") + minimum(30)
                + sentence("GPGLL,5231.5,N,01324.25,E,101530.00,A,A"), 3, ["none of its values was needed"]
        ),
        ("# a note\n" + minimum(30), 1, ["a comment: ignored"]),
    ]

    private static func explanation(_ log: [UInt8], _ line: Int) -> [String] {
        var trace = LogTrace(lines: line...line)
        trace.read(log.span)
        trace.finish()
        return trace.explanation
    }

    @Test(arguments: logs)
    func explainALine(log: String, line: Int, words: [String]) {
        let texts = Self.explanation(Array(log.utf8), line)
        for words in words { #expect(texts.contains { $0.contains(words) }, "\(texts.joined(separator: "\n"))") }
    }

    @Test func nameABinaryFrame() {
        let log =
            Framing.ubx(payload: Array("\n$GPGLL,0100.0,N,00100.0,E,101530,A*2F\n".utf8)) + Array(Self.learned.utf8)
        #expect(Self.explanation(log, 2) == ["bytes of a UBX or RTCM frame, which is skipped by its length"])
    }

    @Test func countLines() {
        for (text, lines) in [
            ("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2), ("a\rb\r", 2), ("a\rb", 2), ("a\r\nb\r\n", 2),
        ] {
            var trace = LogTrace(lines: 1...1)
            trace.read(Array(text.utf8).span)
            trace.finish()
            #expect(trace.lineCount == lines, "\(text)")
        }
    }

    @Test func endAsSoonAsTheExplanationIsSettled() {
        var trace = LogTrace(lines: 1...1)
        trace.read(Array(Self.learned.utf8).span)
        #expect(!trace.isSettled)  // a whole frame must fit into the bytes that are inspected
        trace.read(Array(repeating: UInt8(ascii: "\n"), count: 10_000).span)
        #expect(trace.isSettled)
    }

    static let recorded: [String] = RecordedReceivers.logs
    static let generated = ["town", "tunnel", "midnight", "motorway", "parking", "tenHertz"]

    @Test(arguments: generated)
    func neverDisagreeWithTheDecoder(drive: String) throws {
        try check([UInt8](Data(contentsOf: Fixtures.url("nmea/\(drive).nmea"))))
    }

    @Test(.enabled(if: Fixtures.recordedReceivers != nil), arguments: recorded)
    func neverDisagreeWithTheDecoderOnARecording(log: String) throws {
        try check(try RecordedReceivers.bytes(log))
    }

    @Test func neverDisagreeWithTheDecoderOnAMixedStream() throws {
        try check(MixedStream.bytes(seed: 3, seconds: 4 * MixedStream.kinds))
    }

    /// Traces every line of `log` and compares the results with the decoder's.
    private func check(_ log: [UInt8]) throws {
        let (fixes, statistics) = Decoding.outcome(of: log)
        var trace = LogTrace(lines: 1...Int.max)
        for start in stride(from: 0, to: log.count, by: 5000) {
            trace.read(log.span.extracting(start..<min(log.count, start + 5000)))
        }
        trace.finish()
        let epochs = trace.epochs.values.sorted { $0.serial < $1.serial }
        #expect(Set(epochs.compactMap(\.fix)) == Set(fixes))
        #expect(epochs.count { $0.fix != nil } == fixes.count)
        func count(_ completions: EpochCompletion...) -> Int {
            epochs.count { $0.fix == nil && $0.completion.map(completions.contains) ?? false }
        }
        #expect(count(.void, .excluded, .nullIsland) == statistics.epochs.void)
        #expect(count(.repeated) == statistics.epochs.repeated)
        #expect(count(.undated) == statistics.epochs.undated)
        #expect(
            trace.sentences.count { $0.rejection == nil || ($0.rejection?.rawValue ?? 0) > 4 } == statistics.sentences)
        for reason in SentenceRejection.allCases {
            #expect(
                trace.sentences.count { $0.rejection == reason } == statistics.rejections(reason).count, "\(reason)")
        }
        // The position is that of the sentence that the trace names as its source.
        let byPlace = Dictionary(uniqueKeysWithValues: trace.sentences.map { ($0.place, $0) })
        for epoch in epochs {
            guard let fix = epoch.fix else { continue }
            let source = try #require(epoch.sources[.position].flatMap { byPlace[$0] })
            let words = SentenceReading(of: source.bytes).meaning ?? ""
            if words.hasPrefix("valid") { #expect(words.contains("position \(fix.latitude), \(fix.longitude)")) }
            #expect(epoch.dateSource != nil)
        }
        for sentence in trace.sentences {
            let epoch = sentence.epoch.flatMap { trace.epochs[$0] }
            let text = SentenceExplanation(sentence: sentence, epoch: epoch).lines.joined(separator: "\n")
            #expect(text.contains(": gave the fix of") == (epoch?.fix != nil))
        }
    }
}
