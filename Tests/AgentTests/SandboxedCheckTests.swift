import Conditions
import FoundationEssentials
import LinuxPlatform
import Testing
import WaypostTestSupport

@testable import Operations

/// The sandbox of `waypost check`, built from systemd's description of the unit.
@Suite struct SandboxedChecks {
    typealias Properties = SandboxedCheck.Properties

    private static func properties(_ lines: String...) -> Properties {
        Properties(shown: lines.joined(separator: "\n"), sources: "")
    }

    /// The kinds of serial ports on PCs, over USB, and on the boards of gateways, and the kernel's GNSS devices.
    @Test(arguments: ["ttyUSB", "ttyACM", "ttyS", "ttyAMA", "ttymxc", "ttyLP", "ttyTHS", "ttyMSM", "gnss"])
    func useAUnitThatAllowsReceivers(kind: String) throws {
        let unit = try String(
            contentsOf: Fixtures.checkout.appending(path: "packaging/waypost.service"), encoding: .utf8)
        #expect(unit.contains("\nDeviceAllow=char-\(kind) rw\n"))
    }

    @Test(
        arguments: [
            ("ProtectSystem=strict", ["--property=ProtectSystem=strict"]),
            ("ReadWritePaths=/data /more", ["--property=ReadWritePaths=/data /more"]),
            (
                "DeviceAllow=char-ttyS rw\nDeviceAllow=char-gnss rw",
                [
                    "--property=DeviceAllow=char-ttyS rw", "--property=DeviceAllow=char-gnss rw",
                ]
            ),
            ("CapabilityBoundingSet=", ["--property=CapabilityBoundingSet="]), ("InaccessiblePaths=", []),
            ("StateDirectory=waypost", ["--property=StateDirectory=waypost"]),
            // If the check had a runtime directory of this name, its end would remove the service's directory.
            ("RuntimeDirectory=waypost", []), ("Restart=always", []), ("SystemCallFilter=read write", []),
            (#"Environment="A=b c" D=e"#, [#"--property=Environment="A=b c" D=e"#]),
            ("EnvironmentFiles=/etc/van.env (ignore_errors=yes)", ["--property=EnvironmentFile=-/etc/van.env"]),
            ("EnvironmentFiles=/etc/van.env (ignore_errors=no)", ["--property=EnvironmentFile=/etc/van.env"]),
        ] as [(String, [String])])
    func readSettingsFromTheUnit(line: String, arguments: [String]) {
        let command = Self.properties(line).command(running: "/usr/bin/waypost", arguments: ["--config", "/c.json"])
        #expect(command.starts(with: ["/usr/bin/systemd-run", "--quiet", "--pipe", "--wait", "--collect"] + arguments))
        #expect(command.suffix(5) == ["--", "/usr/bin/waypost", "check", "--config", "/c.json"])
        #expect(command.count { $0.hasPrefix("--property=") } == arguments.count + 2)
    }

    /// `systemctl show` prints no credentials.
    @Test func readCredentialsFromTheUnitFile() {
        let text = """
            # /usr/lib/systemd/system/waypost.service
            [Service]
            User=ignored
            LoadCredentialEncrypted=waypost.key
            # /etc/systemd/system/waypost.service.d/plain.conf
            [Service]
            LoadCredentialEncrypted=
            LoadCredential=waypost.key:/etc/key
            """
        let command = Properties(shown: "User=waypost", sources: text).command(running: "/w", arguments: [])
        #expect(
            command.dropFirst(5).prefix(4) == [
                "--property=User=waypost", "--property=LoadCredentialEncrypted=waypost.key",
                "--property=LoadCredentialEncrypted=", "--property=LoadCredential=waypost.key:/etc/key",
            ])
    }

