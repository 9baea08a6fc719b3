import LinuxPlatform

/// What the unit lets the service see and write of the file system. `waypost check` runs outside of it, where all of
/// that looks well. Pure.
package struct ServiceSandbox: Sendable, Hashable {
    /// As whom the service runs, by name.
    package let user: String
    /// The groups that the unit gives to the service: its own, where that is not the user's, and others beside it.
    package let group: String?
    package let supplementaryGroups: [String]
    /// Where the service looks for programs.
    package let programFolders: [String]
    /// Which configuration the service reads.
    package let configurationFile: String

    /// A folder, and by which setting of the unit it is what it is.
    private struct Place: Sendable, Hashable {
        let folder: String
        let setting: String
    }

    /// Of which the service has its own, empty at its start.
    private var own: [Place] = []
    /// Closed, or empty.
    private var closed: [Place] = []
    private var readOnly: [Place] = []
    private var writable: [String] = []
    /// From outside, in spite of the rest.
    private var bound: [String] = []
    /// Empty again after each stop.
    private let passing: [String]

    package init(_ unit: ServiceUnit) {
        user = unit.value("User") ?? "root"
        group = unit.value("Group")
        supplementaryGroups = unit.words("SupplementaryGroups")
        let path = unit.words("Environment").last { $0.hasPrefix("PATH=") }?.dropFirst("PATH=".count)
        // As systemd has it.
        let usual: Substring = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        programFolders = (path ?? usual).split(separator: ":").map(String.init)
        let command = unit.words("ExecStart")
        let option = command.firstIndex(of: "--config").map { $0 + 1 }
        configurationFile = option.flatMap { $0 < command.count ? command[$0] : nil } ?? Configuration.usualFile
        passing = unit.words("RuntimeDirectoryPreserve").contains("yes") ? [] : unit.folders("RuntimeDirectory", "/run")

        func setting(_ key: String) -> String? {
            guard let value = unit.value(key), !["no", "false", "off", "0"].contains(value) else { return nil }
            return "\(key)=\(value)"
        }
        if let setting = setting("PrivateTmp") {
            own = ["/tmp", "/var/tmp"].map { Place(folder: $0, setting: setting) }
        }
        if let setting = setting("ProtectHome") {
            let homes = ["/home", "/root", "/run/user"].map { Place(folder: $0, setting: setting) }
            if setting.hasSuffix("=read-only") { readOnly += homes } else { closed += homes }
        }
        closed += unit.words("InaccessiblePaths").map { Place(folder: Self.plain($0), setting: "InaccessiblePaths=") }
        if let setting = setting("ProtectSystem") {
            let folders =
                switch unit.value("ProtectSystem") {
                case "strict"?: ["/"]
                case "full"?: ["/usr", "/boot", "/efi", "/etc"]
                default: ["/usr", "/boot", "/efi"]
                }
            readOnly += folders.map { Place(folder: $0, setting: setting) }
        }
        readOnly += unit.words("ReadOnlyPaths").map { Place(folder: Self.plain($0), setting: "ReadOnlyPaths=") }
        bound = ["BindPaths", "BindReadOnlyPaths"].flatMap(unit.words).map { word in
            let parts = Self.plain(word).split(separator: ":")
            return String(parts.count > 1 ? parts[1] : parts.first ?? "")
        }
        let bases = [
            ("StateDirectory", "/var/lib"), ("RuntimeDirectory", "/run"), ("CacheDirectory", "/var/cache"),
            ("LogsDirectory", "/var/log"),
        ]
        writable = own.map(\.folder) + ["/dev", "/proc", "/sys"]
        for (setting, base) in bases { writable += unit.folders(setting, base) }
        writable += unit.words("ReadWritePaths").map(Self.plain)
        writable += unit.words("BindPaths").map { String(Self.plain($0).prefix { $0 != ":" }) }
    }

    /// Why the service does not see what others see at `path`, to stand behind it; `nil` when it does.
    package func blindness(at path: String) -> String? {
        guard !bound.contains(where: { Self.isWithin(path, $0) }) else { return nil }
        if let place = own.first(where: { Self.isWithin(path, $0.folder) }) {
            return "is not seen by the service, which has a \(place.folder) of its own (\(place.setting) in "
                + "\(ServiceUnit.name))"
        }
        if let place = closed.first(where: { Self.isWithin(path, $0.folder) }) {
            return "is not seen by the service, to which \(place.folder) is closed (\(place.setting) in "
                + "\(ServiceUnit.name))"
        }
        return nil
    }

    /// Why the service cannot write at `path`, where it sees it; `nil` when it can, as far as the unit says.
    package func writeProtection(at path: String) -> String? {
        guard !writable.contains(where: { Self.isWithin(path, $0) }),
            let place = readOnly.first(where: { Self.isWithin(path, $0.folder) })
        else { return nil }
        return "cannot be written by the service (\(place.setting) in \(ServiceUnit.name))"
    }

    /// The folder of `path` that systemd removes with all that is in it whenever the service stops.
    package func passingFolder(of path: String) -> String? { passing.first { Self.isWithin(path, $0) } }

    /// Without what says how systemd takes it.
    private static func plain(_ path: String) -> String { String(path.drop { "-+".contains($0) }) }

    private static func isWithin(_ path: String, _ folder: String) -> Bool {
        path == folder || path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
    }
}

extension ServiceUnit {
    /// The folders of a key such as `StateDirectory`, below their base.
    fileprivate func folders(_ key: String, _ base: String) -> [String] {
        words(key).map { "\(base)/\($0.prefix { $0 != ":" })" }
    }
}

extension ServiceSandbox {
    /// That of this machine's service, where it is the one that reads `file`. Reads files; not for the shared pool.
    package static func installed(reading file: String) -> ServiceSandbox? {
        guard let sandbox = ServiceUnit.installed().map(ServiceSandbox.init) else { return nil }
        return file == sandbox.configurationFile || FileSystem.isSameFile(file, sandbox.configurationFile)
            ? sandbox : nil
    }
}
