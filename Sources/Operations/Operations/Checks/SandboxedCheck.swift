import Conditions
import LinuxPlatform
import ReportedText

/// A run of `waypost check` in the service's sandbox. systemd-run creates the sandbox from the properties that systemd
/// reports for the service's unit.
package enum SandboxedCheck {
    static let unitName = "waypost.service"

    /// The process in which the checks run.
    package enum Place: Sendable, Hashable {
        /// This process, which already runs in the sandbox.
        case here
        /// This process, without a sandbox, for this reason.
        case outside(reason: String)
        /// A new process in the sandbox, which this command starts.
        case sandbox(command: [String])
    }

    /// Returns the process in which the checks of the configuration `file` should run. `arguments` are the command-line
    /// arguments of `check`. Starts `systemctl`, so it must not run on the shared thread pool.
    package static func place(forFile file: String, arguments: [String]) async -> Place {
        guard current == nil else { return .here }
        guard isSystemdRunning, let program = ProcessStart.executable else {
            return .outside(reason: "systemd isn't running here")
        }
        guard EffectiveUser.current == 0 else { return .outside(reason: "run this as root (sudo)") }
        let shown = await output(of: ["/usr/bin/systemctl", "show", "--all", unitName])
        let properties = Properties(shown: shown, sources: await output(of: ["/usr/bin/systemctl", "cat", unitName]))
        guard properties["LoadState"] == "loaded" else { return .outside(reason: "there is no \(unitName)") }
        let path = FileSystem.resolved(file) ?? file
        guard FileSystem.isSameFile(path, properties.configurationFile) else {
            return .outside(reason: "\(unitName) reads \(properties.configurationFile)")
        }
        return .sandbox(command: properties.command(running: program, arguments: arguments + ["--config", path]))
    }

    /// Whether systemd manages this host's services (sd_booted(3)).
    static var isSystemdRunning: Bool { (try? FileStatus(at: "/run/systemd/system"))?.kind == .directory }

    /// Returns the standard output of a program of systemd.
    static func output(of arguments: [String]) async -> String {
        let child = ChildProcess(
            arguments: arguments, environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C"], outputLimit: 1 << 20)
        return String(decoding: (try? await child.run())?.standardOutput ?? [], as: UTF8.self)
    }

    /// The environment variable that describes the sandbox to the process in it. It contains the service's user, and
    /// the directories that the unit hides.
    static let variableName = "WAYPOST_SANDBOX"

    /// The sandbox in which this process runs: the service's user and the hidden directories; `nil` outside a sandbox.
    static let current: (user: String, hiddenDirectories: [String])? = {
        let words = (ProcessEnvironment.variables[variableName] ?? "").split(separator: " ").map(String.init)
        return words.first.map { ($0, Array(words.dropFirst())) }
    }()

    /// Returns a line for each path that the unit hides from the service because it is in one of `directories`.
    static func hiddenPathLines(for paths: [(key: String, path: String)], in directories: [String]) -> [CheckLine] {
        paths.compactMap { key, path in
            guard let directory = directories.first(where: { path == $0 || path.hasPrefix($0 + "/") }),
                (try? FileStatus(followingLinksAt: path)) == nil
            else { return nil }
            let finding = CheckFinding.hiddenByUnit(key: key, path: path, directory: directory, unit: unitName)
            return CheckLine(.fail, String(key.prefix { $0 != "." }), finding)
        }
    }

    /// The properties of the service's unit as systemd reports them, including drop-ins.
    struct Properties {
        /// The properties that are copied, because they determine the service's access to files and devices.
        /// `RuntimeDirectory` is left out, because systemd would remove the service's directory after the check.
        /// Properties that would hide the service's process from the check are left out too.
        private static let copiedKeys: Set = [
            "User", "Group", "SupplementaryGroups", "UMask", "Environment", "WorkingDirectory", "RootDirectory",
            "StateDirectory", "StateDirectoryMode", "CacheDirectory", "LogsDirectory", "ProtectSystem", "ProtectHome",
            "PrivateTmp", "PrivateDevices", "PrivateNetwork", "PrivateUsers", "PrivateMounts", "ProtectKernelTunables",
            "ProtectKernelModules", "ProtectKernelLogs", "ProtectControlGroups", "ProtectClock", "ProtectHostname",
            "ReadWritePaths", "ReadOnlyPaths", "InaccessiblePaths", "ExecPaths",
            "NoExecPaths", "TemporaryFileSystem", "BindPaths", "BindReadOnlyPaths", "DevicePolicy", "DeviceAllow",
            "RestrictAddressFamilies", "RestrictNamespaces", "RestrictSUIDSGID", "NoNewPrivileges", "IPAddressAllow",
            "IPAddressDeny", "MemoryDenyWriteExecute", "CapabilityBoundingSet", "AmbientCapabilities", "KeyringMode",
        ]
        /// The properties that `systemctl show` doesn't print. They are copied from the lines of the unit and its
        /// drop-ins, in the same order.
        private static let keysCopiedFromUnit: Set = [
            "LoadCredential", "LoadCredentialEncrypted", "SetCredential", "SetCredentialEncrypted", "SystemCallFilter",
            "SystemCallErrorNumber",
        ]

        private let shown: [(key: String, value: String)]
        private let sources: [(key: String, value: String)]

        /// Parses the properties.
        ///
        /// - Parameters:
        ///   - shown: the output of `systemctl show`.
        ///   - sources: the output of `systemctl cat`.
        init(shown: String, sources: String) {
            func settings(_ text: String) -> [(key: String, value: String)] {
                text.split(separator: "\n").map { line in
                    let key = String(line.prefix { $0 != "=" })
                    return (key, String(line.dropFirst(key.count + 1)))
                }
            }
            self.shown = settings(shown)
            self.sources = settings(sources)
        }

        /// The value of the property `key`; empty if it isn't set. If it is listed more than once, the last value
        /// applies.
        subscript(key: String) -> String { shown.last { $0.key == key }?.value ?? "" }

        /// The configuration file that the service reads.
        var configurationFile: String {
            let words = self["ExecStart"].replacing("--config=", with: "--config ").split(separator: " ")
            guard let option = words.firstIndex(of: "--config"), option + 1 < words.count else {
                return Configuration.defaultFile
            }
            return String(words[option + 1])
        }

        /// The directories that the unit hides from the service.
        var hiddenDirectories: [String] {
            (self["PrivateTmp"] == "yes" ? ["/tmp", "/var/tmp"] : [])
                + (["yes", "tmpfs"].contains(self["ProtectHome"]) ? ["/home", "/root", "/run/user"] : [])
                + self["InaccessiblePaths"].split(separator: " ").map { String($0.drop { "-+".contains($0) }) }
        }

        /// Returns the systemd-run command that runs `program check` in the sandbox.
        func command(running program: String, arguments: [String]) -> [String] {
            var settings = shown.filter {
                Self.copiedKeys.contains($0.key) && (!$0.value.isEmpty || $0.key == "CapabilityBoundingSet")
            }
            settings += shown.filter { $0.key == "EnvironmentFiles" }.map { key, value in
                let isOptional = value.hasSuffix("(ignore_errors=yes)")
                return ("EnvironmentFile", (isOptional ? "-" : "") + value.prefix { $0 != " " })
            }
            settings += sources.filter { Self.keysCopiedFromUnit.contains($0.key) }
            let user = self["User"].isEmpty ? "root" : self["User"]
            settings.append(
                (
                    "Environment",
                    "\"\(SandboxedCheck.variableName)=\(([user] + hiddenDirectories).joined(separator: " "))\""
                ))
            // This time limit ends the sandbox before the caller stops waiting for it.
            settings.append(("RuntimeMaxSec", "150"))
            return ["/usr/bin/systemd-run", "--quiet", "--pipe", "--wait", "--collect"]
                + settings.map { "--property=\($0.key)=\($0.value)" } + ["--", program, "check"] + arguments
        }
    }
}
