import FoundationEssentials
import Glibc
import ReceiverSimulator
import WaypostTestSupport

/// A receiver behind a link such as udev keeps, that can be unplugged and comes back as another device.
final class PluggedReceiver {
    private let link: String
    private var terminal: PseudoTerminal

    init(link: String) throws {
        self.link = link
        terminal = try PseudoTerminal()
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: terminal.path)
    }

    func send(_ epoch: DriveEpoch) throws { try send(epoch.sentences) }
    func send(_ sentences: [UInt8]) throws { try terminal.send(sentences) }

    /// Waits until a reader has set up the line, at the rate that a configuration has without naming one.
    func isSetUp() async throws {
        while terminal.speed != UInt32(B9600) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    deinit { removeLink() }

    /// The device goes, and before it the link: its number is soon another test's.
    func unplug() {
        removeLink()
        terminal.unplug()
    }

    /// The device is there again, under another name.
    func plugIn() throws {
        let next = try PseudoTerminal()
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: next.path)
        terminal = next
    }

    private func removeLink() { unsafe unlink(link) }
}
