import FoundationEssentials
import Glibc
import ReceiverSimulator
import WaypostTestSupport

/// A receiver that is named by a symbolic link, as udev creates one. It can be unplugged, and returns as another
/// device.
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

    func waitUntilSetUp() async throws {
        while terminal.speed != UInt32(B9600) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    deinit { removeLink() }

    /// Removes the symbolic link before the device, because another test may soon get the device's number.
    func unplug() {
        removeLink()
        terminal.unplug()
    }

    func plugIn() throws {
        let next = try PseudoTerminal()
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: next.path)
        terminal = next
    }

    private func removeLink() { unsafe unlink(link) }
}
