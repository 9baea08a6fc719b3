import FoundationEssentials
import LinuxPlatform
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

    func send(_ epoch: DriveEpoch) throws { try terminal.send(epoch.sentences) }

    /// The device goes; the link leads nowhere.
    func unplug() { terminal.unplug() }

    /// The device is there again, under another name.
    func plugIn() throws {
        let next = try PseudoTerminal()
        try FileManager.default.createSymbolicLink(atPath: link + ".new", withDestinationPath: next.path)
        try FileSystem.rename(link + ".new", to: link)
        terminal = next
    }
}
