import GNSS
import LocationReporting
import Testing
import WaypostTestSupport

@testable import GNSSReceiver

@Suite(.timeLimit(.minutes(1))) struct MissingPosition {
    private static let void = sentence("GPRMC,101500.000,V,,,,,,,050126,,,N")

    private let terminal: PseudoTerminal
    private let source: LiveReceiver

    init() throws {
        terminal = try PseudoTerminal()
        source = LiveReceiver(
            endpoint: SerialEndpoint(device: terminal.path, baudRate: 9600), decoder: SentenceDecoder(),
            positionPatience: .milliseconds(50))
    }

    @Test func isToldOnceUntilThereIsOneAndAgainWhenItIsLost() async throws {
        try await observe(source) { observer in
            await observer.state(saying: "open at")
            try terminal.send(Self.void)
            await observer.state(saying: "receiving, no position yet: antenna and sky view")
            for second in 1...2 { try terminal.send(epoch(second: second)) }
            #expect(await observer.fix() != nil)
            #expect(await observer.state(saying: "receiving, no position any more: antenna and sky view") != nil)
            #expect(observer.states.filter { $0.contains("no position yet") }.count == 1, "\(observer.states)")
        }
    }
}
