import GNSS
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import GNSSReceiver

@Suite(.timeLimit(.minutes(1))) struct SlowConsumer {
    private let terminal: PseudoTerminal

    init() throws { terminal = try PseudoTerminal() }

    /// While the consumer delays the first fix, the test sends more than the kernel buffers for a terminal (640 KiB).
    /// The sending succeeds only if the line is read.
    @Test func neverBlocksTheLineButReceivesTheNewestFix() async throws {
        let receiver = LiveReceiver.serial(device: terminal.path, baudRate: 9600)
        let (gate, opener) = AsyncStream.makeStream(of: Never.self, bufferingPolicy: .bufferingNewest(1))
        let (events, sink) = AsyncStream.makeStream(of: FixSourceEvent.self, bufferingPolicy: .bufferingNewest(10_000))
        let running = Task {
            try await receiver.run { event in
                sink.yield(event)
                if case .fix = event { for await _ in gate {} }
            }
        }
        var seen = events.makeAsyncIterator()
        _ = await seen.next()  // the line is open
        try terminal.send(epoch(second: 0))
        while case .state = await seen.next() {}

        let count = 44 * 60
        let filler = "# \(String(repeating: "-", count: 400))\r\n"
        for number in 1...count { try terminal.send(epoch(second: number % 60, minute: 15 + number / 60) + filler) }
        opener.finish()
        let start = UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: (10 * 60 + 15) * 60_000)
        var numbers: [Int64] = []
        while numbers.last ?? 0 < count, let event = await seen.next() {
            if case .fix(let fix) = event { numbers.append(start.duration(to: fix.timeOfFix).components.seconds) }
        }
        #expect(numbers.last == Int64(count))
        // When the gate opens, the receiver's thread may lag, so a few older fixes may still arrive.
        #expect(numbers.count < 10, "old fixes were kept: \(numbers.count) of \(count)")
        running.cancel()
        _ = await running.result
    }
}
