import FoundationEssentials
import Testing
import WaypostTestSupport

@testable import GNSS

/// The explanations of a log's lines.
@Suite(.enabled(if: !Sanitizer.isActive, "computes for a long time on one thread, as fuzzers do"))
struct LogTraces {
    private static func rmc(_ second: Int, ending: String = "A,5231.5,N,01324.25,E,1.0,90.0,050126,,,A") -> String {
        sentence("GPRMC,1015\(second).00,\(ending)")
    }
    private static func gga(_ second: Int, quality: Int = 1, position: String = "5231.6,N,01324.35,E") -> String {
        sentence("GPGGA,1015\(second).00,\(position),\(quality),08,0.9,34.5,M,46.9,M,,")
    }
    /// Five epochs, enough for the decoder to learn their last sentence.
    private static let epochsToLearnFrom = (30...34).map { gga($0) + rmc($0) }.joined()

    /// A log, the number of a line, and parts of its explanation.
    static let logs: [(String, Int, [String])] = [
        (
            epochsToLearnFrom, 2,
            [
                "gave the fix of 2026-01-05T10:15:30.000Z, which was released at GPGGA on line 3, where another epoch begins",
                "date: from this sentence", "speed, course from this sentence",
                "position, altitude, HDOP, geoid separation, satellites used, quality from GPGGA on line 1 (GGA has precedence over RMC)",
                "accuracy from the HDOP of GPGGA on line 1",
            ]
        ),
        (epochsToLearnFrom, 9, ["which was released at GPRMC on line 10, the last sentence of this receiver's epochs"]),
        (
            epochsToLearnFrom + sentence("GPVTG,90.0,T,,M,1.0,N,,K,A"), 11,
            ["epoch 10:15:34.000", "it arrived after its epoch was complete: none of its values was used"]
        ),
        (rmc(30), 1, ["which was released at the end of the log", "quality from this sentence"]),
        (
            gga(30) + rmc(30, ending: "V,,,,,,,050126,,,N"), 1,
            ["epoch 10:15:30.000: no fix: void according to GPRMC on line 2 (status V, mode N)"]
        ),
        (
            gga(30, quality: 8) + rmc(30), 2,
            ["no fix: simulated or entered by hand, according to GPGGA on line 1 (quality 8)"]
        ),
        (rmc(30, ending: "A,0000.0,N,00000.0,E,,,050126,,,A"), 1, ["no fix: its position is 0, 0"]),
        (rmc(30) + rmc(31) + rmc(30), 3, ["no fix: one of the last fixes has the same time"]),
        (
            gga(29) + gga(30) + rmc(31) + rmc(32), 1,
            [
                "gave the fix of 2026-01-05T10:15:29.000Z, which waited for a date until GPRMC on line 4",
                "date: from GPRMC on line 3",
            ]
        ),
        (gga(29), 1, ["epoch 10:15:29.000: no fix: no sentence contains a date"]),
        (gga(29) + gga(30) + gga(29) + rmc(31), 3, ["no fix: one of the last fixes has the same time"]),
        (gga(30) + Decoding.dateSentence(), 2, ["its date was used for the fix of 2026-01-05T10:15:30.000Z"]),
        (Decoding.dateSentence() + gga(30), 2, ["date: from GPZDA on line 1, which is close to the fix in time"]),
        (rmc(30) + gga(31), 2, ["date: from GPRMC on line 1, the last date before the fix"]),
        (
            TagBlocks.tagBlock("c:1767608131", before: gga(30)), 1,
            [
                "date: from the time of transmission in the tag block on line 1",
                "after a tag block, sent at 2026-01-05T10:15:31.000Z",
            ]
        ),
        (
            sentence("GPGLL,5231.5,N,01324.25,E,101530.00"), 1,
            ["no fix: none of its sentences confirms a position"]
        ),
        (sentence("GPRMC,,V,,,,,,,,,,N"), 1, ["no fix: no sentence of its epoch contains a time"]),
        (
            sentence("HEHDT,12.5,T") + rmc(30), 2, ["body heading from HEHDT on line 1"]
        ),
        (rmc(30) + sentence("GPGST,101530.00,5,,,,3.0,4.0,5.0"), 1, ["accuracy from GPGST on line 2"]),
        (
            sentence("GPGGA,101530.00,5231.6,N,01324.35,E,1,08,,,M,,M,,") + rmc(30)
                + sentence("GPGLL,5231.5,N,01324.25,E,101530.00,A,A"), 3, ["none of its values was needed"]
        ),
        ("# a note\n" + rmc(30), 1, ["a comment: ignored"]),
    ]

    private static func explanation(ofLine line: Int, in log: [UInt8]) -> [String] {
        var trace = LogTrace(lines: line...line)
        trace.read(log.span)
        trace.finish()
        return trace.explanation
    }

    @Test(arguments: logs)
    func explainALine(log: String, line: Int, parts: [String]) {
        let texts = Self.explanation(ofLine: line, in: Array(log.utf8))
        for part in parts { #expect(texts.contains { $0.contains(part) }, "\(texts.joined(separator: "\n"))") }
    }

    @Test func nameABinaryFrame() {
        let log =
            Framing.ubxFrame(payload: Array("\n$GPGLL,0100.0,N,00100.0,E,101530,A*2F\n".utf8))
            + Array(Self.epochsToLearnFrom.utf8)
        #expect(
            Self.explanation(ofLine: 2, in: log) == ["bytes of a UBX or RTCM frame, which is skipped by its length"])
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

    @Test func areSettledOnceTheExplanationCannotChange() {
        var trace = LogTrace(lines: 1...1)
        trace.read(Array(Self.epochsToLearnFrom.utf8).span)
        #expect(!trace.isSettled)  // a whole frame must fit into the bytes that are inspected
        trace.read(Array(repeating: UInt8(ascii: "\n"), count: 10_000).span)
        #expect(trace.isSettled)
    }

    static let recordedLogs: [String] = RecordedReceivers.logs
    static let generatedDrives = ["town", "tunnel", "midnight", "motorway", "parking", "tenHertz"]

    @Test(arguments: generatedDrives)
    func neverDisagreeWithTheDecoder(drive: String) throws {
        try checkAgreement(on: [UInt8](Data(contentsOf: Fixtures.url("nmea/\(drive).nmea"))))
    }

    @Test(.enabled(if: Fixtures.recordedReceivers != nil), arguments: recordedLogs)
    func neverDisagreeWithTheDecoderOnARecording(log: String) throws {
        try checkAgreement(on: try RecordedReceivers.bytes(of: log))
    }

    @Test func neverDisagreeWithTheDecoderOnAMixedStream() throws {
        try checkAgreement(on: MixedStream.bytes(seed: 3, seconds: 4 * MixedStream.kindCount))
    }

    /// Traces every line of `log` and compares the results with the decoder's.
    private func checkAgreement(on log: [UInt8]) throws {
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
            let meaning = SentenceReading(of: source.bytes).meaning ?? ""
            if meaning.hasPrefix("valid") { #expect(meaning.contains("position \(fix.latitude), \(fix.longitude)")) }
            #expect(epoch.dateSource != nil)
        }
        for sentence in trace.sentences {
            let epoch = sentence.epoch.flatMap { trace.epochs[$0] }
            let text = SentenceExplanation(sentence: sentence, epoch: epoch).lines.joined(separator: "\n")
            #expect(text.contains(": gave the fix of") == (epoch?.fix != nil))
        }
    }
}
