import CLinux
import FoundationEssentials
import Glibc
import LinuxPlatform
import LocationReporting
import Testing
import WaypostTestSupport

@testable import GNSSReceiver

@Suite(.timeLimit(.minutes(1))) struct SerialTrouble {
    @Test func noiseIsBlamedOnTheBaudRate() async throws {
        let terminal = try PseudoTerminal()
        let receiver = SerialReceiver(device: terminal.path, baudRate: 4800, patience: .milliseconds(40))
        await observe(receiver) { observer in
            await observer.state(saying: "open at 4800 baud")
            let noise = Task {
                while !Task.isCancelled {
                    try terminal.send([0xFE, 0x00, 0x81, 0x24, 0x47])
                    await Task.yield()
                }
            }
            #expect(await observer.state(saying: "check baudRate, now 4800") != nil)
            noise.cancel()
        }
    }

    @Test func aBusyDeviceNamesItsHolder() async throws {
        let terminal = try PseudoTerminal()
        let holder = try SerialLine(path: terminal.path, baudRate: 9600)
        await observe(SerialReceiver(device: terminal.path, baudRate: 9600)) { observer in
            let state = await observer.state(saying: "is held by")
            #expect(state?.description.contains("(process \(ProcessInfo.processInfo.processIdentifier))") == true)
        }
        withExtendedLifetime(holder) {}
    }

    @Test func whoElseHasTheLineOpenIsTold() async throws {
        let terminal = try PseudoTerminal()
        let other = try ChildProcess(["sleep", "60"], input: terminal.path)
        let receiver = SerialReceiver(device: terminal.path, baudRate: 9600, patience: .milliseconds(40))
        await observe(receiver) { observer in
            #expect(await observer.state(saying: "also open in sleep (process \(other.processID))") != nil)
        }
    }

    @Test func aProgramThatKeepsTheLineToItselfIsNamed() async throws {
        let terminal = try PseudoTerminal()
        let other = try ChildProcess(["sleep", "60"], input: terminal.path)
        let exclusive = try OwnedDescriptor(opening: terminal.path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
        clinux_set_exclusive(exclusive.raw)
        await observe(SerialReceiver(device: terminal.path, baudRate: 9600)) { observer in
            #expect(await observer.state(saying: "is held by sleep (process \(other.processID)); stop it") != nil)
        }
        _ = consume exclusive
    }

    @Test(arguments: [
        ("/dev/no-such-receiver", 9600, "/dev/no-such-receiver is not there; plug the receiver in"),
        ("/dev/null", 9600, "/dev/null is not a serial line"), ("/tmp", 9600, "/tmp is not a serial line"),
        (
            "/dev/null", 12,
            "12 is not a baud rate of a receiver; use 4800, 9600, 19200, 38400, 57600, 115200, "
                + "230400, 460800 or 921600"
        ),
    ])
    func isAStateWithAReason(device: String, baudRate: Int, words: String) async throws {
        let ending = await observe(SerialReceiver(device: device, baudRate: baudRate)) { observer in
            #expect(await observer.state(saying: words) != nil)
        }
        #expect(ending?.code == .cancelled)
    }

    @Test(arguments: [Stage.missing, .waiting, .receiving])
    func cancellingEndsAtOnceAndGivesTheLineBack(stage: Stage) async throws {
        let terminal = try PseudoTerminal()
        let device = stage == .missing ? "/dev/no-such-receiver" : terminal.path
        var cancelled: ContinuousClock.Instant?
        let ending = try await observe(SerialReceiver(device: device, baudRate: 9600)) { observer in
            await observer.state(saying: stage == .missing ? "is not there" : "open at 9600 baud")
            if stage == .receiving {
                try terminal.send(epoch(second: 1))
                await observer.state(saying: "receiving")
            }
            cancelled = .now
        }
        let elapsed = try #require(cancelled).duration(to: .now)
        #expect(ending?.code == .cancelled)
        #expect(elapsed < .milliseconds(200), "took \(elapsed)")
        if stage != .missing { _ = try SerialLine(path: device, baudRate: 9600) }  // nobody has it any more
    }

    enum Stage: Sendable { case missing, waiting, receiving }
}
