import GNSS
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import GNSSReceiver

@Suite struct LineSessions {
    private var session = LineSession(decoder: SentenceDecoder(), watch: LineWatch(openedAt: .zero))

    @Test mutating func returnTheNewestOfSeveralFixes() {
        let text = (1...5).map { epoch(second: $0) }.joined() + epoch(second: 6).prefix(20)
        let fix = session.decode(Array(text.utf8).span, at: .seconds(1))
        #expect(fix.map { $0.timeOfFix.millisecondOfDay / 1000 % 60 } == 5)
        #expect(session.watch.condition(at: .seconds(1)) == .receiving)
    }

    @Test mutating func completeAnEpochWhenTheLineIsIdle() throws {
        #expect(session.decode(Array(epoch(second: 1).utf8).span, at: .seconds(1)) == nil)
        let wakeUp = session.nextWakeUp(after: .seconds(1))
        #expect(wakeUp > .seconds(1) && wakeUp <= .seconds(1.25))
        #expect(session.handleIdleLine(at: wakeUp - .milliseconds(1)) == nil)
        #expect(session.handleIdleLine(at: wakeUp) != nil)
    }

    /// An epoch without a date is held back however long the line is idle. This must not keep the thread busy.
    @Test mutating func areWokenOnceForAnEpochThatIsHeldBack() {
        let undated = sentence("GPGGA,101500.000,4810.5000,N,01131.2000,E,1,08,1.1,520.0,M,47.0,M,,")
        #expect(session.decode(Array(undated.utf8).span, at: .seconds(1)) == nil)
        #expect(session.handleIdleLine(at: .seconds(2)) == nil)
        #expect(session.nextWakeUp(after: .seconds(2)) == .seconds(6))
    }

    @Test mutating func completeAnEpochAtTheirEnd() {
        #expect(session.decode(Array(epoch(second: 1).utf8).span, at: .seconds(1)) == nil)
        #expect(session.finish() != nil)
    }

    @Test mutating func countSentencesWithoutChecksumIfTheyAreAccepted() {
        session = LineSession(
            decoder: SentenceDecoder(NMEADecoder(options: NMEADecoderOptions(acceptsMissingChecksum: true))),
            watch: LineWatch(openedAt: .zero))
        let text = (1...3).map { epoch(second: $0) }.joined().replacing(/\*../, with: "")
        #expect(session.decode(Array(text.utf8).span, at: .seconds(1)) != nil)
        #expect(session.watch.hasSentence)
    }

    @Test(arguments: [
        ("", BaudRateEvidence.silence), ("\u{7f}\u{1}~", .noise), ("\r\nERROR\r\n", .text),
        ("~~~", .noise), ("gw log\u{1}\u{2}in: \u{3}", .noise),
        ("$GPTXT,01,01,02,hello\r\n", .withoutChecksum),
        (epoch(second: 1).replacing(/\*../, with: ""), .withoutChecksum), (epoch(second: 1), .sentences),
    ])
    mutating func findEvidenceForTheRate(text: String, evidence: BaudRateEvidence) {
        if !text.isEmpty { _ = session.decode(Array(text.utf8).span, at: .seconds(1)) }
        #expect(session.evidence == evidence)
    }

    /// A Telnet server begins with options such as ECHO and TERMINAL TYPE (RFC 854).
    @Test mutating func readTheTextAfterTelnetOptions() {
        let options: [UInt8] = [0xFF, 0xFB, 0x01, 0xFF, 0xFD, 0x18]
        _ = session.decode((options + Array("\r\ngw login: ".utf8)).span, at: .seconds(1))
        #expect("\(session.silence)".contains("gw login: "), "\(session.silence)")
    }

    @Test mutating func returnTheSkyOncePerSecond() {
        session = LineSession(
            decoder: SentenceDecoder(NMEADecoder(options: NMEADecoderOptions(readsSky: true))),
            watch: LineWatch(openedAt: .zero))
        var skyCount = 0
        for tick in 0..<50 {
            let now = Duration.milliseconds(tick * 100)
            _ = session.decode(Array(sentence("GPGSV,1,1,01,01,40,083,46").utf8).span, at: now)
            if session.takeSky(at: now) != nil { skyCount += 1 }
        }
        #expect(skyCount == 5)
    }

    /// At 9600 baud the GSV sentences take half a second: the fix doesn't wait for them.
    @Test mutating func returnTheFixWithItsLastUsefulSentence() {
        let byteTime = Duration.seconds(1) / 960
        let inView = (1...6).map { part in
            sentence("GPGSV,6,\(part),24,01,40,083,46,02,17,308,41,12,07,344,39,14,22,228,45")
        }.joined()
        var fixes: [(sent: Duration, expected: Duration)] = []
        for second in 1...6 {
            let useful = Array(epoch(second: second).utf8)
            var now = Duration.seconds(second)
            for (index, byte) in (useful + Array(inView.utf8)).enumerated() {
                now += byteTime
                _ = session.handleIdleLine(at: now)  // completes an epoch whose last sentence isn't known yet
                guard session.decode([byte].span, at: now) != nil else { continue }
                // The fix doesn't wait for the line end.
                fixes.append((now, .seconds(second) + byteTime * (useful.count - 2)))
                #expect(index < useful.count, "the fix came with byte \(index) of the epoch")
            }
        }
        // The last sentence is learned from the first epochs.
        #expect(fixes.count >= 3)
        #expect(fixes.suffix(3).allSatisfy { $0.sent == $0.expected }, "\(fixes)")
    }
}
