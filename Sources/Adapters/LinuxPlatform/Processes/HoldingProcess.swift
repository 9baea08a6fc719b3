import Glibc
import ReportedText

/// A process that holds something exclusive: a device, a lock, an address.
package struct HoldingProcess: Sendable, Hashable, CustomStringConvertible {
    package let processID: Int32
    /// The command name that the kernel keeps; `nil` if the process has gone.
    package let command: String?
    /// The name of its systemd unit, such as `waypost` or `--user waypost`; `nil` if it isn't a unit's main process.
    private let unit: String?
    /// The command line if the program is Waypost, whose arguments contain no secret.
    private let commandLine: String?

    package init(processID: Int32, command: String?, unit: String? = nil) {
        self.processID = processID
        self.command = command
        self.unit = unit
        commandLine = nil
    }

    /// Reads the process with this id as `/proc` shows it to every user.
    package init(reading processID: Int32) {
        self.processID = processID
        command = commandName(ofProcess: processID)
        unit = Self.unit(ofProcess: processID)
        commandLine = command == "waypost" ? Self.commandLine(ofProcess: processID) : nil
    }

    /// A description such as `gpsd (process 812)` or `waypost run (process 813)`.
    package var description: String { "\(commandLine ?? command ?? "a process") (process \(processID))" }

    package var isUnit: Bool { unit != nil }

    /// Whether the process is Waypost's service, as far as its command line can be read.
    package var isService: Bool { commandLine?.hasPrefix("waypost run") ?? false }

    /// Whether the process has been stopped, by Control-Z or a signal, so that it can neither answer nor end.
    package var isStopped: Bool { Descendant(reading: processID)?.state == "T" }

    /// The command that ends the process. A unit is stopped, because systemd would restart a killed one.
    package var ending: String { unit.map { "systemctl stop \($0)" } ?? "kill \(processID)" }

    /// The remedy that replaces the process with a new one.
    package var renewal: String {
        unit.map { "restart it (systemctl restart \($0))" } ?? "end it (kill \(processID)) and start it again"
    }

    /// Returns the processes that have `target` open, as `/proc` names it in the links of descriptors. Only root sees
    /// other users' processes.
    static func all(having target: String) -> [HoldingProcess] {
        processIDs.filter { process in
            FileSystem.visibleNames(inDirectory: "/proc/\(process)/fd").contains {
                FileSystem.linkTarget(at: "/proc/\(process)/fd/\($0)") == target
            }
        }.map(Self.init(reading:))
    }

    /// Returns the process of `user` if it has only one.
    static func only(of user: UInt32) -> HoldingProcess? {
        let all = processIDs.filter { (try? FileStatus(at: "/proc/\($0)"))?.owner == user }
        return all.count == 1 ? HoldingProcess(reading: all[0]) : nil
    }

    /// Running Waypost services other than this process.
    package static var otherServices: [HoldingProcess] {
        processIDs.filter { $0 != getpid() }.map(Self.init(reading:)).filter(\.isService)
    }

    static var processIDs: [Int32] { FileSystem.visibleNames(inDirectory: "/proc").compactMap { Int32($0) }.sorted() }

    private static func commandLine(ofProcess processID: Int32) -> String? {
        guard let bytes = try? FileSystem.read(4096, at: 0, of: "/proc/\(processID)/cmdline") else { return nil }
        let words = bytes.split(separator: 0).dropFirst().map { " \(ReportedText(bytes: $0))" }
        return "waypost" + words.joined()
    }

    /// Returns the unit that started a process. The process is then a child of systemd, unlike a process that a shell
    /// or a timer starts within a unit.
    private static func unit(ofProcess processID: Int32) -> String? {
        guard let parent = Descendant(reading: processID)?.parent, commandName(ofProcess: parent) == "systemd",
            let bytes = try? FileSystem.read(4096, at: 0, of: "/proc/\(processID)/cgroup")
        else { return nil }
        return unit(ofGroups: String(decoding: bytes, as: UTF8.self))
    }

    /// Reads the unit's name from the lines of `/proc/PID/cgroup`.
    static func unit(ofGroups text: String) -> String? {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, fields[1].isEmpty || fields[1] == "name=systemd" else { continue }
            guard let last = fields[2].split(separator: "/").last, last.hasSuffix(".service") else { continue }
            let name = last.dropLast(".service".count)
            // A name that can't be shown unchanged can't be typed either.
            guard ReportedText(name).description == name else { return nil }
            return (fields[2].contains("/user@") ? "--user " : "") + name
        }
        return nil
    }
}

/// Returns the command name that the kernel keeps for a process; `nil` if there is no such process.
package func commandName(ofProcess processID: Int32) -> String? {
    guard let bytes = try? FileSystem.read(64, at: 0, of: "/proc/\(processID)/comm") else { return nil }
    let name = ReportedText(bytes: bytes.prefix { $0 != UInt8(ascii: "\n") })
    return name.isEmpty ? nil : name.description
}
