import LinuxPlatform
import SQLiteOutbox

/// What `waypost check` says of a configuration that is the service's, by the service's unit and user: files that it
/// does not see, may not read or cannot make, though whoever runs the check can.
package struct ServiceCheck {
    /// What the unit lets the service do.
    let sandbox: ServiceSandbox
    /// As whom the service runs; `nil` if there is no such user.
    let user: SystemUser?
    /// Whether another user than `user` makes the check, who may do other things.
    var judgesModes = true
    /// What lies behind the links of a path.
    var status: (String) -> FileStatus? = { try? FileStatus(behind: $0) }
    /// Where a path leads.
    var resolved: (String) -> String = FileSystem.destination
    /// Why an attempt to use a path as `user` failed; `nil` if it worked, or could not be made.
    var obstacle: (String, FileSystem.Use) -> String? = { _, _ in nil }

    /// That of this machine's service, where it is the one that reads `file`. Reads files; not for the shared pool.
    static func installed(reading file: String) -> ServiceCheck? {
        guard let sandbox = ServiceSandbox.installed(reading: file) else { return nil }
        let user = SystemUser(
            named: sandbox.user, group: sandbox.group, others: sandbox.supplementaryGroups)
        let isAnother = user?.id != EffectiveUser.current
        let obstacle = { (path: String, use: FileSystem.Use) in
            isAnother ? user.flatMap { Self.obstacle(to: use, at: path, as: $0) } : nil
        }
        return ServiceCheck(sandbox: sandbox, user: user, judgesModes: isAnother, obstacle: obstacle)
    }

    private static func obstacle(to use: FileSystem.Use, at path: String, as user: SystemUser) -> String? {
        let attempt = try? EffectiveUser.withFileRights(of: user.id, groups: user.groups) { () -> String? in
            if use == .write, (try? FileStatus(behind: path))?.kind == .folder {
                return FileSystem.obstacleToWriting(in: path)?.reason
            }
            return FileSystem.isAllowed(use, at: path) ? nil : "Permission denied"
        }
        return attempt ?? nil
    }

    /// Whether the service runs as the user with that uid.
    func runs(as user: UInt32) -> Bool { self.user?.id == user }

    package func lines(_ configuration: Configuration, from file: String) -> [CheckLine] {
        var lines: [CheckLine] = []
        func add(_ key: String, _ text: String?, _ verdict: CheckLine.Verdict = .note) {
            guard let text else { return }
            lines.append(CheckLine(verdict, String(key.prefix { $0 != "." }), text))
        }
        if user == nil {
            add(
                "service",
                "\(ServiceUnit.name) runs as the user \(sandbox.user), who does not exist here; type systemd-sysusers, or "
                    + "install the package again")
        }
        add("configuration", unreadable(file, use: .read).map { "\(file) \($0)" }, verdict(file, .read))
        for (key, path) in configuration.filesRead where !path.utf8.contains(UInt8(ascii: "{")) {
            if key.hasSuffix(".command"), !path.utf8.contains(UInt8(ascii: "/")) {
                add(key, unfoundProgram(path).map { "\(key): \($0)" })
            }
            guard path.hasPrefix("/") else { continue }
            let text = key == "vehicle.privateModeFile" ? switchTrouble(path) : trouble(key, path)
            let isHidden = key == "vehicle.privateModeFile" || blindness(at: path) != nil
            add(key, text.map { "\(key): \($0)" }, isHidden ? verdict(at: path) : verdict(path, Self.use(of: key)))
        }
        let outbox = configuration.outbox.path
        let isDeniedByUnit = verdict(at: outbox, isWritten: true) == .fail
        add(
            "outbox", outboxTrouble(outbox).map { "outbox.path: \($0)" },
            isDeniedByUnit ? .fail : verdict(FileSystem.parent(of: outbox), .write))
        switch configuration.statusAddress {
        case .unix(let path):
            add("status", socketTrouble(path).map { "status.listen: unix:\($0)" }, verdict(at: path, isWritten: true))
        case .loopback(_, let port) where (1..<1024).contains(port) && sandbox.user != "root":
            add(
                "status",
                "status.listen: port \(port) is one for root, which the service's user \(sandbox.user) may not take; choose "
                    + "one from 1024 on, as 9464")
        case .loopback: break
        }
        return lines
    }

    // MARK: - Each kind of file

    /// Of what is only read, or run.
    private func trouble(_ key: String, _ path: String) -> String? {
        if let blindness = blindness(at: path) {
            let remedy =
                switch key {
                case "receiver.device", "receiver.path": "use a path outside of it"
                case _ where key.hasSuffix(".path"):
                    "have it written where the service sees it, as to /run/vehicle/token.jwt, and correct the key"
                case _ where key.hasSuffix(".command"): "put it into /usr/local/bin, and correct the key"
                default: "put it into /etc/waypost, and correct the key"
                }
            return "\(path) \(blindness); \(remedy)"
        }
        // What is not there is told elsewhere.
        guard status(path) != nil || status(FileSystem.parent(of: path)) == nil else { return nil }
        return unreadable(path, use: Self.use(of: key)).map { "\(path) \($0)" }
    }

    /// What the service does with the file that a key names.
    private static func use(of key: String) -> FileSystem.Use {
        key.hasSuffix(".command") ? .execute : key == "receiver.device" ? .write : .read
    }

    /// A name without a folder is looked for where the service's PATH says.
    private func unfoundProgram(_ name: String) -> String? {
        guard !sandbox.programFolders.contains(where: { status("\($0)/\(name)") != nil }) else { return nil }
        return
            "there is no \(name) where the service looks for programs (\(sandbox.programFolders.joined(separator: ":"))); "
            + "write its whole path, from / on"
    }

    private func switchTrouble(_ path: String) -> String? {
        if let blindness = blindness(at: path) {
            return
                "\(path) \(blindness), so that it does not switch; use a path that it sees, as /var/lib/vehicle/private"
        }
        guard let folder = sandbox.passingFolder(of: path) else { return nil }
        return
            "\(path) is gone after each stop and restart of the service, for systemd removes \(folder) then, and the "
            + "vehicle is not private any more; use a folder of its own, as /var/lib/vehicle/private"
    }

    private func outboxTrouble(_ path: String) -> String? {
        let folder = FileSystem.parent(of: path)
        if let blindness = blindness(at: path) {
            return "\(path) \(blindness), so that updates are kept elsewhere or not at all; use /var/lib/waypost/"
                + FileSystem.name(of: path)
        }
        if let protection = writeProtection(at: path) {
            return "\(path) \(protection); use /var/lib/waypost/\(FileSystem.name(of: path)), or type systemctl edit "
                + "waypost and write [Service] and below it ReadWritePaths=\(folder)"
        }
        guard judgesModes, let user, let there = status(folder) else { return nil }
        if user.isAllowed(.write, to: there) {
            return obstacle(folder, .write).map {
                "\(path) cannot be written by the service's user \(user.name): \($0); let that user write in \(folder), or "
                    + "choose another path"
            }
        }
        return "\(path) cannot be written by the service's user \(user.name), for \(folder) belongs to "
            + "\(FileStatus.words(there.owner)); type chown \(user.name): \(folder)"
    }

    private func socketTrouble(_ path: String) -> String? {
        if let blindness = blindness(at: path) {
            return "\(path) \(blindness), so that nobody else finds it; use unix:/run/waypost/status"
        }
        if let protection = writeProtection(at: path) { return "\(path) \(protection); use unix:/run/waypost/status" }
        return nil
    }

    // MARK: - What they have in common

    /// An attempt to use it as the service's user is proof; modes are not all that lets a user in.
    private func verdict(_ path: String, _ use: FileSystem.Use) -> CheckLine.Verdict {
        obstacle(resolved(path), use) == nil ? .note : .fail
    }

    /// The unit is sure to keep it from the service.
    private func verdict(at path: String, isWritten: Bool = false) -> CheckLine.Verdict {
        blindness(at: path) != nil || isWritten && writeProtection(at: path) != nil ? .fail : .note
    }

    private func blindness(at path: String) -> String? {
        sandbox.blindness(at: path) ?? sandbox.blindness(at: resolved(path))
    }

    private func writeProtection(at path: String) -> String? { sandbox.writeProtection(at: resolved(path)) }

    /// Why the service's user cannot use the file at `path`, to stand behind it, with what opens it to him; `nil` when
    /// he can, as far as modes show.
    private func unreadable(_ path: String, use: FileSystem.Use) -> String? {
        guard judgesModes, let user else { return nil }
        let real = resolved(path)
        var folder = real
        var folders: [String] = []
        while folder != "/", folder != "." {
            folder = FileSystem.parent(of: folder)
            folders.append(folder)
        }
        for folder in folders.reversed() {
            guard let there = status(folder) else { return nil }
            if !user.isAllowed(.execute, to: there) {
                return "cannot be reached by the service's user \(user.name), for \(folder) is closed to him; type "
                    + Self.opening(folder, there, user, "x")
            }
        }
        guard let there = status(real), !user.isAllowed(use, to: there) else { return nil }
        let (verb, letters) =
            switch use {
            case .read: ("read", "r")
            case .write: ("opened", "rw")
            case .execute: ("run", "rx")
            }
        return "cannot be \(verb) by the service's user \(user.name); type "
            + Self.opening(real, there, user, letters, isDevice: there.kind == .device)
    }

    /// What gives `user` those rights: through his group, for the file may be a secret.
    private static func opening(
        _ path: String, _ there: FileStatus, _ user: SystemUser, _ letters: String, isDevice: Bool = false
    ) -> String {
        if isDevice {
            return "chgrp dialout \(path) and chmod g+\(letters) \(path), by a udev rule so that it stays (as "
                + "99-waypost-gnss.rules among the examples)"
        }
        if there.owner == user.id { return "chmod u+\(letters) \(path)" }
        if user.groups.contains(there.group) { return "chmod g+\(letters) \(path)" }
        return "chgrp \(user.groupName) \(path) and chmod g+\(letters) \(path)"
    }
}
