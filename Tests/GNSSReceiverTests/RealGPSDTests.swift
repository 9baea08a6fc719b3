import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import GNSSReceiver

/// The real gpsd, if it is installed, with pseudo-terminals as receivers that are added and removed.
@Suite(.timeLimit(.minutes(1)), .enabled(if: GPSDaemon.programPath != nil, "gpsd is not installed"))
struct RealGPSD {
    private let daemon: GPSDaemon
    private let receiver: LiveReceiver

    init() throws {
        daemon = try GPSDaemon()
        receiver = LiveReceiver.gpsd(host: "127.0.0.1", port: daemon.port, timeout: .seconds(30))
    }

    /// Sends epochs, one at a time, until gpsd has reported `fixCount` fixes. While gpsd learns, it reports no fix for
    /// some epochs. Returns the seconds of the fixes.
    private func sendEpochs(
        to terminal: PseudoTerminal, fromSecond first: Int, fixCount: Int, _ observer: SourceObserver
    ) async throws -> [Int] {
        var seconds: [Int] = []
        var second = first
        while seconds.count < fixCount {
            let next = second
            second += 1
            // gpsd reports an epoch, or waits for the next one.
            let feeding = Task {
                for step in 0..<2 {
                    try terminal.send(epoch(second: (next + step) % 60, minute: 15 + (next + step) / 60))
                }
            }
            second += 1
            try await feeding.value
            guard let fix = await observer.fix() else { break }
            seconds.append(fix.timeOfFix.millisecondOfDay / 1000 % 3600 - 15 * 60)
        }
        return seconds
    }

    @Test func providesFixesAgainAfterItWasKilled() async throws {
        try await observe(receiver) { observer in
            for round in 0..<2 {
                #expect(await observer.state(saying: "has no receiver") != nil)
                let terminal = try PseudoTerminal()
                try await daemon.add(terminal.path)
                #expect(await observer.state(saying: "connected") != nil)
                let seconds = try await sendEpochs(to: terminal, fromSecond: round * 30, fixCount: 5, observer)
                #expect(seconds.count == 5 && seconds == Set(seconds).sorted(), "\(seconds)")
                daemon.kill()
                #expect(await observer.state(saying: "check that gpsd runs") != nil)
                try daemon.start()
            }
            #expect(observer.states.contains { $0.hasSuffix(": receiving") })
        }
    }

    @Test func continuesAfterItsReceiverIsRemovedAndAdded() async throws {
        let terminal = try PseudoTerminal()
        try await observe(receiver) { observer in
            await observer.state(saying: "has no receiver")
            for round in 0..<2 {
                try await daemon.add(terminal.path)
                // By the second round, the line is considered good.
                #expect(await observer.state(saying: round == 0 ? "connected" : "receiving") != nil)
                #expect(try await sendEpochs(to: terminal, fromSecond: round * 30, fixCount: 3, observer).count == 3)
                try await daemon.remove(terminal.path)
                #expect(await observer.state(saying: "has lost \(terminal.path); plug the device in") != nil)
            }
        }
    }

    @Test func staysWithOneOfTwoReceivers() async throws {
        let first = try PseudoTerminal()
        let second = try PseudoTerminal()
        try await observe(receiver) { observer in
            await observer.state(saying: "has no receiver")
            try await daemon.add(first.path)
            await observer.state(saying: "connected")
            #expect(try await sendEpochs(to: first, fromSecond: 0, fixCount: 2, observer).count == 2)
            try await daemon.add(second.path)
            // The time is half an hour ahead, so that the second receiver's fixes would be recognised.
            for step in 0..<5 { try second.send(epoch(second: step, minute: 45)) }
            let seconds = try await sendEpochs(to: first, fromSecond: 10, fixCount: 5, observer)
            #expect(seconds.allSatisfy { $0 < 60 }, "\(seconds)")
        }
    }

    @Test func usesTheConfiguredReceiver() async throws {
        let other = try PseudoTerminal()
        let wanted = try PseudoTerminal()
        let receiver = LiveReceiver.gpsd(
            host: "127.0.0.1", port: daemon.port, device: wanted.path, timeout: .seconds(30))
        try await observe(receiver) { observer in
            #expect(await observer.state(saying: "has neither \(wanted.path) nor any other receiver") != nil)
            try await daemon.add(other.path)
            #expect(await observer.state(saying: "has \(other.path), but not \(wanted.path)") != nil)
            for step in 0..<5 { try other.send(epoch(second: step, minute: 45)) }
            try await daemon.add(wanted.path)
            #expect(await observer.state(saying: "connected") != nil)
            let seconds = try await sendEpochs(to: wanted, fromSecond: 0, fixCount: 3, observer)
            #expect(seconds.allSatisfy { $0 < 60 }, "\(seconds)")
        }
    }
}
