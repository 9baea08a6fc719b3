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
    static func inTheWay(of path: String) -> [DeviceHolder] {
        let others = others(of: path)
        return others.isEmpty ? all(of: path) : others
    }
}
