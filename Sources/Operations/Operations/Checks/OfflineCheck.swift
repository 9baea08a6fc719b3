import BackendAuthorization
package import Conditions
import FleetEngine
import Glibc
import LinuxPlatform
import ReportedText
import SQLiteOutbox
package import TimeAndRandomness
import VehicleAuthorization

/// One line in the output of `waypost check`: the subject and the result of a check.
package struct CheckLine: Sendable, Hashable {
    package enum Verdict: String, Sendable, Hashable {
        case ok
        /// A fact that isn't a problem but is worth knowing.
        case note
        /// The check wasn't made, because of the result of another check.
        case skip
        case fail = "FAIL"
    }

    package let verdict: Verdict
    /// The subject of the check, such as `receiver`.
    package let name: String
    package let text: String
    /// The code of the condition that the running service raises because of the result, if any.
    package let code: ConditionCode?

    package init(_ verdict: Verdict, _ name: String, _ text: String, code: ConditionCode? = nil) {
        self.verdict = verdict
        self.name = name
        self.text = ReportedText.withoutTokensAndKeys(text)
        self.code = code
    }

    init(_ verdict: Verdict, _ name: String, _ finding: CheckFinding) {
        self.init(verdict, name, finding.sentence.description, code: finding.code)
    }

    init(_ verdict: Verdict, _ name: String, _ finding: OnlineFinding) {
        self.init(verdict, name, finding.sentence.description, code: finding.code)
    }

    init(_ verdict: Verdict, _ name: String, _ condition: Condition) {
        self.init(verdict, name, condition.line.description, code: condition.code)
    }
}

