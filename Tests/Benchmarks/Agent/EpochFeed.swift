import CLinux
import FoundationEssentials
import Glibc
import LinuxPlatform
import ReceiverSimulator
import TimeAndRandomness
import WaypostTestSupport

/// A receiver on a pseudo-terminal, in a vehicle on a motorway. Its epochs have a few hundred bytes, as from a u-blox
/// receiver.
struct EpochFeed {
    private let terminal: PseudoTerminal
    private var drive: Drive

    /// Creates a receiver whose drive began `hoursAgo`, because times must be neither before the release nor in the
    /// future.
    init(hoursAgo: Int = 6) throws {
        terminal = try PseudoTerminal()
        let now = Int64(Date().timeIntervalSince1970)
        drive = Drive(
            .motorway, start: UTCTime(millisecondsSince1970: (now - Int64(hoursAgo) * 3600) * 1000),
            duration: .seconds(hoursAgo * 3600), epochsPerSatelliteReport: 1)
    }

    /// Sets the line to raw mode (no echo, and every byte unchanged) for a reader that doesn't do so.
    func setRawMode() throws {
        let line = try OwnedDescriptor(opening: device, O_RDWR | O_NOCTTY)
        try Self.setRawMode(of: line.raw, device: device)
    }

    static func setRawMode(of descriptor: CInt, device: String) throws {
        var settings = termios()
        try valueOrSystemError("settings of \(device)") { unsafe tcgetattr(descriptor, &settings) }
        unsafe cfmakeraw(&settings)
        try valueOrSystemError("configure \(device)") { unsafe tcsetattr(descriptor, TCSANOW, &settings) }
    }

    /// Waits until a program has opened the terminal, and 100 ms longer, because setting up the line flushes it.
    func waitForReader() async throws {
        for _ in 0..<1000 {
            let isOpen = !HoldingProcess.others(withDevice: terminal.path).isEmpty
            try await Task.sleep(for: .milliseconds(isOpen ? 100 : 5))
            if isOpen { return }
        }
        throw BenchmarkError("no program has opened \(terminal.path)")
    }

    var device: String { terminal.path }

    func send(_ epoch: [UInt8]) throws { try terminal.send(epoch) }

    /// Returns the receiver's next epoch, `seconds` after the previous one.
    mutating func epoch(after seconds: Int) throws -> [UInt8] {
        for _ in 1..<seconds { _ = drive.next() }
        guard let epoch = drive.next() else { throw BenchmarkError("the drive is over") }
        return epoch.sentences
    }
}
