package import Conditions
import FleetEngine
import Glibc
import LinuxPlatform
import ReportedText
import Reporting
import SQLiteOutbox

/// The files that a configuration names, and the files that Waypost writes. Waypost replaces the files that it writes,
/// so they must not be files that it reads.
extension Configuration {
    /// The token providers, each with the section that configures it.
    var providers: [(section: String, provider: AuthorizationConfiguration)] {
        [("authorization", authorization)] + (consumerAuthorization.map { [("consumerAuthorization", $0)] } ?? [])
    }

    /// Reports paths that the configuration uses for two purposes. `file` is the path of the configuration itself.
    func reportSharedPaths(to reading: ConfigurationReading, file: String) {
        let filesRead =
            [(name: "this configuration", path: file)]
            + filesRead.map { (name: "the file named by \"\($0.key)\"", path: $0.path) }
        let recordSuffixes = [StallRecord.path(forOutbox: ""), PendingState.suffix, OutboxVehicle.suffix]
        let outboxFiles = (OutboxConfiguration.fileSuffixes + recordSuffixes).map { outbox.path + $0 }
        if let used = filesRead.first(where: { used in outboxFiles.contains { Self.isSameFile($0, used.path) } }) {
            reading.addProblem(
                "is \(outbox.path), and the outbox's files would replace \(used.name); use another path",
                at: "outbox.path")
        }
        guard case .unix(let socket) = statusAddress else { return }
        let owner =
            outboxFiles.contains { Self.isSameFile($0, socket) }
            ? "one of the outbox's files" : filesRead.first { Self.isSameFile(socket, $0.path) }?.name
        if let owner {
            reading.addProblem(
                "is unix:\(socket), which is \(owner); use another path, such as unix:/run/waypost/status",
                at: "status.listen")
        }
    }

    /// Returns `template` with the vehicle's id and its provider's id filled in.
    func expanded(_ template: String) -> String {
        template.replacing("{vehicleId}", with: vehicle.vehicleID)
            .replacing("{providerId}", with: vehicle.providerID)
    }

    /// The files that Waypost reads but never writes, each with the key that names it.
    var filesRead: [(key: String, path: String)] {
        var files = settings.compactMap { setting in
            if case .reference(.file(let path)) = setting.source { (key: setting.path, path: path) } else { nil }
        }
        func add(_ key: String, _ path: String?) {
            if let path { files.append((key, path)) }
        }
        switch receiver.source {
        case .serial(let device, _): add("receiver.device", device)
        case .file(let path, _): add("receiver.path", path)
        case .standardInput, .tcp, .udp, .gpsd: break
        }
        add("vehicle.privateModeFile", privateModeFile)
        add("upload.caFile", upload.caFile)
        for (section, provider) in providers {
            switch provider {
            case .http(_, let trust):
                add("\(section).caFile", trust.caFile)
                add("\(section).clientCertificateFile", trust.clientCertificateFile)
                add("\(section).clientKeyFile", trust.clientKeyFile)
            case .command(let arguments, _, _, _): add("\(section).command", arguments.first.map(expanded))
            case .file(let path, _): add("\(section).path", expanded(path))
            }
        }
        return files
    }

    /// Every path in the configuration, with the key that contains it.
    var paths: [(key: String, path: String)] {
        var paths = filesRead + [(key: "outbox.path", path: outbox.path)]
        if case .unix(let socket) = statusAddress { paths.append((key: "status.listen", path: socket)) }
        return paths
    }

    /// Returns a problem for each file that can be changed by users other than `user` and root, together with the
    /// file's section. Only files that control Waypost or contain its keys are checked. `file` is the path of the
    /// configuration itself.
    ///
    /// Blocks, so it must not run on the shared thread pool.
    package func exposureProblems(from file: String?, to user: UInt32) -> [(section: String, wording: Wording)] {
        var files = filesRead.filter { key, path in
            !key.hasPrefix("receiver.") && !key.hasSuffix(".path") && key != "vehicle.privateModeFile"
                && path.hasPrefix("/")
        }
        for (section, provider) in providers {
            guard case .command(let arguments, _, _, _) = provider else { continue }
            // An argument may be the path of a script that a shell or an interpreter runs.
            for path in arguments.dropFirst() where path.hasPrefix("/") { files.append(("\(section).command", path)) }
        }
        if let file { files.insert(("configuration", file), at: 0) }
        return files.compactMap { key, path in
            DirectoryTrust.exposure(of: path, for: user).map {
                (String(key.prefix { $0 != "." }), $0.wording(of: path, key: key))
            }
        }
    }

