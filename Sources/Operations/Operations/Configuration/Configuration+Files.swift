import FleetEngine
import Glibc
import LinuxPlatform
import ReportedText
import SQLiteOutbox

/// The files of a configuration: those it names, and those that Waypost makes, which take the place of whatever is
/// there. No path may be both.
extension Configuration {
    /// Notes each path that is needed twice; `file` is the configuration's own.
    func reportSharedPaths(to reading: ConfigurationReading, file: String) {
        let filesRead =
            [(name: "this configuration", path: file)]
            + filesRead.map { (name: "the file of \"\($0.key)\"", path: $0.path) }
        let besideOutbox = [StallRecord.path(besideOutbox: ""), PendingState.suffix, OutboxVehicle.suffix]
        let outboxFiles = (OutboxConfiguration.companions + besideOutbox).map { outbox.path + $0 }
        if let used = filesRead.first(where: { used in outboxFiles.contains { Self.isSame($0, used.path) } }) {
            reading.add("outbox.path", "is \(outbox.path), whose files would replace \(used.name); use another path")
        }
        guard case .unix(let socket) = statusAddress else { return }
        if outboxFiles.contains(where: { Self.isSame($0, socket) }) {
            reading.add(
                "status.listen",
                "is unix:\(socket), a file of the outbox; use another path, as unix:/run/waypost/status")
        } else if let used = filesRead.first(where: { Self.isSame(socket, $0.path) }) {
            reading.add(
                "status.listen",
                "is unix:\(socket), which is \(used.name); use another path, as unix:/run/waypost/status")
        }
    }

    /// `template` with the ids of this vehicle and its provider.
    func expanded(_ template: String) -> String {
        template.replacing("{vehicleId}", with: vehicle.vehicleID)
            .replacing("{providerId}", with: vehicle.providerID)
    }

    /// What is only read, by the keys that name it.
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
        for (key, provider) in [("authorization", authorization), ("consumerAuthorization", consumerAuthorization)] {
            switch provider {
            case .http(_, let trust):
                add("\(key).caFile", trust.caFile)
                add("\(key).clientCertificateFile", trust.clientCertificateFile)
                add("\(key).clientKeyFile", trust.clientKeyFile)
            case .command(let arguments, _, _, _): add("\(key).command", arguments.first.map(expanded))
            case .file(let path, _): add("\(key).path", expanded(path))
            case nil: break
            }
        }
        return files
    }

    /// Every path that the configuration names, by its key.
    var paths: [(key: String, path: String)] {
        var paths = filesRead + [(key: "outbox.path", path: outbox.path)]
        if case .unix(let socket) = statusAddress { paths.append((key: "status.listen", path: socket)) }
        return paths
    }

    /// Returns the files that decide what Waypost does or that hold its keys, and that others than `user` and root can
    /// change: the section that names each, and what is wrong with it. `file` is the configuration's own path.
    ///
    /// It looks at files, so it isn't for the shared pool.
    package func exposedFiles(from file: String?, to user: UInt32) -> [(section: String, text: String)] {
        var files = filesRead.filter { key, path in
            !key.hasPrefix("receiver.") && !key.hasSuffix(".path") && key != "vehicle.privateModeFile"
                && path.hasPrefix("/")
        }
        for (key, provider) in [("authorization", authorization), ("consumerAuthorization", consumerAuthorization)] {
            guard case .command(let arguments, _, _, _)? = provider else { continue }
            // A shell or an interpreter runs the file that an argument names.
            for path in arguments.dropFirst() where path.hasPrefix("/") { files.append(("\(key).command", path)) }
        }
        if let file { files.insert(("configuration", file), at: 0) }
        return files.compactMap { key, path in
            FolderTrust.exposure(of: path, for: user).map {
                (String(key.prefix { $0 != "." }), "\(key): \(path) \($0)")
            }
        }
    }

    /// By its words, or when both are there by what they lead to.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        func plain(_ path: String) -> [Substring] {
            let path = path.hasPrefix("/") ? path : (FileSystem.resolved(".") ?? "") + "/" + path
            return path.split(separator: "/").filter { $0 != "." }
        }
        return plain(one) == plain(other) || FileSystem.isSameFile(one, other)
    }

    /// The user who must run this: in the service's sandbox this one, elsewhere the owner of the outbox's directory.
    package var expectedUser: UInt32 {
        SandboxedCheck.inside == nil ? EffectiveUser.expected(at: outbox.path) : EffectiveUser.current
    }

    /// Makes sure that the outbox can be made where it is to be, as far as this user may look; touches nothing.
    package func proveOutbox() throws(AgentError) {
        do throws(SystemError) { try outbox.requireOwnFiles(for: expectedUser) } catch {
            if let refusal = error.refusal { throw AgentError(.configuration, "outbox.path: \(refusal)") }
        }
    }

    /// Whether `path` lies where a unit may have its folder made when the service starts (RuntimeDirectory=,
    /// StateDirectory= and their like).
    private static func isMadeAtStart(_ path: String) -> Bool {
        ["/run/", "/var/run/", "/var/lib/", "/var/cache/"].contains(where: path.hasPrefix)
    }

    /// The same of the status socket.
    package func proveStatusSocket() throws(AgentError) {
        guard case .unix(let socket) = statusAddress else { return }
        do throws(SystemError) { try ListeningSocket.require(socket, for: EffectiveUser.expected(at: socket)) } catch {
            if let refusal = error.refusal { throw AgentError(.configuration, "status.listen: \(refusal)") }
            guard error.number == ENOENT || error.number == ENOTDIR, !Self.isMadeAtStart(socket) else { return }
            throw AgentError(.configuration, "status.listen: \(ListenError.system(statusAddress, error))")
        }
    }

    /// Makes sure that the status port is free: takes it for a moment, unless the service that has the outbox has it,
    /// or this user can't see whether there is one.
    func proveStatusPort() throws(AgentError) {
        guard case .loopback(_, 1...) = statusAddress, OutboxConfiguration.owner(ofOutboxAt: outbox.path) == nil,
            OutboxConfiguration.veil(overOwnerOfOutboxAt: outbox.path) == nil
        else { return }
        do throws(ListenError) { _ = try ListeningSocket(on: statusAddress) } catch {
            if case .system(_, let cause) = error, cause.number == EACCES {
                throw AgentError(.unavailable, "status.listen: \(error)")
            }
            // The service itself is asked for a check, too, when its outbox is not open.
            guard case .inUse = error, error.holder?.processID != getpid() else { return }
            throw AgentError(.unavailable, "status.listen: \(error)")
        }
    }
}
