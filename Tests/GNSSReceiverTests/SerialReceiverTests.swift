import FoundationEssentials
import GNSS
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import GNSSReceiver

@Suite(.timeLimit(.minutes(1))) struct SerialReceivers {
    private let terminal: PseudoTerminal
    private let receiver: LiveReceiver

    init() throws {
        terminal = try PseudoTerminal()
        receiver = LiveReceiver.serial(device: terminal.path, baudRate: 9600)
    }

    @Test func deliverAFixForEachEpoch() async throws {
        let ending = try await observe(receiver) { observer in
            await observer.state(saying: "open at 9600 baud")
            for second in 1...3 {
                try terminal.send(epoch(second: second))
                let fix = try #require(await observer.fix())
                #expect(
                    fix.timeOfFix
                        == UTCTime(
                            year: 2026, month: 1, day: 5, millisecondOfDay: (10 * 3600 + 15 * 60 + second) * 1000))
            }
        }
        #expect(ending?.code == .cancelled)
    }

    @Test func deliverWarnings() async throws {
        try await observe(receiver) { observer in
            await observer.state(saying: "open at 9600 baud")
            try terminal.send(sentence("GPTXT,01,01,01,ANTSTATUS=SHORT"))
            while let event = await observer.next(), event != .warning(.antennaShort) {}
            #expect(observer.seen.last == .warning(.antennaShort))
        }
    }

    @Test func deliverTheSameFixesInPiecesOfAnyLength() async throws {
        let text = Array(epoch(second: 1).utf8)
        try await observe(receiver) { observer in
            await observer.state(saying: "open at 9600 baud")
            for cut in stride(from: 0, to: text.count, by: 7) {
                try terminal.send(Array(text[cut..<min(cut + 7, text.count)]))
            }
            #expect(await observer.state(saying: "receiving") != nil)
            #expect(await observer.fix() != nil)
        }
    }

    @Test func reportEachStateOnce() async throws {
        let directory = try TemporaryDirectory()
        let link = directory.path("usb-receiver")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: terminal.path)
        try await observe(LiveReceiver.serial(device: link, baudRate: 9600)) { observer in
            await observer.state(saying: "open at 9600 baud")
            for second in 1...5 {
                try terminal.send(epoch(second: second))
                if second == 1 { await observer.state(saying: "receiving") }
            }
            try FileManager.default.removeItem(atPath: link)
            terminal.unplug()
            await observer.state(saying: "no such device")
            // The line's absence may have replaced the report that it was lost.
            #expect(Set(observer.states).count == observer.states.count, "\(observer.states)")
            #expect(observer.states.count <= 4)
        }
    }

    @Test func findAReceiverThatReturnsUnderAnotherName() async throws {
        let directory = try TemporaryDirectory()
        let link = directory.path("usb-receiver")
        let receiver = LiveReceiver.serial(device: link, baudRate: 115_200)
        try await observe(receiver) { observer in
            await observer.state(saying: "no such device; plug the receiver in")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: terminal.path)
            await observer.state(saying: "open at 115200 baud")
            try terminal.send(epoch(second: 1))
            await observer.state(saying: "receiving")

            // The symbolic link is removed first, because another test may get the terminal's number at once.
            try FileManager.default.removeItem(atPath: link)
            terminal.unplug()
            await observer.state(saying: "no such device")
            let successor = try PseudoTerminal()
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: successor.path)
            await observer.state(saying: "open at 115200 baud")
            try successor.send(epoch(second: 2))
            #expect(await observer.state(saying: "receiving") != nil)
        }
    }

    @Test func reportASilentLineAndReopenItQuietly() async throws {
        let receiver = LiveReceiver.serial(device: terminal.path, baudRate: 9600, timeout: .milliseconds(300))
        try await observe(receiver) { observer in
            await observer.state(saying: "silent")
            try terminal.send(epoch(second: 1))
            await observer.state(saying: "receiving")
            #expect(observer.states.filter { $0.contains("silent") }.count == 1, "\(observer.states)")
        }
    }
}
