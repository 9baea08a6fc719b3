import GNSS
import ReportedText
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import GNSSReceiver

@Suite(.timeLimit(.minutes(1))) struct MissingPosition {
    private static let voidSentence = sentence("GPRMC,101500.000,V,,,,,,,050126,,,N")

    private let terminal: PseudoTerminal
    private let source: LiveReceiver

    init() throws {
        terminal = try PseudoTerminal()
        source = LiveReceiver(
            endpoint: SerialEndpoint(device: terminal.path, baudRate: 9600), decoder: SentenceDecoder(),
            positionTimeout: .milliseconds(50))
    }

    /// Six seconds of output without a date.
    private static let undatedSentences = (0..<7).map { second in
        sentence("GPGGA,10150\(second).000,4800.5000,N,01131.2000,E,1,08,1.1,520.0,M,47.0,M,,")
    }.joined()

    private static func receiverWithoutDates(_ terminal: PseudoTerminal, hostTime: UTCTime?) -> LiveReceiver {
        let release = UTCTime(year: 2026, month: 1, day: 1)
        let options = NMEADecoderOptions(
            dates: .repaired(reference: { release }, earliest: release, hostTime: { hostTime }))
        return LiveReceiver(
            endpoint: SerialEndpoint(device: terminal.path, baudRate: 9600),
            decoder: SentenceDecoder(NMEADecoder(options: options)))
    }

    @Test func isReportedForPositionsWithoutADate() async throws {
        try await observe(Self.receiverWithoutDates(terminal, hostTime: nil)) { observer in
            await observer.state(saying: "open at")
            try terminal.send(Self.undatedSentences)
            let state = await observer.state(saying: "positions arrive without a date")
            #expect(state == .waiting(source: ReportedText(terminal.path), .noDate))
            for second in 20...22 { try terminal.send(epoch(second: second)) }
            #expect(await observer.fix() != nil)
        }
    }

    @Test func isNotReportedIfTheHostCanDatePositions() async throws {
        let host = UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: 36_906_000)
        try await observe(Self.receiverWithoutDates(terminal, hostTime: host)) { observer in
            await observer.state(saying: "open at")
            try terminal.send(Self.undatedSentences)
            #expect(await observer.fix()?.timeOfFix.description.hasPrefix("2026-01-05T10:15:0") == true)
        }
    }

    /// The sentences that arrive, and the reported fault, which no antenna can remedy.
    @Test(arguments: [
        (
            sentence("GPGSV,1,1,01,01,40,083,46"),
            "sentences arrive, but none contains a position; turn on RMC and GGA in the receiver"
        ),
        (
            sentence("GPGSV,1,1,01,01,40,083,46")
                + String(repeating: voidSentence.replacing(",V,", with: ",A,"), count: 3),
            "sentences arrive, but many have a wrong checksum and none contains a position; check the cable"
        ),
        (
            sentence("AIVDM,1,1,,A,13u?etPv2;0n:dDPwUM1U1Cb069D,0", start: "!"),
            "AIS messages of other ships arrive, but no position of this vehicle; use the port of a GNSS receiver"
        ),
    ])
    func isBlamedOnTheSentencesIfNoneStatesAPosition(text: String, message: String) async throws {
        try await observe(source) { observer in
            await observer.state(saying: "open at")
            try terminal.send(text)
            #expect(await observer.state(saying: message)?.kind == .waiting)
            // Then the receiver starts to send RMC, but has no position yet.
            try terminal.send(Self.voidSentence)
            #expect(await observer.state(saying: "no position yet") != nil)
        }
    }

    /// Sentences that are all rejected, because the longitude has a sign and a letter.
    private static let signedLongitudes = (1...3).map { second in
        sentence("GPRMC,10150\(second),A,3403.0,N,-11814.5,E,19.4,90.0,050126,,,A")
    }.joined()

    @Test func isBlamedOnTheRejectedField() async throws {
        try await observe(source) { observer in
            await observer.state(saying: "open at")
            try terminal.send(Self.signedLongitudes)
            let message =
                "all sentences with a position are rejected: longitude out of range; record a minute of the receiver's "
                + "output and run waypost fixes --explain"
            #expect(await observer.state(saying: message)?.kind == .waiting)
            // Each state is a log line, so it isn't repeated.
            try terminal.send(Self.signedLongitudes)
            try terminal.send(Self.signedLongitudes)
            for second in 10...12 { try terminal.send(epoch(second: second)) }
            #expect(await observer.fix() != nil)
            #expect(observer.states.filter { $0.contains("all sentences") }.count == 1, "\(observer.states)")
        }
    }

    @Test func causesOneWarningPerPeriodOfRejections() {
        var decoder = SentenceDecoder()
        func warnings(after text: String) -> [ReceiverWarning] {
            _ = decoder.decode(Array(text.utf8).span, at: .zero) { _ in }
            var warnings: [ReceiverWarning] = []
            while let warning = decoder.takeWarning() { warnings.append(warning) }
            return warnings
        }
        #expect(warnings(after: Self.signedLongitudes) == [.positionsRejected])
        #expect(warnings(after: Self.signedLongitudes) == [])
        #expect(warnings(after: (10...12).map { epoch(second: $0) }.joined()) == [])
        // One rejected sentence isn't enough, because damage can leave a checksum correct by chance.
        #expect(warnings(after: String(Self.signedLongitudes.prefix(while: { $0 != "\r\n" })) + "\r\n") == [])
        #expect(warnings(after: (13...14).map { epoch(second: $0) }.joined() + Self.signedLongitudes) == [])
        #expect(warnings(after: Self.signedLongitudes + Self.signedLongitudes) == [.positionsRejected])
    }

    @Test func isReportedOnceUntilThereIsAPositionAndAgainWhenItIsLost() async throws {
        try await observe(source) { observer in
            await observer.state(saying: "open at")
            try terminal.send(Self.voidSentence)
            await observer.state(saying: "receiving, no position yet")
            for second in 1...2 { try terminal.send(epoch(second: second)) }
            #expect(await observer.fix() != nil)
            #expect(await observer.state(saying: "receiving, position lost") != nil)
            #expect(observer.states.filter { $0.contains("no position yet") }.count == 1, "\(observer.states)")
        }
    }
}
