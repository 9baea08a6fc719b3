import GNSS
import Glibc
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import GNSSReceiver

/// A pseudo-terminal keeps the speed that its reader sets, and shows it to the other end. The tests send garbage unless
/// the speed is the receiver's.
@Suite(.timeLimit(.minutes(1))) struct BaudRateDetection {
    private let terminal: PseudoTerminal
    private static let garbage: [UInt8] = [0xFE, 0x00, 0x81, 0x24, 0x47, 0xF8, 0x2A, 0x00]

    init() throws { terminal = try PseudoTerminal() }

    private func receiver(trial: Duration) -> LiveReceiver {
        let endpoint = SerialEndpoint(device: terminal.path, search: BaudRateSearch(trial: trial))
        return LiveReceiver(endpoint: endpoint, decoder: SentenceDecoder())
    }

    @Test(arguments: [(9600, B9600, 0), (115_200, B115200, 1), (460_800, B460800, 6)])
    func findsTheRateAndUsesTheWholeFirstEpoch(baudRate: Int, speed: CInt, failedTrials: Int) async throws {
        try await observe(receiver(trial: .milliseconds(500))) { observer in
            while case .state(let state)? = await observer.next(), state.kind == .starting {
                try terminal.send(terminal.speed == UInt32(speed) ? Array(epoch(second: 1).utf8) : Self.garbage)
            }
            let found = "\(terminal.path): receiving at \(baudRate) baud (found; \"baudRate\": \(baudRate) in the "
            #expect(observer.states.last?.hasPrefix(found) == true, "\(observer.states)")
            #expect(observer.states.count == failedTrials + 2, "\(observer.states)")
            guard let fix = await observer.fix() else { return #expect(Bool(false), "no fix") }
            #expect(fix.timeOfFix.millisecondOfDay % 60_000 == 1000)
        }
    }

    @Test func reportsSentencesWithoutChecksumAfterARound() async throws {
        let bare = epoch(second: 1).replacing(/\*../, with: "")
        try await observe(receiver(trial: .milliseconds(100))) { observer in
            while case .state(let state)? = await observer.next(), state.kind == .starting { try terminal.send(bare) }
            #expect(observer.states.last?.contains(" baud, but without checksums") == true, "\(observer.states)")
        }
    }

    @Test func continuesAfterARoundWithoutSuccess() async {
        await observe(receiver(trial: .milliseconds(5))) { observer in
            #expect(await observer.state(saying: "silent at every usual baud rate") != nil)
            // A pseudo-terminal carries the bytes at any rate, like a USB device.
            let receiver = Task {
                while !Task.isCancelled {
                    try terminal.send(epoch(second: 1))
                    await Task.yield()
                }
            }
            #expect(await observer.state(saying: "receiving at") != nil)
            receiver.cancel()
        }
    }

    @Test func startsWithTheLastGoodRateWhenTheReceiverReturns() async throws {
        let directory = try TemporaryDirectory()
        let link = directory.path("receiver")
        unsafe symlink(terminal.path, link)
        let endpoint = SerialEndpoint(device: link, search: BaudRateSearch(trial: .milliseconds(500)))
        let source = LiveReceiver(endpoint: endpoint, decoder: SentenceDecoder())
        try await observe(source) { observer in
            await observer.state(saying: "now 115200")
            try terminal.send(epoch(second: 1))
            await observer.state(saying: "receiving at 115200 baud")
            unsafe unlink(link)
            terminal.unplug()
            await observer.state(saying: "no such device")
            let successor = try PseudoTerminal()
            unsafe symlink(successor.path, link)
            #expect(await observer.state(saying: "open at 115200 baud") != nil)
            #expect(successor.speed == UInt32(B115200))
        }
    }
}
