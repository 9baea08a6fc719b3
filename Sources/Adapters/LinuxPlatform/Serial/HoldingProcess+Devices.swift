import CLinux
import Glibc

/// A process that has a device open.
package struct DeviceHolder: Sendable, Hashable, CustomStringConvertible {
    package let processID: Int32
    /// The command name that the kernel keeps; `nil` when the process has gone meanwhile.
    package let command: String?

    package init(processID: Int32, command: String?) { (self.processID, self.command) = (processID, command) }

    /// As `gpsd (process 812)`.
    package var description: String { "\(command ?? "a process") (process \(processID))" }

    /// Who has the device at `path` open, links resolved, as far as `/proc` shows it: all processes to root, and to
    /// anyone else the own ones.
    package static func all(of path: String) -> [DeviceHolder] {
        guard let device = FileSystem.resolved(path) else { return [] }
        return FileSystem.visibleNames(inFolder: "/proc").compactMap { Int32($0) }.sorted()
            .filter { process in
                FileSystem.visibleNames(inFolder: "/proc/\(process)/fd").contains {
                    FileSystem.linkTarget(at: "/proc/\(process)/fd/\($0)") == device
                }
            }
            .map { DeviceHolder(processID: $0, command: commandName(ofProcess: $0)) }
    }

    /// The same without this process.
    package static func others(of path: String) -> [DeviceHolder] { all(of: path).filter { $0.processID != getpid() } }

    /// Who keeps it from being opened: other programs, or this one where it has opened the device twice.
    static func blockers(of path: String) -> [DeviceHolder] {
        let others = others(of: path)
        return others.isEmpty ? all(of: path) : others
    }
}

extension DeviceHolder {
    /// What to do about this program, which has the device at `path` open.
    package func remedy(for path: String) -> String {
        switch command {
        case "gpsd": Self.remedyAgainstGPSD
        case "ModemManager": Self.remedyAgainstModemManager
        case "getty", "agetty", "login": Self.remedyAgainstLogin(on: path)
        case "brltty": "keep it away (systemctl mask --now brltty-udev), or remove it"
        case "waypost": "a receiver has one reader: stop the other Waypost (systemctl stop waypost)"
        default: "stop it, or have it leave the device alone"
        }
    }

    /// The holders and what to do about each; without any, how to find them and what to do about the usual ones.
    package static func explanation(of holders: [DeviceHolder], for path: String) -> String {
        if holders.isEmpty {
            return "another program; find it as root (fuser -v \(path)) and stop it. "
                + "ModemManager: \(remedyAgainstModemManager). gpsd: \(remedyAgainstGPSD). "
                + "A login: \(remedyAgainstLogin(on: path))"
        }
        var remedies: [String] = []
        for holder in holders {
            let remedy = holder.remedy(for: path)
            if !remedies.contains(remedy) { remedies.append(remedy) }
        }
        return "\(holders.map(\.description).joined(separator: " and ")); \(remedies.joined(separator: "; "))"
    }

    private static let remedyAgainstGPSD =
        "read from it instead (receiver.type gpsd), or stop it (systemctl disable --now gpsd.socket gpsd)"
    private static let remedyAgainstModemManager =
        "keep it away by udev (ID_MM_DEVICE_IGNORE, see 99-waypost-gnss.rules)"

    private static func remedyAgainstLogin(on path: String) -> String {
        let terminal = FileSystem.linkTarget(at: path) ?? path
        return "end the login console (systemctl disable --now serial-getty@\(FileSystem.name(of: terminal)))"
    }
}