    /// Returns whether two paths are equal or refer to the same file.
    private static func isSameFile(_ one: String, _ other: String) -> Bool {
        func plain(_ path: String) -> [Substring] {
            let path = path.hasPrefix("/") ? path : (FileSystem.resolved(".") ?? "") + "/" + path
            return path.split(separator: "/").filter { $0 != "." }
        }
        return plain(one) == plain(other) || FileSystem.isSameFile(one, other)
    }

    /// The user that the service is expected to run as.
    package var expectedUser: UInt32 {
        Self.expectedUser(
            current: EffectiveUser.current, owner: EffectiveUser.expectedOwner(ofFileAt: outbox.path),
            isInSandbox: SandboxedCheck.current != nil, isSystemdRunning: SandboxedCheck.isSystemdRunning)
    }

    /// Returns the user that the service is expected to run as, as far as a process of the user `current` can know. It
    /// is `current` in the service's sandbox, and in a container, where nothing starts the service as another user. In
    /// other cases it is `owner`, the owner of the outbox's directory.
    static func expectedUser(current: UInt32, owner: UInt32, isInSandbox: Bool, isSystemdRunning: Bool) -> UInt32 {
        isInSandbox || !isSystemdRunning && current != 0 ? current : owner
    }

    /// Verifies that the outbox can be created at its path, as far as the current user can find out. Writes nothing.
    package func verifyOutbox() throws(AgentError) {
        do throws(OutboxError) { try outbox.requireOwnFiles(for: expectedUser) } catch {
            guard let refusal = error.refusal else { return }
            throw AgentError(
                .configuration, "outbox.path: \(refusal.sentence)", condition: Condition(error).code)
        }
    }

    /// Verifies that the status socket can be created at its path.
    package func verifyStatusSocket() throws(AgentError) {
        guard case .unix(let socket) = statusAddress else { return }
        do throws(SystemError) {
            try ListeningSocket.requireUsablePath(socket, for: EffectiveUser.expectedOwner(ofFileAt: socket))
        } catch {
            if error.refusal != nil { throw Self.statusError(.configuration, error) }
            // A missing directory isn't a problem here, because RuntimeDirectory= or StateDirectory= in the unit may
            // create it when the service starts.
            let isMadeAtStart = ["/run/", "/var/run/", "/var/lib/", "/var/cache/"].contains(where: socket.hasPrefix)
            guard error.number == ENOENT || error.number == ENOTDIR, !isMadeAtStart else { return }
            throw Self.statusError(.configuration, ListenError.system(statusAddress, error))
        }
    }

    /// Verifies that the status port is free, by briefly listening on it. Does nothing if this vehicle's service is
    /// running, or if the current user can't determine whether it is. The service may run without its outbox.
    func verifyStatusPort() throws(AgentError) {
        guard case .loopback(_, 1...) = statusAddress, OutboxConfiguration.owner(ofOutboxAt: outbox.path) == nil,
            OutboxConfiguration.accessObstacle(toOwnerOfOutboxAt: outbox.path) == nil
        else { return }
        do throws(ListenError) { _ = try ListeningSocket(on: statusAddress) } catch {
            if case .system(_, let cause) = error, cause.number == EACCES {
                throw Self.statusError(.unavailable, error)
            }
            // The port may belong to this process, because the service also runs this check, even while its outbox is
            // closed.
            guard case .inUse = error, error.holder?.processID != getpid(),
                !RunningService.reports(vehicle, at: statusAddress)
            else { return }
            throw Self.statusError(.unavailable, error)
        }
    }

    private static func statusError(_ code: AgentError.Code, _ error: any Error) -> AgentError {
        AgentError(code, "status.listen: \(error)", condition: .statusAddressUnavailable)
    }
}
