import CLinux
import FoundationEssentials
import Glibc
import LinuxPlatform
import ReceiverSimulator
import TimeAndChance
import WaypostTestSupport

/// A receiver on a pseudo-terminal, in a vehicle on a motorway: epochs of a few hundred bytes, as a u-blox sends them.
struct EpochFeed {
    private let terminal: PseudoTerminal
    private var drive: Drive

    /// The drive begins some hours ago: a live receiver's times must be neither before the release nor in the future.
    init(hoursAgo: Int = 6) throws {
        terminal = try PseudoTerminal()
        let now = Int64(Date().timeIntervalSince1970)
        drive = Drive(
            .motorway, start: UTCTime(millisecondsSince1970: (now - Int64(hoursAgo) * 3600) * 1000),
            duration: .seconds(hoursAgo * 3600), satellitesInViewEvery: 1)
    }

    /// For a reader that does not set up the line itself: no echo, every byte as it comes.
    func makeRaw() throws {
        let line = try OwnedDescriptor(opening: device, O_RDWR | O_NOCTTY)
        try Self.makeRaw(line.raw, device)
    }

    static func makeRaw(_ raw: CInt, _ device: String) throws {
        var settings = termios()
        try valueOrSystemError("settings of \(device)") { unsafe tcgetattr(raw, &settings) }
        unsafe cfmakeraw(&settings)
        try valueOrSystemError("configure \(device)") { unsafe tcsetattr(raw, TCSANOW, &settings) }
    }

    /// Waits until a program has opened the terminal, and a moment longer: a receiver's line is flushed when it is set
    /// up.
    func waitForReader() async throws {
        for _ in 0..<1000 {
            let isOpen = !HoldingProcess.others(withDevice: terminal.path).isEmpty
            try await Task.sleep(for: .milliseconds(isOpen ? 100 : 5))
            if isOpen { return }
        }
        throw BenchmarkError("nobody opens \(terminal.path)")
    }

    /// The device to be read.
    var device: String { terminal.path }

    func send(_ epoch: [UInt8]) throws { try terminal.send(epoch) }

    /// The receiver's next epoch, `seconds` of its time after the one before.
    mutating func epoch(after seconds: Int) throws -> [UInt8] {
        for _ in 1..<seconds { _ = drive.next() }
        guard let epoch = drive.next() else { throw BenchmarkError("the drive is over") }
        return epoch.sentences
    }
}