/// The checks of a valid configuration that can be made on this machine without the network.
///
/// They briefly create a directory next to the outbox, and listen on the status port.
package enum OfflineCheck {
    /// Returns the result lines for `configuration` at the time `now`, as seen by the current user. `file` is the file
    /// that the configuration was read from.
    ///
    /// Blocks, so it must not run on the shared thread pool.
    package static func lines(
        _ configuration: Configuration, from file: String? = nil, at now: UTCTime = .system
    ) -> [CheckLine] {
        var lines = configuration.warnings.map {
            CheckLine($0.mayBeIntended ? .note : .fail, $0.section, $0.description)
        }
        lines += componentLines(configuration, at: now)
        lines += receiverLines(configuration) + privateSwitchLines(configuration) + outboxLines(configuration)
        lines += tokenLines(configuration.authorization, section: "authorization", configuration)
        lines += tokenLines(configuration.consumerAuthorization, section: "consumerAuthorization", configuration)
        lines += noteLines(configuration)
        if let directories = SandboxedCheck.current?.hiddenDirectories {
            lines += SandboxedCheck.hiddenPathLines(for: configuration.paths, in: directories)
        }
        lines += configuration.exposureProblems(from: file, to: configuration.expectedUser).map {
            CheckLine(.fail, $0.section, $0.wording.sentence.description, code: .configurationExposed)
        }
        if let file { lines += openSecretLines(configuration, file: file) }
        return lines
    }

    /// Returns a line for each secret in the text of `file`, if every user can read the file.
    private static func openSecretLines(_ configuration: Configuration, file: String) -> [CheckLine] {
        guard let status = try? FileStatus(followingLinksAt: file), status.permissions & 0o004 != 0 else { return [] }
        return configuration.settings.compactMap { setting in
            guard case .line = setting.source, setting.value == ConfigurationSetting.redacted else { return nil }
            let section = String(setting.path.prefix { $0 != "." })
            return CheckLine(.note, section, .exposedSecret(key: setting.path, file: file))
        }
    }

    /// Returns a line for each problem found by creating the components of a service. Problems with certificate files
    /// and placeholders can't be found in any other way. Writes nothing.
    private static func componentLines(_ configuration: Configuration, at now: UTCTime) -> [CheckLine] {
        var lines: [CheckLine] = []
        func check(_ name: String, files: CertificateFiles? = nil, _ body: () throws(AgentError) -> Void) {
            // `body` throws at the first problem. The files are checked first, so that all problems with them are
            // reported.
            var problems = files?.problems ?? []
            if problems.isEmpty, let problem = files?.keyMismatch { problems = [problem] }
            lines += problems.map { CheckLine(.fail, name, $0, code: files?.unusableCode) }
            guard problems.isEmpty else { return }
            lines += (files?.validityProblems(at: now) ?? []).map {
                CheckLine(
                    $0.isInvalid ? .fail : .note, name, $0.text, code: $0.isInvalid ? files?.invalidCode : nil)
            }
            do { try body() } catch { lines.append(CheckLine(.fail, name, error.detail, code: error.condition)) }
        }
        check("outbox") { () throws(AgentError) in try configuration.verifyOutbox() }
        check("status") { () throws(AgentError) in
            try configuration.verifyStatusSocket()
            try configuration.verifyStatusPort()
        }
        check("upload", files: configuration.uploadCertificateFiles) { () throws(AgentError) in
            _ = try configuration.makeTransport()
        }
        check("authorization", files: configuration.tokenCertificateFiles) { () throws(AgentError) in
            _ = try configuration.makeProvider()
        }
        check("consumerAuthorization", files: configuration.consumerConfiguration?.tokenCertificateFiles) {
            () throws(AgentError) in
            _ = try configuration.consumerConfiguration?.makeProvider()
        }
        return lines
    }

    private static func receiverLines(_ configuration: Configuration) -> [CheckLine] {
        func line(_ verdict: CheckLine.Verdict, _ finding: CheckFinding) -> [CheckLine] {
            [CheckLine(verdict, "receiver", finding)]
        }
        switch configuration.receiver.source {
        case .serial(let path, _) where isHidden(path):
            return [hiddenPathLine(for: path, key: "receiver.device", section: "receiver", in: configuration)]
        case .file(let path, _) where isHidden(path):
            return [hiddenPathLine(for: path, key: "receiver.path", section: "receiver", in: configuration)]
        case .serial(let device, _):
            switch fileKind(behind: device) {
            case nil: return line(.note, .deviceMissing(device))
            case .device?:
                if let subsystem = SerialLine.foreignSubsystem(ofDevice: device) {
                    return line(.fail, .notASerialPort(device, kind: "a device of the subsystem \(subsystem)"))
                }
                return obstacle(toDevice: device, for: configuration).map { line(.fail, $0) } ?? []
            case let other?: return line(.fail, .notASerialPort(device, kind: other.rawValue))
            }
        case .file(let path, let follows):
            switch fileKind(behind: path) {
            case nil: return line(follows ? .note : .fail, .logMissing(path))
            case .directory?: return line(.fail, .logIsDirectory(path))
            case .device?: return line(.fail, .logIsDevice(path))
            default: return []
            }
        case .standardInput, .tcp, .udp, .gpsd: return []
        }
    }

    /// Returns the reason why the service's user can't open `device`; `nil` if it can, or if this process runs as
    /// another user. The device itself isn't opened, because that would disturb the process that reads it.
    private static func obstacle(toDevice device: String, for configuration: Configuration) -> CheckFinding? {
        guard configuration.expectedUser == EffectiveUser.current,
            let obstacle = FileSystem.obstacle(to: .write, at: device)
        else { return nil }
        if obstacle.number == EPERM { return .deviceDeniedByUnit(device, unit: SandboxedCheck.unitName) }
        return .deviceDeniedToUser(device, user: FileStatus.name(ofUser: EffectiveUser.current))
    }

    /// Returns a line if there is something to know about the private switch.
    private static func privateSwitchLines(_ configuration: Configuration) -> [CheckLine] {
        let user = configuration.expectedUser
        // A relative path, or that of a directory, is reported as such.
        guard let path = configuration.privateModeFile, path.hasPrefix("/"), !path.hasSuffix("/"),
            let finding = privateSwitchFinding(at: path, for: user)
        else { return [] }
        let isFault =
            switch finding {
            case .hiddenFromUser: user == EffectiveUser.current || EffectiveUser.current == 0
            // A directory in /run may be missing now, because it is created again each time the system starts.
            case .directoryMissing: !path.hasPrefix("/run/")
            case .isDirectory: true
            case .isOn, .inRuntimeDirectory, .inMemory, .inTemporaryDirectory: false
            }
        return [CheckLine(isFault ? .fail : .note, "vehicle", .privateSwitch(finding, path: path))]
    }

    /// Returns what there is to know about the private switch at `path`, for a service that runs as `user`; `nil` if
    /// nothing. A switch that the service can't access counts as on.
    ///
    /// Blocks, so it must not run on the shared thread pool.
    package static func privateSwitchFinding(at path: String, for user: UInt32) -> CheckFinding.PrivateSwitch? {
        let directory = FileSystem.parent(of: path)
        if isHidden(directory) || isHidden(path) || isInaccessible(directory, to: user) {
            return .hiddenFromUser(FileStatus.name(ofUser: user))
        }
        guard fileKind(behind: directory) == .directory else {
            return path.hasPrefix("/run/waypost/") ? .inRuntimeDirectory : .directoryMissing
        }
        switch fileKind(behind: path) {
        case nil where path.hasPrefix("/tmp/") || path.hasPrefix("/var/tmp/"): return .inTemporaryDirectory
        case nil: return FileSystem.volume(of: directory) == .memory ? .inMemory : nil
        case .directory?: return .isDirectory
        default: return .isOn
        }
    }

    /// Returns whether `user` has no access to `directory` or to one of its parents. The user's groups aren't known, so
    /// access for any group counts as access for the user.
    private static func isInaccessible(_ directory: String, to user: UInt32) -> Bool {
        guard user != 0 else { return false }
        var directory = FileSystem.resolved(directory) ?? directory
        while true {
            if let status = try? FileStatus(followingLinksAt: directory), status.kind == .directory {
                let isOpen = status.permissions & (status.owner == user ? 0o100 : 0o011) != 0
                if !isOpen { return true }
            }
            guard directory != "/", directory != "." else { return false }
            directory = FileSystem.parent(of: directory)
        }
    }

    /// Returns the kind of file at `path`, after following symbolic links; `nil` if the current user can't see a file
    /// there.
    private static func fileKind(behind path: String) -> FileStatus.Kind? {
        (try? FileStatus(followingLinksAt: path))?.kind
    }

    /// Returns whether the current user has no access to a directory in `path`.
    private static func isHidden(_ path: String) -> Bool {
        do throws(SystemError) { _ = try FileStatus(followingLinksAt: path) } catch { return error.number == EACCES }
        return false
    }

    private static func hiddenPathLine(
        for path: String, key: String, section: String, in configuration: Configuration
    ) -> CheckLine {
        let user = FileStatus.name(ofUser: configuration.expectedUser)
        guard configuration.expectedUser == EffectiveUser.current else {
            return CheckLine(.note, section, .hiddenFromCaller(key: key, path: path, user: user))
        }
        return CheckLine(.fail, section, .hiddenFromUser(key: key, path: path, user: user))
    }

    /// Checks that the service's user can create the outbox or write to it. Returns a line for each problem.
    /// `verifyOutbox` checks the outbox's file itself.
    private static func outboxLines(_ configuration: Configuration) -> [CheckLine] {
        let path = configuration.outbox.path
        guard path.hasPrefix("/") else { return [] }  // a relative path is reported as such
        let directory = existingDirectory(above: path)
        func fault(_ finding: CheckFinding.OutboxFinding) -> [CheckLine] {
            [CheckLine(.fail, "outbox", .outbox(finding))]
        }
        guard fileKind(behind: directory) == .directory, FileSystem.volume(of: directory) != .kernel else {
            return fault(.invalidAncestor(path: path, ancestor: directory))
        }
        if FileSystem.isReadOnly(at: directory) {
            guard SandboxedCheck.current != nil else { return fault(.readOnly(path: path, directory: directory)) }
            return fault(.deniedByUnit(path: path, directory: directory, unit: SandboxedCheck.unitName))
        }
        // An existing outbox needs no further space, because its reserve file exists.
        if (try? FileSystem.entry(at: path)) == .some(nil), let line = shortageLine(forOutboxIn: directory) {
            return [line]
        }
        let user = configuration.expectedUser
        if user == EffectiveUser.current, let obstacle = FileSystem.obstacle(to: .write, at: directory) {
            let name = SandboxedCheck.current?.user ?? FileStatus.name(ofUser: user)
            return fault(.notWritable(directory: directory, user: name, reason: obstacle.reason))
        }
        return unwritableLine(forOutboxAt: path, as: user).map { [$0] } ?? []
    }

    /// Tries to create a directory next to the outbox at `path`, with the rights of `user`. Returns a line if that
    /// fails; `nil` if it works or can't be tried.
    private static func unwritableLine(forOutboxAt path: String, as user: UInt32) -> CheckLine? {
        let directory = FileSystem.parent(of: FileSystem.destination(of: path))
        guard let status = try? FileStatus(followingLinksAt: directory), status.kind == .directory else { return nil }
        let attempt = try? EffectiveUser.withFileRights(of: user, groups: [status.group]) {
            FileSystem.obstacleToWriting(in: directory)
        }
        guard let obstacle = attempt ?? nil else { return nil }
        let finding = CheckFinding.OutboxFinding.notWritable(
            directory: directory, user: FileStatus.name(ofUser: user), reason: obstacle.reason)
        return CheckLine(.fail, "outbox", .outbox(finding))
    }

    /// The number of bytes that must be free for a new outbox. They hold its reserve against a full disk, and a
    /// write-ahead log with a few updates.
    private static let minimumFreeBytes: Int64 = 1_000_000
    /// The number of files that a new outbox needs: the database, its log, index and lock, the reserve, and the records
    /// next to the database.
    private static let minimumFreeFiles: Int64 = 8

    /// Returns a line if `directory` has too little space for a new outbox; otherwise `nil`.
    static func shortageLine(forOutboxIn directory: String) -> CheckLine? {
        if let left = FileSystem.freeFiles(at: directory), left < minimumFreeFiles {
            let finding = CheckFinding.OutboxFinding.tooFewInodes(
                directory: directory, available: left, needed: minimumFreeFiles)
            return CheckLine(.fail, "outbox", .outbox(finding))
        }
        guard let free = FileSystem.freeBytes(at: directory), free < minimumFreeBytes else { return nil }
        let finding = CheckFinding.OutboxFinding.tooLittleSpace(
            directory: directory, freeBytes: free, neededBytes: minimumFreeBytes)
        return CheckLine(.fail, "outbox", .outbox(finding))
    }

    /// Returns the nearest parent directory of `path` that exists.
    private static func existingDirectory(above path: String) -> String {
        var directory = FileSystem.parent(of: path)
        while fileKind(behind: directory) == nil, directory != "/", directory != "." {
            directory = FileSystem.parent(of: directory)
        }
        return directory
    }

    /// Checks the files, variables and programs that are needed to request a token. Returns a line for each problem.
    private static func tokenLines(
        _ provider: AuthorizationConfiguration?, section: String, _ configuration: Configuration
    ) -> [CheckLine] {
        var lines: [CheckLine] = []
        func report(_ fault: TokenFault) {
            // A missing variable or credential is only worth a note, because the service may have it although this
            // process doesn't.
            var isNote = false
            if case .sourceUnusable(let fault) = fault { isNote = fault.mayConcernThisProcessAlone }
            // The service requests no consumer tokens.
            let code = section == "authorization" ? ConditionCode(fault) : nil
            lines.append(CheckLine(isNote ? .note : .fail, section, fault.wording.sentence.description, code: code))
        }
        func check(_ body: () throws(AuthorizationError) -> Void) {
            do { try body() } catch { report(error.fault) }
        }
        switch provider {
        case .http(let settings, _):
            for header in settings.headers {
                check(header.validate)
                if let doubt = header.quotesWarning { lines.append(CheckLine(.note, section, doubt)) }
            }
            if let body = settings.body {
                check { () throws(AuthorizationError) in try body.requireReadable(for: "\(section).body") }
            }
        case .command(let arguments, let environment, _, _):
            if let program = arguments.first, isHidden(program) {
                lines.append(
                    hiddenPathLine(for: program, key: "\(section).command", section: section, in: configuration))
            } else if let program = arguments.first, let fault = TokenProgram.problem(of: program) {
                report(.programUnusable(key: "\(section).command", fault))
            }
            for (name, secret) in environment.sorted(by: { $0.key < $1.key }) {
                check { () throws(AuthorizationError) in try secret.requireReadable(for: "variable \(name)") }
            }
        case .file(let template, _):
            let path = configuration.expanded(template)
            // A path that still contains a placeholder can't be checked, because the trip isn't known yet.
            if !path.contains("{") {
                check { () throws(AuthorizationError) in try SecretFile.requireProtected(path, for: "the token") }
            }
        case nil: break
        }
        return lines
    }

    /// Returns a line for each fact that isn't a problem but is worth knowing.
    private static func noteLines(_ configuration: Configuration) -> [CheckLine] {
        var lines: [CheckLine] = []
        func note(_ finding: CheckFinding, on section: String) { lines.append(CheckLine(.note, section, finding)) }
        if configuration.vehicle.service == .scheduledTasks {
            let keys = ["vehicle.stateWhileRunning", "vehicle.stateOnStop"]
            for setting in configuration.settings where keys.contains(setting.path) && setting.source != .fallback {
                note(.stateWithoutEffect(key: setting.path), on: "vehicle")
            }
        }
        for finding in outboxNotes(configuration) { note(.outbox(finding), on: "outbox") }
        if case .loopback(_, port: 0) = configuration.statusAddress { note(.statusPortUnknown, on: "status") }
        if let window = configuration.outbox.durability.window {
            note(.economyDurability(updates: window.updates, span: window.span), on: "durability")
        }
        return lines
    }

    private static func outboxNotes(_ configuration: Configuration) -> [CheckFinding.OutboxFinding] {
        var notes: [CheckFinding.OutboxFinding] = []
        let user = configuration.expectedUser
        let path = configuration.outbox.path
        if user != EffectiveUser.current {
            notes.append(.ownedByAnotherUser(path: path, user: FileStatus.name(ofUser: user)))
        }
        if let place = FileSystemTable.unmounted(above: path) {
            notes.append(.notMounted(path: path, mountPoint: place))
        }
        let outbox = FileSystem.destination(of: path)
        if FileSystem.volume(of: existingDirectory(above: outbox)) == .memory {
            notes.append(.inMemory(path: path))
        } else if outbox.hasPrefix("/tmp/") {
            notes.append(.inTemporaryDirectory(path: path))
        }
        let directory = FileSystem.parent(of: outbox)
        if path.hasPrefix("/"), (try? FileStatus(at: directory)) == .some(nil), directory != "/var/lib/waypost" {
            notes.append(.directoryMissing(directory))
        }
        return notes
    }
}