    @Test(
        arguments: [
            ("PrivateTmp=yes", ["/tmp", "/var/tmp"]), ("ProtectHome=yes", ["/home", "/root", "/run/user"]),
            ("ProtectHome=read-only", []), ("InaccessiblePaths=-/mnt /srv", ["/mnt", "/srv"]), ("PrivateTmp=no", []),
        ] as [(String, [String])])
    func findTheHiddenPaths(line: String, directories: [String]) {
        let properties = Self.properties("User=waypost", line)
        #expect(properties.hiddenDirectories == directories)
        let words = (["waypost"] + directories).joined(separator: " ")
        #expect(
            properties.command(running: "/w", arguments: []).contains(
                "--property=Environment=\"WAYPOST_SANDBOX=\(words)\""))
    }

    @Test(arguments: [
        ("{ path=/w ; argv[]=/w run --config /data/van.json ; ignore_errors=no }", "/data/van.json"),
        ("{ path=/w ; argv[]=/w run --config=/data/van.json ; ignore_errors=no }", "/data/van.json"),
        ("{ path=/w ; argv[]=/w run ; ignore_errors=no }", "/etc/waypost/config.json"),
        ("", "/etc/waypost/config.json"),
    ])
    func findTheConfigurationThatTheServiceReads(execStart: String, file: String) {
        #expect(Self.properties("ExecStart=" + execStart).configurationFile == file)
    }

    @Test func nameAPathThatTheUnitHides() throws {
        let directory = try TemporaryDirectory()
        let there = try directory.write([], to: "there")
        let lines = SandboxedCheck.hiddenPathLines(
            for: [
                ("authorization.path", directory.path("token")), ("outbox.path", there),
                ("upload.caFile", "/none/ca.pem"),
            ],
            in: [directory.url.path])
        #expect(
            lines == [
                CheckLine(
                    .fail, "authorization",
                    .hiddenByUnit(
                        key: "authorization.path", path: directory.path("token"), directory: directory.url.path,
                        unit: "waypost.service"))
            ])
    }

    /// Whether systemd's programs can be replaced for one process.
    private static var canReplaceSystemd: Bool {
        let programs = ["/usr/bin/systemctl", "/usr/bin/systemd-run"]
        return TinyFileSystem.isAllowed && programs.allSatisfy { FileManager.default.fileExists(atPath: $0) }
    }

    /// Programs in the place of systemd's describe a unit and run the check. The sandbox has the user that a drop-in
    /// sets, and no runtime directory.
    @Test(
        .enabled(if: canReplaceSystemd, "replacing systemd's programs needs root and these programs"),
        arguments: [("check", "check"), ("bundle -o -", "check --online")])
    func runTheCheckInTheSandboxOfTheUnit(command: String, check: String) async throws {
        let directory = try TemporaryDirectory()
        let config = try ServiceSetup(status: "unix:" + directory.path("status")).write(in: directory)
        let unit = """
            LoadState=loaded
            User=van
            RuntimeDirectory=waypost
            ExecStart={ path=/w ; argv[]=/w run --config \(config) ; ignore_errors=no }
            """
        let calls = directory.path("calls")
        let systemctl = "#!/bin/sh\necho \"systemctl $*\" >>\(calls)\n[ $1 = cat ] || cat <<END\n\(unit)\nEND\n"
        let systemdRun = """
            #!/bin/sh
            echo "systemd-run $*" >>\(calls)
            while [ "$1" != -- ]; do shift; done
            shift
            WAYPOST_SANDBOX=van exec "$@"

            """
        try directory.write(systemctl.utf8, to: "systemctl", mode: 0o755)
        try directory.write(systemdRun.utf8, to: "systemd-run", mode: 0o755)
        let outcome = try await ChildProcess(
            arguments: [
                "/usr/bin/unshare", "--mount", "/bin/sh", "-ec",
                """
                mount -t tmpfs tmpfs /run
                mkdir -p /run/systemd/system
                for name in systemctl systemd-run; do mount --bind "$1/$name" /usr/bin/$name; done
                exec "$0" \(command) --config "$2"
                """, BuiltProgram.waypost, directory.url.path, config,
            ], environment: ["PATH": "/usr/bin:/bin"].merging(BuiltProgram.environment) { $1 },
            timeLimit: BuiltProgram.hangTimeout
        ).run()
        let said = String(decoding: outcome.standardOutput, as: UTF8.self)
        #expect(outcome.ending == .exited(0), "\(said)")
        #expect(said.contains("ok    configuration  \(config) is complete"), "\(said)")
        #expect(!said.contains("sandbox not checked"), "\(said)")
        let lines = try String(contentsOfFile: calls, encoding: .utf8).split(separator: "\n")
        #expect(lines.contains("systemctl show --all waypost.service"))
        #expect(lines.contains("systemctl cat waypost.service"))
        let start = try #require(lines.last { $0.hasPrefix("systemd-run ") })
        #expect(start.contains(" --property=User=van ") && !start.contains("RuntimeDirectory"), "\(start)")
        #expect(start.hasSuffix(" \(check) --config \(config)"), "\(start)")
    }

    @Test(.enabled(if: (try? FileStatus(at: "/run/systemd/system")) == .some(nil), "systemd runs here"))
    func runOutsideTheSandboxWithoutSystemd() async {
        let place = await SandboxedCheck.place(forFile: "/etc/waypost/config.json", arguments: [])
        #expect(place == .outside(reason: "systemd isn't running here"))
    }

    /// Users 0 and 10001, and the owner 1000 of the outbox's directory.
    @Test(
        arguments: [
            (0, false, true, 1000), (0, false, false, 1000), (10_001, true, true, 10_001),
            (10_001, false, true, 1000), (10_001, false, false, 10_001),
        ] as [(UInt32, Bool, Bool, UInt32)])
    func expectThisUserInASandboxAndWithoutSystemd(
        current: UInt32, isInSandbox: Bool, isSystemdRunning: Bool, expected: UInt32
    ) {
        let user = Configuration.expectedUser(
            current: current, owner: 1000, isInSandbox: isInSandbox, isSystemdRunning: isSystemdRunning)
        #expect(user == expected)
    }
}
