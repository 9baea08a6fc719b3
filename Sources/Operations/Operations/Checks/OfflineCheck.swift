import BackendAuthorization
import Conditions
import FleetEngine
import Glibc
import LinuxPlatform
import ReportedText
import SQLiteOutbox
package import TimeAndChance
import VehicleAuthorization

/// One line of `waypost check`: what was looked at, and what is there, or what is wrong and what to do.
package struct CheckLine: Sendable, Hashable {
    package enum Verdict: String, Sendable, Hashable {
        case ok
        /// Worth knowing.
        case note
        /// Prevented by what another check found.
        case skip
        case fail = "FAIL"
    }

    package let verdict: Verdict
    /// What was looked at, as `receiver`.
    package let name: String
    package let text: String

    package init(_ verdict: Verdict, _ name: String, _ text: String) {
        self.verdict = verdict
        self.name = name
        self.text = text
    }
}

/// What is wrong with a configuration that can be read, as far as this machine shows, without the network.
///
/// Makes a directory next to the outbox and removes it, and takes the status port for a moment.
package enum OfflineCheck {
    /// Returns everything that is wrong or worth knowing at the time `now`, for this user; `file` is where the
    /// configuration was read from.
    ///
    /// Blocks; not for the shared pool.
    package static func lines(
        _ configuration: Configuration, from file: String? = nil, at now: UTCTime = .system
    ) -> [CheckLine] {
        var lines = configuration.warnings.map {
            CheckLine($0.mayBeRight ? .note : .fail, $0.section, $0.description)
        }
        lines += proofs(configuration, now) + receiver(configuration) + privateSwitch(configuration)
        lines += outbox(configuration)
        lines += tokens(configuration.authorization, "authorization", configuration)
        lines += tokens(configuration.consumerAuthorization, "consumerAuthorization", configuration)
        lines += notes(configuration)
        if let hidden = SandboxedCheck.inside?.hidden {
            lines += SandboxedCheck.hiddenPaths(configuration.paths, hidden)
        }
        lines += configuration.exposedFiles(from: file, to: configuration.expectedUser).map {
            CheckLine(.fail, $0.section, $0.text)
        }
        if let file { lines += openSecrets(configuration, file) }
        return lines
    }

    /// A secret that stands in the configuration is as open as that file.
    private static func openSecrets(_ configuration: Configuration, _ file: String) -> [CheckLine] {
        guard let status = try? FileStatus(behind: file), status.permissions & 0o004 != 0 else { return [] }
        return configuration.settings.compactMap { setting in
            guard case .line = setting.source, setting.value == ConfigurationSetting.struck else { return nil }
            return CheckLine(
                .note, String(setting.path.prefix { $0 != "." }),
                "\(setting.path) stands in \(file), which is open to every user; if it is a secret, run chmod o= \(file)"
            )
        }
    }

    /// What only making can prove: certificate files are there, placeholders are known. What the service writes is only
    /// looked at.
    private static func proofs(_ configuration: Configuration, _ now: UTCTime) -> [CheckLine] {
        let log = LogWriter(level: .error, format: .text)
        var lines: [CheckLine] = []
        func prove(_ name: String, _ files: CertificateFiles? = nil, _ body: () throws(AgentError) -> Void) {
            // Each of them, where making ends at the first.
            var problems = files?.problems ?? []
            if problems.isEmpty, let problem = files?.problemOfPair { problems = [problem] }
            lines += problems.map { CheckLine(.fail, name, $0) }
            guard problems.isEmpty else { return }
            lines += (files?.lapses(at: now) ?? []).map { CheckLine($0.isNow ? .fail : .note, name, $0.text) }
            do { try body() } catch { lines.append(CheckLine(.fail, name, error.detail)) }
        }
        prove("outbox") { () throws(AgentError) in try configuration.proveOutbox() }
        prove("status") { () throws(AgentError) in
            try configuration.proveStatusSocket()
            try configuration.proveStatusPort()
        }
        prove("upload", configuration.uploadFiles) { () throws(AgentError) in _ = try configuration.makeTransport() }
        prove("authorization", configuration.tokenFiles) { () throws(AgentError) in
            _ = try configuration.makeProvider(log: log)
        }
        prove("consumerAuthorization", configuration.forConsumers?.tokenFiles) { () throws(AgentError) in
            _ = try configuration.forConsumers?.makeProvider(log: log)
        }
        return lines
    }

    private static func receiver(_ configuration: Configuration) -> [CheckLine] {
        func line(_ verdict: CheckLine.Verdict, _ text: String) -> [CheckLine] {
            [CheckLine(verdict, "receiver", text)]
        }
        switch configuration.receiver.source {
        case .serial(let path, _) where isHidden(path):
            return [hidden(path, "receiver.device", "receiver", configuration)]
        case .file(let path, _) where isHidden(path):
            return [hidden(path, "receiver.path", "receiver", configuration)]
        case .serial(let device, _):
            switch kind(behind: device) {
            case nil:
                return line(
                    .note,
                    "\(device) is not there now; plug the receiver in, or correct receiver.device "
                        + "(ls -l /dev/serial/by-id)")
            case .device?:
                guard let subsystem = SerialLine.foreignSubsystem(ofDevice: device) else {
                    return deviceObstacle(device, configuration).map { line(.fail, "receiver.device: \(device) \($0)") }
                        ?? []
                }
                return line(
                    .fail,
                    "receiver.device: \(device) is a device of the kernel's subsystem \(subsystem), not a serial line; name one "
                        + "such as /dev/ttyUSB0 (ls -l /dev/serial/by-id)")
            case let other?:
                return line(
                    .fail,
                    "receiver.device: \(device) is \(other.rawValue), not a serial line; name a device such as "
                        + "/dev/ttyUSB0\(other == .file ? ", or read the file with \"type\": \"file\"" : "")")
            }
        case .file(let path, let follows):
            switch kind(behind: path) {
            case nil:
                return line(
                    follows ? .note : .fail,
                    "receiver.path: \(path) does not exist\(follows ? " yet" : ""); check the path, and whoever writes it"
                )
            case .folder?: return line(.fail, "receiver.path: \(path) is a folder; name the file in it")
            default: return []
            }
        case .standardInput, .tcp, .udp, .gpsd: return []
        }
    }

    /// Returns why the service's user can't open `device`, with the remedy; `nil` if it can, or if this is another
    /// user. The line itself isn't opened, because that would disturb its reader.
    private static func deviceObstacle(_ device: String, _ configuration: Configuration) -> String? {
        guard configuration.expectedUser == EffectiveUser.current,
            let obstacle = FileSystem.obstacle(to: .write, at: device)
        else { return nil }
        if obstacle.number == EPERM {
            return
                "isn't allowed by \(SandboxedCheck.unit); type systemctl edit waypost, and write [Service] and below it "
                + "DeviceAllow=\(device) rw"
        }
        return
            "cannot be opened by \(FileStatus.words(EffectiveUser.current)); type chgrp dialout \(device) and chmod g+rw "
            + "\(device), by a udev rule so that it stays (as 99-waypost-gnss.rules among the examples)"
    }

    /// Whether the folder of the private switch is there, and open to the service: one that it may not look into counts
    /// as a switch that is on.
    private static func privateSwitch(_ configuration: Configuration) -> [CheckLine] {
        guard let path = configuration.privateModeFile else { return [] }
        let folder = FileSystem.parent(of: path)
        let user = configuration.expectedUser
        func line(_ verdict: CheckLine.Verdict, _ text: String) -> [CheckLine] {
            [CheckLine(verdict, "vehicle", "vehicle.privateModeFile: \(path) \(text)")]
        }
        if isHidden(folder) || isHidden(path) || isClosed(folder, to: user) {
            return line(
                user == EffectiveUser.current || EffectiveUser.current == 0 ? .fail : .note,
                "cannot be seen by \(FileStatus.words(user)), for whom the vehicle is always private; open its folder to "
                    + "that user (chmod o+x)")
        }
        switch kind(behind: folder) {
        case .folder?:
            switch kind(behind: path) {
            case nil where FileSystem.volume(of: folder) == .memory:
                return line(
                    .note,
                    "is in memory: unless whatever works the switch makes its file again before Waypost starts, a private "
                        + "time ends when the machine does; a folder on the disk, as /var/lib/vehicle, keeps it")
            case nil: return []
            case .folder?:
                return line(
                    .fail,
                    "is a folder, so that the vehicle is always private; name a file, which the switch makes and removes"
                )
            default:
                return line(
                    .note,
                    "is there now, so that the vehicle is private until it is removed, whatever is in it")
            }
        case nil:
            let remedy =
                if path.hasPrefix("/run/waypost/") {
                    "name another folder, as /var/lib/vehicle: systemd removes /run/waypost whenever the service stops"
                } else if FileSystem.volume(of: existingFolder(above: path)) == .kernel {
                    "a switch is on while its file is there, whatever is in it: let a program that reads the switch make and "
                        + "remove a file, as /var/lib/vehicle/private"
                } else {
                    "make \(folder), or correct the path"
                }
            return line(
                // Made anew at each start of the system, by whoever works the switch.
                path.hasPrefix("/run/") ? .note : .fail,
                "is in no folder that is there, so that the vehicle is never private; \(remedy)")
        case let other?: return line(.fail, "cannot be made, for \(folder) is \(other.rawValue); correct the path")
        }
    }

    /// Whether `user` cannot look into `folder`, as far as modes say: his groups are not known.
    private static func isClosed(_ folder: String, to user: UInt32) -> Bool {
        guard user != 0 else { return false }
        var folder = FileSystem.resolved(folder) ?? folder
        while true {
            if let status = try? FileStatus(behind: folder), status.kind == .folder {
                let isOpen = status.permissions & (status.owner == user ? 0o100 : 0o011) != 0
                if !isOpen { return true }
            }
            guard folder != "/", folder != "." else { return false }
            folder = FileSystem.parent(of: folder)
        }
    }

    /// What lies behind the links of `path`; `nil` when nothing does that can be seen.
    private static func kind(behind path: String) -> FileStatus.Kind? { (try? FileStatus(behind: path))?.kind }

    /// Whether `path` lies in a folder that is closed to this user, who then cannot say what is there.
    private static func isHidden(_ path: String) -> Bool {
        do throws(SystemError) { _ = try FileStatus(behind: path) } catch { return error.number == EACCES }
        return false
    }

    /// `key`: what names `path`.
    private static func hidden(
        _ path: String, _ key: String, _ section: String, _ configuration: Configuration
    ) -> CheckLine {
        let user = configuration.expectedUser
        let isService = configuration.expectedUser == EffectiveUser.current
        let remedy = isService ? "open its folder to that user" : "run this as \(FileStatus.words(user))"
        return CheckLine(
            isService ? .fail : .note, section,
            "\(key): \(path) cannot be seen by \(FileStatus.words(EffectiveUser.current)); \(remedy)")
    }

    /// Whether the outbox can be made, or written, by whoever will do so; `proveOutbox` has judged what lies there.
    private static func outbox(_ configuration: Configuration) -> [CheckLine] {
        let path = configuration.outbox.path
        let folder = existingFolder(above: path)
        func unmakeable(_ reason: String) -> [CheckLine] {
            [CheckLine(.fail, "outbox", "outbox.path: \(path) cannot be made, for \(reason)")]
        }
        guard kind(behind: folder) == .folder else { return unmakeable("\(folder) is no folder; choose another path") }
        if FileSystem.volume(of: folder) == .kernel {
            return unmakeable("\(folder) is the kernel's own and takes no files; choose a path on a disk")
        }
        if FileSystem.isReadOnly(at: folder) {
            if SandboxedCheck.inside != nil {
                return unmakeable(
                    "\(SandboxedCheck.unit) doesn't let the service write in \(folder); use /var/lib/waypost/"
                        + "\(FileSystem.name(of: path)), or type systemctl edit waypost, and write [Service] and below it "
                        + "ReadWritePaths=\(folder)")
            }
            return unmakeable(
                "\(folder) is on a file system that is mounted read-only; choose a path that can be written")
        }
        // One that is there has its reserve.
        if (try? FileSystem.entry(at: path)) == .some(nil), let shortage = shortage(at: folder) { return [shortage] }
        let user = configuration.expectedUser
        if user == EffectiveUser.current, !FileSystem.isAllowed(.write, at: folder) {
            return unmakeable(
                "\(FileStatus.words(user)) may not write in \(folder); "
                    + (SandboxedCheck.inside.map { "type chown \($0.user) \(folder)" }
                        ?? "run this as the service's user")
                    + ", or choose another path")
        }
        return unwritable(path, as: user).map { [$0] } ?? []
    }

    /// Tries to write in the directory of the outbox at `path`. Returns the line if `user` can't; `nil` if it can, or
    /// if that can't be tried.
    private static func unwritable(_ path: String, as user: UInt32) -> CheckLine? {
        let folder = FileSystem.parent(of: FileSystem.destination(of: path))
        guard let status = try? FileStatus(behind: folder), status.kind == .folder else { return nil }
        let attempt = try? EffectiveUser.withFileRights(of: user, groups: [status.group]) {
            FileSystem.obstacleToWriting(in: folder)
        }
        guard let obstacle = attempt ?? nil else { return nil }
        return CheckLine(
            .fail, "outbox",
            "outbox.path: \(FileStatus.words(user)) cannot write in \(folder): \(obstacle.reason); let that user write "
                + "there, or choose another path")
    }

    /// Bytes that must be free: the reserve for a full disk, and a log of some updates.
    private static let roomToWork: Int64 = 1_000_000
    /// The database with its log, its index and its lock, the reserve, and what is noted next to them.
    private static let filesToWork: Int64 = 8

    /// What is wrong where too little is free in `folder` for an outbox.
    static func shortage(at folder: String) -> CheckLine? {
        if let left = FileSystem.freeFiles(at: folder), left < filesToWork {
            return CheckLine(
                .fail, "outbox",
                "outbox.path: the file system of \(folder) has \(left) inodes left, where an outbox needs \(filesToWork) "
                    + "files; remove some files (df -i), or choose another path")
        }
        guard let free = FileSystem.freeBytes(at: folder), free < roomToWork else { return nil }
        return CheckLine(
            .fail, "outbox",
            "outbox.path: only \(free / 1000) kB are free at \(folder), where an outbox needs \(roomToWork / 1000) kB; free "
                + "some, or choose another path")
    }

    /// The next one above `path` of which something is there.
    private static func existingFolder(above path: String) -> String {
        var folder = FileSystem.parent(of: path)
        while kind(behind: folder) == nil, folder != "/", folder != "." { folder = FileSystem.parent(of: folder) }
        return folder
    }

    /// Everything that a token will be asked for with: files, variables, a program.
    private static func tokens(
        _ provider: AuthorizationConfiguration?, _ section: String, _ configuration: Configuration
    ) -> [CheckLine] {
        var lines: [CheckLine] = []
        func prove(_ body: () throws(AuthorizationError) -> Void) {
            do { try body() } catch {
                // A variable or a credential may be the service's alone.
                var isNote = false
                if case .sourceUnusable(let fault) = error.fault { isNote = fault.mayConcernThisProcessAlone }
                lines.append(CheckLine(isNote ? .note : .fail, section, "\(error)"))
            }
        }
        switch provider {
        case .http(let settings, _):
            for header in settings.headers {
                prove(header.prove)
                if let doubt = header.doubt { lines.append(CheckLine(.note, section, doubt)) }
            }
            if let body = settings.body {
                prove { () throws(AuthorizationError) in try body.prove(for: "\(section).body") }
            }
        case .command(let arguments, let environment, _, _):
            if let program = arguments.first, isHidden(program) {
                lines.append(hidden(program, "\(section).command", section, configuration))
            } else if let program = arguments.first, let problem = TokenProgram.problem(of: program) {
                lines.append(CheckLine(.fail, section, "\(section).command: \(problem.wording.sentence)"))
            }
            for (name, secret) in environment.sorted(by: { $0.key < $1.key }) {
                prove { () throws(AuthorizationError) in try secret.prove(for: "variable \(name)") }
            }
        case .file(let template, _):
            let path = configuration.expanded(template)
            // That of a trip is known when there is one.
            if !path.contains("{") {
                prove { () throws(AuthorizationError) in try SecretFile.require(path, for: "the token") }
            }
        case nil: break
        }
        return lines
    }

    /// What is worth knowing though nothing is wrong.
    private static func notes(_ configuration: Configuration) -> [CheckLine] {
        var notes: [CheckLine] = []
        func note(_ text: String, on section: String = "outbox") { notes.append(CheckLine(.note, section, text)) }
        let user = configuration.expectedUser
        let path = configuration.outbox.path
        if user != EffectiveUser.current {
            note("\(path) lies in a folder of \(FileStatus.words(user)), who must run the service")
        }
        if configuration.vehicle.service == .scheduledTasks {
            let keys = ["vehicle.stateWhileRunning", "vehicle.stateOnStop"]
            for setting in configuration.settings where keys.contains(setting.path) && setting.source != .fallback {
                note(
                    "\(setting.path) does nothing with scheduledTasks: Fleet Engine keeps no such state of a delivery "
                        + "vehicle; leave it out", on: "vehicle")
            }
        }
        if let point = FileSystemTable.unmounted(above: path) {
            note(
                "outbox.path: \(path) lies below \(point), which is in /etc/fstab and not mounted now, so that the "
                    + "outbox would be on the disk beneath; run mount \(point)")
        }
        let outbox = FileSystem.destination(of: path)
        if FileSystem.volume(of: existingFolder(above: outbox)) == .memory {
            note(
                "outbox.path: \(path) lies in the machine's memory (tmpfs), so that its restart loses what waits "
                    + "there; choose a path on a disk, as /var/lib/waypost/outbox.sqlite")
        } else if outbox.hasPrefix("/tmp/") {
            note(
                "outbox.path: \(path) lies in /tmp, which many systems empty at their start, so that what waits there "
                    + "may be lost; choose another path, as /var/lib/waypost/outbox.sqlite")
        }
        let folder = FileSystem.parent(of: outbox)
        if (try? FileStatus(at: folder)) == .some(nil), folder != "/var/lib/waypost" {
            note(
                "outbox.path: \(folder) is not there yet, and is made at the start; if there should be an outbox, "
                    + "correct the path")
        }
        if case .loopback(_, port: 0) = configuration.statusAddress {
            note(
                "status.listen: port 0 takes another port at each start, where waypost status, why and watch do not "
                    + "find the service, nor does what collects metrics; write 127.0.0.1:9464", on: "status")
        }
        if let window = configuration.outbox.durability.window {
            note(
                "economy: a crash may lose the updates of the last \(window.span.spoken), \(window.updates) at most; "
                    + "\"full\" loses none", on: "durability")
        }
        return notes
    }
}
