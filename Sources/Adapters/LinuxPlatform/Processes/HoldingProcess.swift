import Glibc
import ReportedText

/// A process that holds something that only one process can use: a device, a lock, an address.
package struct HoldingProcess: Sendable, Hashable, CustomStringConvertible {
    package let processID: Int32
    /// The kernel's name for the command; `nil` if the process has ended.
    package let command: String?
    /// The name of the systemd unit whose main process this is, such as `waypost` or `--user waypost`; `nil` if it
    /// isn't a unit's main process.
    private let unit: String?
    /// The command line, if the program is Waypost; otherwise `nil`. Waypost's arguments contain no secrets.
    private let commandLine: String?

    package init(processID: Int32, command: String?, unit: String? = nil) {
        self.processID = processID
        self.command = command
        self.unit = unit
        commandLine = nil
    }

    /// Reads the facts that `/proc` shows every user about the process with this id.
    package init(reading processID: Int32) {
        self.processID = processID
        command = commandName(ofProcess: processID)
        unit = Self.unit(ofProcess: processID)
        commandLine = command == "waypost" ? Self.commandLine(ofProcess: processID) : nil
    }

    /// A description such as `gpsd (process 812)` or `waypost run (process 813)`.
    package var description: String { "\(commandLine ?? command ?? "a process") (process \(processID))" }

    package var isUnit: Bool { unit != nil }

    /// Whether the process is a Waypost service, judged by its command line.
    package var isService: Bool { commandLine?.hasPrefix("waypost run") ?? false }

    /// Whether the process has been stopped, by Control-Z or a signal. A stopped process can neither answer nor end.
    package var isStopped: Bool { Descendant(reading: processID)?.state == "T" }

    /// The command that ends the process. For a unit, this is `systemctl stop`, because systemd would restart a killed
    /// process.
    package var stopCommand: String { unit.map { "systemctl stop \($0)" } ?? "kill \(processID)" }

    /// The remedy for a process that must be restarted, as an instruction to the operator.
    package var restartRemedy: String {
        unit.map { "restart it (systemctl restart \($0))" } ?? "stop it (kill \(processID)) and start it again"
    }

    /// Returns the processes that have `target` open. `target` is the target of a symbolic link in `/proc/PID/fd`. Only
    /// root sees other users' processes.
    static func all(withOpenFile target: String) -> [HoldingProcess] {
        processIDs.filter { process in
            FileSystem.visibleNames(inDirectory: "/proc/\(process)/fd").contains {
                FileSystem.linkTarget(at: "/proc/\(process)/fd/\($0)") == target
            }
        }.map(Self.init(reading:))
    }

    /// Returns the only process of `user`; `nil` if that user has none or several.
    static func soleProcess(of user: UInt32) -> HoldingProcess? {
        let all = processIDs.filter { (try? FileStatus(at: "/proc/\($0)"))?.owner == user }
        return all.count == 1 ? HoldingProcess(reading: all[0]) : nil
    }

    /// The running Waypost services other than this process.
    package static var otherServices: [HoldingProcess] {
        processIDs.filter { $0 != getpid() }.map(Self.init(reading:)).filter(\.isService)
    }

    static var processIDs: [Int32] { FileSystem.visibleNames(inDirectory: "/proc").compactMap { Int32($0) }.sorted() }

    private static func commandLine(ofProcess processID: Int32) -> String? {
        guard let bytes = try? FileSystem.read(4096, at: 0, of: "/proc/\(processID)/cmdline") else { return nil }
        let words = bytes.split(separator: 0).dropFirst().map { " \(ReportedText(bytes: $0))" }
        return "waypost" + words.joined()
    }

    /// Returns the systemd unit whose main process this is, or `nil`. The parent of that process must be systemd,
    /// unlike the parent of a process that a shell starts within a unit.
    private static func unit(ofProcess processID: Int32) -> String? {
        guard let parent = Descendant(reading: processID)?.parent, commandName(ofProcess: parent) == "systemd",
            let bytes = try? FileSystem.read(4096, at: 0, of: "/proc/\(processID)/cgroup")
        else { return nil }
        return unit(ofGroups: String(decoding: bytes, as: UTF8.self))
    }

    /// Returns the unit's name from the contents of `/proc/PID/cgroup`; `nil` if there is none.
    static func unit(ofGroups text: String) -> String? {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, fields[1].isEmpty || fields[1] == "name=systemd" else { continue }
            guard let last = fields[2].split(separator: "/").last, last.hasSuffix(".service") else { continue }
            let name = last.dropLast(".service".count)
            // The name is for use in a command, so it is useless if it can't be printed unchanged.
            guard ReportedText(name).description == name else { return nil }
            return (fields[2].contains("/user@") ? "--user " : "") + name
        }
        return nil
    }
}

/// Returns the kernel's name for the command that a process runs; `nil` if there is no such process.
package func commandName(ofProcess processID: Int32) -> String? {
    guard let bytes = try? FileSystem.read(64, at: 0, of: "/proc/\(processID)/comm") else { return nil }
    let name = ReportedText(bytes: bytes.prefix { $0 != UInt8(ascii: "\n") })
    return name.isEmpty ? nil : name.description
}
