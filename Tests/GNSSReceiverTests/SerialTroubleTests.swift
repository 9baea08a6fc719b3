import CLinux
import FoundationEssentials
import Glibc
import LinuxPlatform
import ReportedText
import Reporting
import Testing
import WaypostTestSupport

@testable import GNSSReceiver

@Suite(.timeLimit(.minutes(1))) struct SerialTrouble {
    private let terminal: PseudoTerminal

    init() throws { terminal = try PseudoTerminal() }

    /// Starts a program that has the line open and does nothing; `prepare` is called with the open line.
    private func startIdleHolder(prepare: (CInt) throws -> Void = { _ in }) throws -> RunningProgram {
        let line = try OwnedDescriptor(opening: terminal.path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
        try prepare(line.raw)
        let program = try RunningProgram(["sleep", "60"], input: line.raw)
        _ = consume line
        return program
    }

    @Test func noiseIsBlamedOnTheBaudRate() async throws {
        let receiver = LiveReceiver.serial(device: terminal.path, baudRate: 4800, timeout: .milliseconds(300))
        await observe(receiver) { observer in
            let noise = Task {
                while !Task.isCancelled {
                    try terminal.send([0xFE, 0x00, 0x81, 0x24, 0x47])
                    await Task.yield()
                }
            }
            #expect(await observer.state(saying: "check baudRate, now 4800 (\"automatic\" finds the right one)") != nil)
            noise.cancel()
        }
    }

    /// A modem or a console sends at the right rate, but isn't a receiver.
    @Test(arguments: ["\r\nERROR\r\n", "\r\ngw login: "])
    func readableTextIsBlamedOnThePort(text: String) async throws {
        let receiver = LiveReceiver.serial(device: terminal.path, baudRate: 9600, timeout: .milliseconds(300))
        await observe(receiver) { observer in
            let sending = Task {
                while !Task.isCancelled {
                    try terminal.send(text)
                    await Task.yield()
                }
            }
            let message = "readable text arrives, so baudRate 9600 is right, but no NMEA sentence for at least 0 s; "
            #expect(await observer.state(saying: message) != nil)
            sending.cancel()
        }
    }

    @Test(
        arguments: [
            ("gpsd", .gpsd), ("ModemManager", .modemManager), ("agetty", .loginConsole("ttyS0")), ("brltty", .brltty),
            ("waypost", .waypost("kill 7")), ("minicom", .other), (nil, .other),
        ] as [(String?, DeviceHolders.Program)])
    func aHolderIsRecognisedByItsCommand(command: String?, program: DeviceHolders.Program) {
        let holder = HoldingProcess(processID: 7, command: command)
        #expect(DeviceHolders.Program(holder, device: "/dev/ttyS0") == program)
    }

    @Test func theHolderOfABusyDeviceIsNamed() async throws {
        let holder = try SerialLine(path: terminal.path, baudRate: 9600)
        await observe(LiveReceiver.serial(device: terminal.path, baudRate: 9600)) { observer in
            let state = await observer.state(saying: "held by")
            #expect(state.map { "\($0)".hasPrefix("\(terminal.path): held by ") } == true)
            #expect(state.map { "\($0)".contains("(process \(ProcessInfo.processInfo.processIdentifier))") } == true)
        }
        withExtendedLifetime(holder) {}
    }

    @Test func otherHoldersOfTheLineAreNamed() async throws {
        let other = try startIdleHolder()
        let receiver = LiveReceiver.serial(device: terminal.path, baudRate: 9600, timeout: .milliseconds(40))
        await observe(receiver) { observer in
            #expect(await observer.state(saying: "also open in sleep (process \(other.processID))") != nil)
        }
    }

    @Test(.enabled(if: GPSDaemon.programPath != nil, "gpsd is not installed"))
    func aDaemonThatReadsTheLineIsNamedWithItsRemedy() async throws {
        let reservation = try LoopbackSocket.reservation()
        let daemon = try RunningProgram([
            GPSDaemon.programPath ?? "gpsd", "-b", "-N", "-n", "-S", "\(reservation.port)", terminal.path,
        ])
        await yieldTurns { !HoldingProcess.others(withDevice: terminal.path).isEmpty }
        let receiver = LiveReceiver.serial(device: terminal.path, baudRate: 9600, timeout: .milliseconds(40))
        await observe(receiver) { observer in
            let message = "also open in gpsd (process \(daemon.processID)); read from gpsd instead (receiver.type gpsd)"
            #expect(await observer.state(saying: message) != nil)
        }
    }

    @Test func aProgramWithExclusiveAccessIsNamed() async throws {
        let other = try startIdleHolder()
        let exclusive = try OwnedDescriptor(opening: terminal.path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
        clinux_set_exclusive(exclusive.raw)
        await observe(LiveReceiver.serial(device: terminal.path, baudRate: 9600)) { observer in
            #expect(await observer.state(saying: "held by sleep (process \(other.processID)); stop the program") != nil)
        }
        _ = consume exclusive
    }

    @Test func aProgramThatHasLockedTheLineIsNamed() async throws {
        // The lock passes to the process, which has the same open file.
        let other = try startIdleHolder { line in
            try valueOrSystemError("flock") { flock(line, LOCK_EX | LOCK_NB) }
        }
        await observe(LiveReceiver.serial(device: terminal.path, baudRate: 9600)) { observer in
            #expect(await observer.state(saying: "held by sleep (process \(other.processID)); stop the program") != nil)
        }
    }

    @Test(arguments: [
        ("/dev/no-such-receiver", 9600, "/dev/no-such-receiver: no such device; plug the receiver in"),
        ("/dev/null", 9600, "/dev/null: not a serial port"), ("/tmp", 9600, "/tmp: not a serial port"),
        (
            "/dev/null", 12,
            "/dev/null: baud rate 12 is not supported; use 4800, 9600, 19200, 38400, 57600, 115200, "
                + "230400, 460800 or 921600"
        ),
    ])
    func isReportedAsAStateWithAReason(device: String, baudRate: Int, message: String) async throws {
        let ending = await observe(LiveReceiver.serial(device: device, baudRate: .fixed(baudRate))) { observer in
            #expect(await observer.state(saying: message) != nil)
        }
        #expect(ending?.code == .cancelled)
    }

    @Test(arguments: [Stage.missing, .waiting, .receiving])
    func cancellingEndsAtOnceAndReleasesTheLine(stage: Stage) async throws {
        let device = stage == .missing ? "/dev/no-such-receiver" : terminal.path
        var cancelled: ContinuousClock.Instant?
        let ending = try await observe(LiveReceiver.serial(device: device, baudRate: 9600)) { observer in
            await observer.state(saying: stage == .missing ? "no such device" : "open at 9600 baud")
            if stage == .receiving {
                try terminal.send(epoch(second: 1))
                await observer.state(saying: "receiving")
            }
            cancelled = .now
        }
        let elapsed = try #require(cancelled).duration(to: .now)
        #expect(ending?.code == .cancelled)
        #expect(elapsed < .seconds(1), "took \(elapsed)")  // milliseconds, but not on a busy machine
        if stage != .missing { _ = try SerialLine(path: device, baudRate: 9600) }  // the line is free
    }

    enum Stage: Sendable { case missing, waiting, receiving }
}
