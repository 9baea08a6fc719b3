import FoundationEssentials
import GNSS
import Glibc
import LinuxPlatform
import Operations
import ReceiverSimulator
import SQLiteOutbox
import StrictJSON
import Testing
import TimeAndRandomness
import WaypostTestSupport

/// `waypost check`, alone and next to a running service.
@Suite(
    .serialized, .timeLimit(.minutes(3)),
    .enabled(if: !Sanitizer.isActive, "starts the program dozens of times, which takes seconds under a sanitizer")
)
struct CheckCommand {
    struct Case: CustomTestStringConvertible {
        /// The part of a good configuration to replace; DIRECTORY stands for the test's directory.
        let part: String
        let replacement: String
        /// The name of the output line, and the start of its text.
        let line: String
        var testDescription: String { line }
    }

    static let goodConfiguration = #"""
        {"vehicle": {"providerId": "p", "vehicleId": "van-7"},
         "receiver": {"type": "tcp", "host": "127.0.0.1"},
         "authorization": {"type": "file", "path": "DIRECTORY/token"},
         "upload": {"endpoint": "http://127.0.0.1:1"},
         "outbox": {"path": "DIRECTORY/o/outbox.sqlite"}}
        """#
    private static let receiver = #"{"type": "tcp", "host": "127.0.0.1"}"#
    private static let authorization = #"{"type": "file", "path": "DIRECTORY/token"}"#

    static let cases = [
        Case(
            part: "van-7", replacement: "${VAN}",
            line: "vehicle: vehicle.vehicleId is \"${VAN}\", a placeholder that nothing has "),
        Case(
            part: "van-7", replacement: "{{ van }}",
            line: "vehicle: vehicle.vehicleId is \"{{ van }}\", a placeholder"),
        Case(
            part: "van-7", replacement: "van-7 ",
            line: "vehicle: vehicle.vehicleId is \"van-7 \", with a space at its "),
        Case(
            part: receiver, replacement: #"{"type": "serial", "device": "/dev/ttyUSB0 "}"#,
            line: "receiver: receiver.device is \"/dev/ttyUSB0 \", with a space at its start or end; remove the space"),
        Case(
            part: "DIRECTORY/o/outbox.sqlite", replacement: "DIRECTORY/o/outbox.sqlite ",
            line: "outbox: outbox.path is \"DIRECTORY/o/outbox.sqlite \", with a space at its start or end; remove the "
                + "space"),
        Case(
            part: "DIRECTORY/token", replacement: "DIRECTORY/<van>/token",
            line: "authorization: authorization.path is \"DIRECTORY/<van>/token\", with a placeholder that nothing has"),
        Case(
            part: #""upload""#, replacement: #""status": {"listen": "unix:DIRECTORY/{vehicleId}"}, "upload""#,
            line: "status: status.listen is \"DIRECTORY/{vehicleId}\", with a placeholder that nothing has filled in"),
        Case(
            part: #""van-7""#, replacement: #""van-7", "privateModeFile": "/var/lib/vehicle/{vehicleId}""#,
            line:
                "vehicle: vehicle.privateModeFile is \"/var/lib/vehicle/{vehicleId}\", with a placeholder that nothing has"
        ),
        Case(
            part: authorization, replacement: #"{"type": "http", "url": "https://b.internal/${vehicleId}"}"#,
            line: "authorization: authorization.url has a $ before a placeholder, and the $ is also sent; remove it"),
        Case(
            part: authorization, replacement: #"{"type": "http", "url": "https://oauth2.googleapis.com/token"}"#,
            line: "authorization: authorization.url is an address of Google, which issues no such tokens; write your "),
        Case(
            part: authorization,
            replacement: #"{"type": "http", "url": "https://b.internal/{vehicleId}", "headers": {"A": "Bearer "}}"#,
            line: "authorization: authorization.headers.A is a scheme without a key; write the key after the scheme, "),
        Case(
            part: authorization, replacement: #"{"type": "command", "command": ["~/bin/token"]}"#,
            line:
                "authorization: authorization.command: there is no ~/bin/token, because only a shell expands ~; "
        ),
        Case(
            part: authorization, replacement: #"{"type": "command", "command": ["/bin/echo token"]}"#,
            line:
                "authorization: authorization.command: there is no /bin/echo token; write the program and each "
                + "argument as separate strings: [\"/bin/echo\", \"argument\"]"),
        Case(
            part: authorization, replacement: #"{"type": "command", "command": ["cat /x/t | head -n 1"]}"#,
            line:
                "authorization: authorization.command: there is no cat /x/t | head -n 1; write the program and each "
                + "argument as separate strings: [\"cat\", \"argument\"]; for a shell, write "),
        Case(
            part: receiver, replacement: #"{"type": "serial", "device": "ttyUSB0"}"#,
            line: "receiver: receiver.device is \"ttyUSB0\""),
        Case(
            part: receiver, replacement: #"{"type": "serial", "device": "DIRECTORY/open"}"#,
            line: "receiver: receiver.device: DIRECTORY/open is a file, not a serial port; use a device"),
        Case(
            part: receiver, replacement: #"{"type": "serial", "device": "/dev/null"}"#,
            line: "receiver: receiver.device: /dev/null is a device of the subsystem mem, not a serial port; use "),
        Case(
            part: receiver, replacement: #"{"type": "file", "path": "DIRECTORY/none"}"#,
            line: "receiver: receiver.path: DIRECTORY/none does not exist; "),
        Case(
            part: receiver, replacement: #"{"type": "file", "path": "/dev/null"}"#,
            line: "receiver: receiver.path: /dev/null is a device; set receiver.type to serial, and "),
        Case(
            part: "DIRECTORY/o/outbox.sqlite", replacement: "o/outbox.sqlite",
            line: "outbox: outbox.path is \"o/outbox.sqlite\", "),
        Case(
            part: "DIRECTORY/o/outbox.sqlite", replacement: "DIRECTORY/new/",
            line: "outbox: outbox.path is \"DIRECTORY/new/\", a directory; specify a file in it"),
        Case(
            part: "DIRECTORY/o/outbox.sqlite", replacement: "DIRECTORY/o",
            line: "outbox: outbox.path: DIRECTORY/o is a directory, not a file; specify a file in that directory"),
        Case(
            part: "DIRECTORY/o/outbox.sqlite", replacement: "/proc/outbox.sqlite",
            line: "outbox: outbox.path: /proc/outbox.sqlite can't be created, because /proc is not "),
        Case(
            part: "DIRECTORY/o/outbox.sqlite", replacement: "/dev/full",
            line: "outbox: outbox.path: /dev/full is a device, not a file; choose another path"),
        Case(
            part: #""outbox":"#, replacement: #""status": {"listen": "unix:DIRECTORY/none/status"}, "outbox":"#,
            line:
                "status: status.listen: cannot listen on unix:DIRECTORY/none/status: No such file or directory; create DIRECTORY/none "
        ),
        Case(
            part: "DIRECTORY/o/outbox.sqlite", replacement: "DIRECTORY/open",
            line:
                "outbox: outbox.path: DIRECTORY/open isn't a Waypost outbox but text, and is left unchanged; set another"
        ),
        Case(
            part: "DIRECTORY/o/outbox.sqlite", replacement: "DIRECTORY/open/o/outbox.sqlite",
            line: "outbox: outbox.path: DIRECTORY/open/o/outbox.sqlite can't be created, because DIRECTORY/open is not "
        ),
        Case(
            part: "DIRECTORY/token", replacement: "DIRECTORY/open",
            line:
                "authorization: the token comes from the file DIRECTORY/open, which contains a secret and can be read by "
                + "every user; "
        ),
        Case(
            part: "DIRECTORY/token", replacement: "DIRECTORY/none",
            line: "authorization: the token comes from the file DIRECTORY/none, which can't be read: No such"),
        Case(
            part: authorization,
            replacement:
                #"{"type": "http", "url": "https://b.internal/", "headers": {"Authorization": {"file": "DIRECTORY/open"}}}"#,
            line:
                "authorization: header Authorization comes from the file DIRECTORY/open, which contains a secret and can be "
                + "read by "
        ),
        Case(
            part: authorization,
            replacement:
                #"{"type": "http", "url": "https://b.internal/", "method": "POST", "body": {"file": "DIRECTORY/open"}}"#,
            line:
                "authorization: authorization.body comes from the file DIRECTORY/open, which contains a secret and can be "
                + "read by "
        ),
        Case(
            part: authorization, replacement: #"{"type": "http", "url": "https://backend.example.com/{vehicleId}"}"#,
            line: "authorization: authorization.url names backend.example.com, a host for examples only"),
        Case(
            part: "http://127.0.0.1:1", replacement: "http://127.0.0.1:1/v1/",
            line: "upload: upload.endpoint has a path after http://127.0.0.1:1, but requests add their own path, /v1/"),
        Case(
            part: "http://127.0.0.1:1", replacement: "https://fleetengine.googleapis.com/fleet",
            line: "upload: upload.endpoint has a path after https://fleetengine.googleapis.com, but"),
        Case(
            part: authorization, replacement: #"{"type": "file", "path": "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"}"#,
            line:
                "authorization: authorization.path is \"…\", which depends on the directory that the service starts in"),
        Case(
            part: authorization, replacement: #"{"type": "command", "command": ["DIRECTORY/none"]}"#,
            line:
                "authorization: authorization.command: there is no DIRECTORY/none; check that the program is installed"),
        Case(
            part: authorization, replacement: #"{"type": "command", "command": ["DIRECTORY/token"]}"#,
            line: "authorization: authorization.command: DIRECTORY/token is not executable; run chmod +x "),
        Case(
            part: authorization, replacement: #"{"type": "command", "command": ["no-such-program"]}"#,
            line: "authorization: authorization.command: there is no program no-such-program in PATH"),
        Case(
            part: authorization, replacement: #"{"type": "command", "command": ["DIRECTORY/o"]}"#,
            line: "authorization: authorization.command: DIRECTORY/o is a directory, not a program; specify a program"),
        Case(
            part: authorization, replacement: #"{"type": "command", "command": ["DIRECTORY/windows"]}"#,
            line: "authorization: authorization.command: DIRECTORY/windows has Windows line endings; run"),
        Case(
            part: authorization,
            replacement:
                #"{"type": "command", "command": ["/bin/true"], "environment": {"KEY": {"file": "DIRECTORY/open"}}}"#,
            line:
                "authorization: variable KEY comes from the file DIRECTORY/open, which contains a secret and can be read by "
                + "every "
        ),
        Case(
            part: "http://127.0.0.1:1\"", replacement: "http://127.0.0.1:1\", \"caFile\": \"DIRECTORY/none\"",
            line: "upload: upload.caFile DIRECTORY/none cannot be read: No such file or directory; check the path and "
        ),
        Case(
            part: "http://127.0.0.1:1\"", replacement: "http://127.0.0.1:1\", \"caFile\": \"DIRECTORY/open\"",
            line: "upload: upload.caFile DIRECTORY/open has no line that begins with -----BEGIN; use a PEM file"),
        Case(
            part: "http://127.0.0.1:1\"", replacement: "http://127.0.0.1:1\", \"caFile\": \"/dev/zero\"",
            line: "upload: upload.caFile /dev/zero is a device, not a file; use a PEM file"),
    ]

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write("token".utf8, to: "token", mode: 0o600)
        try directory.write("secret".utf8, to: "open", mode: 0o644)
        try directory.write("#!/bin/sh\r\necho\r\n".utf8, to: "windows", mode: 0o755)
        try FileSystem.createDirectory(at: directory.path("o"))
    }

    @Test(arguments: cases) func reportsIncompleteSettings(row: Case) async throws {
        let (lines, ending) = try await check(Self.goodConfiguration.replacing(row.part, with: row.replacement))
        #expect(ending == .exited(78))
        #expect(!lines.contains { $0.hasPrefix("ok ") }, "\(lines)")
        let (name, text) = row.line.split(atFirst: ": ")
        let expected = "FAIL  \(name.padding(to: 13))  \(text.replacing("DIRECTORY", with: directory.url.path))"
        #expect(lines.contains { $0.hasPrefix(expected) }, "\(lines), not \(expected)")
    }

    /// The secret is as readable as the file that contains it.
    @Test(arguments: [(0o644, true), (0o640, false)])
    func notesASecretInAConfigurationThatEveryUserCanRead(mode: Int, isNoted: Bool) async throws {
        let http = #"{"type": "http", "url": "https://b.internal/", "headers": {"X-Api-Key": "hunter2"}}"#
        let (lines, _) = try await check(Self.goodConfiguration.replacing(Self.authorization, with: http), mode: mode)
        let key = "note  authorization  authorization.headers.X-Api-Key"
        let words = "\(key) is in \(directory.path("config.json")), which every user can read; if"
        #expect(lines.contains { $0.hasPrefix(words) } == isNoted, "\(lines)")
        #expect(!lines.contains { $0.contains("hunter2") }, "\(lines)")
    }

    /// Every bad file is reported, although creating a transport would stop at the first one.
    @Test func checksEachCertificateFile() async throws {
        let (lines, ending) = try await check(
            Self.goodConfiguration.replacing(
                Self.authorization,
                with: #"""
                    {"type": "http", "url": "https://b.internal/", "caFile": "DIRECTORY/none",
                     "clientCertificateFile": "DIRECTORY/open", "clientKeyFile": "DIRECTORY/token"}
                    """#))
        #expect(ending == .exited(78))
        let names = [
            "caFile DIRECTORY/none cannot", "clientCertificateFile DIRECTORY/open has",
            "clientKeyFile DIRECTORY/token has",
        ]
        let found = lines.filter { $0.hasPrefix("FAIL  authorization  authorization.") }
        #expect(found.count == names.count, "\(lines)")
        for (line, name) in zip(found, names) {
            #expect(line.contains(".\(name.replacing("DIRECTORY", with: directory.url.path)) "), "\(line)")
        }
    }

    /// A certificate and key that are swapped, belong to different pairs, or match.
    @Test(
        .enabled(if: TestCertificates.areAvailable, "openssl is needed"),
        arguments: [
            (
                "client.key", "client.pem",
                [
                    "clientCertificateFile DIRECTORY/client.key contains a private key but no certificate; use the "
                        + "certificate's",
                    "clientKeyFile DIRECTORY/client.pem contains a certificate but no private key; use the key's file here, "
                        + "and this",
                ]
            ),
            (
                "client.pem", "good.key",
                [
                    "clientKeyFile DIRECTORY/good.key does not match authorization.clientCertificateFile "
                        + "DIRECTORY/client.pem: "
                ]
            ),
            ("client.pem", "client.key", []),
        ] as [(String, String, [String])])
    func reportsACertificateThatDoesNotMatchItsKey(certificate: String, key: String, expectedFailures: [String])
        async throws
    {
        try await TestCertificates.make(in: directory)
        let (lines, ending) = try await check(
            Self.goodConfiguration.replacing(
                Self.authorization,
                with: #"""
                    {"type": "http", "url": "https://b.internal/", "clientCertificateFile": "DIRECTORY/\#(certificate)",
                     "clientKeyFile": "DIRECTORY/\#(key)"}
                    """#))
        #expect(ending == .exited(expectedFailures.isEmpty ? 0 : 78), "\(lines)")
        let failures = lines.filter { $0.hasPrefix("FAIL") }
        #expect(failures.count == expectedFailures.count, "\(lines)")
        for (line, words) in zip(failures, expectedFailures) {
            #expect(line.contains("authorization." + words.replacing("DIRECTORY", with: directory.url.path)), "\(line)")
        }
    }

    /// The directory is missing, is a file, or is closed to the service.
    @Test(arguments: [
        (
            "DIRECTORY/none/private",
            "is in a directory that does not exist, so the vehicle is never private; create the directory"
        ),
        (
            "DIRECTORY/open/private",
            "is in a directory that does not exist, so the vehicle is never private; create the directory"
        ),
        (
            "/proc/waypost/private",
            "is in a directory that does not exist, so the vehicle is never private; create the directory"
        ),
        ("DIRECTORY/closed/private", "can't be seen by uid 64995, so the vehicle is always private; give that user"),
        ("DIRECTORY/o/private", nil), ("DIRECTORY/o", "is a directory, so the vehicle is always private; use the path"),
    ])
    func checksTheDirectoryOfThePrivateSwitch(path: String, problem: String?) async throws {
        try FileSystem.createDirectory(at: directory.path("closed"))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory.path("closed"))
        if path.contains("closed") {
            guard geteuid() == 0 else { return }
            unsafe chown(directory.path("o"), 64_995, 64_995)
        }
        let (lines, ending) = try await check(
            Self.goodConfiguration.replacing(#""van-7""#, with: #""van-7", "privateModeFile": "\#(path)""#))
        #expect(ending == .exited(problem == nil ? 0 : 78), "\(lines)")
        guard let problem else { return }
        let place = path.replacing("DIRECTORY", with: directory.url.path)
        let expected = "FAIL  vehicle        vehicle.privateModeFile: \(place) \(problem)"
        #expect(lines.contains { $0.hasPrefix(expected) }, "\(lines)")
    }

    /// The switch is on, is in memory, or is in the directory that is removed when the service stops.
    @Test(arguments: [
        ("DIRECTORY/open", "exists now, so the vehicle is private"), ("/dev/shm/no-switch", "is in memory, so"),
        ("/run/waypost/none/private", "is in /run/waypost, which systemd removes"),
        ("DIRECTORY/o/private", "is in a temporary directory; under systemd, the service has its own one"),
    ])
    func notesAPrivateSwitchThatIsOnOrTemporary(path: String, note: String) async throws {
        let (lines, ending) = try await check(
            Self.goodConfiguration.replacing(#""van-7""#, with: #""van-7", "privateModeFile": "\#(path)""#))
        #expect(ending == .exited(0))
        let place = path.replacing("DIRECTORY", with: directory.url.path)
        let expected = "note  vehicle        vehicle.privateModeFile: \(place) \(note)"
        #expect(lines.contains { $0.hasPrefix(expected) }, "\(lines)")
    }

    @Test func recognisesTheUneditedExample() async throws {
        let example = try String(
            contentsOf: Fixtures.checkout.appending(path: "config.example.json"), encoding: .utf8)
        let (lines, ending) = try await check(example)
        #expect(ending == .exited(78))
        // The example's outbox is in /var/lib, where the service's user must create it.
        let failures = lines.filter { $0.hasPrefix("FAIL") && !$0.contains(" outbox.path: ") }
        #expect(failures.count == 2, "\(lines)")
    }

    @Test func reportsThatAConfigurationIsComplete() async throws {
        let (lines, ending) = try await check(Self.goodConfiguration)
        #expect(ending == .exited(0))
        let words =
            "is complete: providers/p/vehicles/van-7; to also try the receiver, the token and Fleet Engine, add --online"
        #expect(lines == ["ok    configuration  \(directory.path("config.json")) \(words)"])
    }

    @Test(
        .enabled(if: TinyFileSystem.isAllowed, "mounting a small file system needs root"), arguments: [false, true])
    func failsOnlyIfTheOutboxHasNoRoom(isFull: Bool) async throws {
        let disk = try TinyFileSystem(at: directory.path("disk"), megabytes: 2)
        if isFull { try disk.fill() }
        let (lines, ending) = try await check(
            Self.goodConfiguration.replacing("DIRECTORY/o/outbox.sqlite", with: "DIRECTORY/disk/outbox.sqlite"))
        #expect(ending == .exited(isFull ? 78 : 0))
        let words =
            "FAIL  outbox         outbox.path: only 0 kB are free at \(directory.path("disk")), but an outbox needs 1000 kB; "
        #expect(lines.contains { $0.hasPrefix(words) } == isFull, "\(lines)")
        withExtendedLifetime(disk) {}
    }

    @Test(.enabled(if: TinyFileSystem.isAllowed, "mounting a small file system needs root"), arguments: [3, 0])
    func reportsThatTheFileSystemHasTooFewInodes(inodes: Int) async throws {
        let place = directory.path("disk")
        unsafe mkdir(place, 0o700)
        // The directory at the mount point also has an inode.
        try valueOrSystemError("mount") { unsafe mount("tmpfs", place, "tmpfs", 0, "size=4m,nr_inodes=\(inodes + 1)") }
        defer { unsafe umount2(place, CInt(MNT_DETACH)) }
        let (lines, ending) = try await check(
            Self.goodConfiguration.replacing("DIRECTORY/o/outbox.sqlite", with: "DIRECTORY/disk/outbox.sqlite"))
        #expect(ending == .exited(78))
        let words =
            "FAIL  outbox         outbox.path: the file system of \(place) has \(inodes) inodes left, but an outbox "
            + "needs 8;"
        #expect(lines.contains { $0.hasPrefix(words) }, "\(lines)")
    }

    /// The directory's mode alone doesn't show whether the outbox's owner can write.
    @Test(.enabled(if: geteuid() == 0, "only root can act as another user"), arguments: [0o700, 0o500])
    func triesToWriteAsTheOwnerOfTheOutbox(mode: mode_t) async throws {
        unsafe chown(directory.path("o"), 12345, 12345)
        unsafe chmod(directory.path("o"), mode)
        let (lines, ending) = try await check(Self.goodConfiguration)
        #expect(ending == .exited(mode == 0o700 ? 0 : 78))
        let words =
            "FAIL  outbox         outbox.path: uid 12345 can't write to \(directory.path("o")): Permission denied; "
        #expect(lines.contains { $0.hasPrefix(words) } == (mode == 0o500), "\(lines)")
        #expect(try FileSystem.names(inDirectory: directory.path("o")).isEmpty)
    }

    /// The user namespace of a container may have few users; the kernel shows all others as one.
    @Test(.enabled(if: geteuid() == 0, "only root can act as another user"))
    func reportsThatAUserNamespaceLacksTheUser() async throws {
        unsafe chown(directory.path("o"), 12345, 12345)
        let config = try directory.write(
            Self.goodConfiguration.replacing("DIRECTORY", with: directory.url.path).utf8, to: "config.json", mode: 0o640
        )
        let outcome = try await ChildProcess(
            arguments: [
                "/usr/bin/unshare", "--user", "--map-root-user", BuiltProgram.waypost, "check", "--config", config,
            ], environment: BuiltProgram.environment, timeLimit: BuiltProgram.hangTimeout
        ).run()
        let said = String(decoding: outcome.standardOutput, as: UTF8.self)
        #expect(
            said.contains(
                " uid 65534 (a user that this user namespace lacks: map it, or change the owner from outside)"),
            "\(said)")
    }

    @Test func reportsAStatusPortThatIsTaken() async throws {
        let holder = try LoopbackSocket(.stream)
        let (lines, ending) = try await check(
            Self.goodConfiguration.replacing(
                #""outbox":"#, with: #""status": {"listen": "127.0.0.1:\#(holder.port)"}, "outbox":"#))
        #expect(ending == .exited(78))
        let words = "FAIL  status         status.listen: cannot listen on 127.0.0.1:\(holder.port): "
        #expect(lines.contains { $0.hasPrefix(words) && $0.contains(") holds it; ") }, "\(lines)")
    }

    @Test func considersThePortOfTheRunningServiceFree() async throws {
        let reserved = try LoopbackSocket.reservation()
        let config = try ServiceSetup(status: "127.0.0.1:\(reserved.port)").write(in: directory)
        let service = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", config], environment: BuiltProgram.environment)
        _ = try await service.statusAddress()
        let outcome = try await BuiltProgram.run(["check", "--config", config])
        let said = String(decoding: outcome.standardOutput, as: UTF8.self)
        #expect(outcome.ending == .exited(0) && !said.contains("status.listen"), "\(said)")
        #expect(await service.terminate().ending == .exited(0))
    }

    /// The service runs without its outbox, so the outbox doesn't show that it is running.
    @Test func considersThePortOfAServiceWithoutAnOutboxFree() async throws {
        let reserved = try LoopbackSocket.reservation()
        _ = try directory.write("notes".utf8, to: "notes")
        let config = try ServiceSetup(outbox: "notes", status: "127.0.0.1:\(reserved.port)").write(in: directory)
        let service = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", config], environment: BuiltProgram.environment)
        _ = try await service.statusAddress()
        let outcome = try await BuiltProgram.run(["check", "--config", config])
        let said = String(decoding: outcome.standardOutput, as: UTF8.self)
        #expect(said.contains("FAIL  outbox ") && !said.contains("status.listen"), "\(said)")
        #expect(await service.terminate().ending == .exited(0))
    }

    @Test(.enabled(if: FileSystem.volume(of: "/tmp") == .other, "/tmp is in memory here"))
    func notesAnOutboxInADirectoryThatTheSystemEmpties() async throws {
        let outbox = "/tmp/waypost-no-such-directory/outbox.sqlite"
        let (lines, ending) = try await check(
            Self.goodConfiguration.replacing("DIRECTORY/o/outbox.sqlite", with: outbox))
        #expect(ending == .exited(0))
        let words = "note  outbox         outbox.path: \(outbox) is in /tmp, which many systems empty "
        #expect(lines.contains { $0.hasPrefix(words) }, "\(lines)")
    }

    /// A restart of the machine deletes the file.
    @Test(.enabled(if: FileSystem.volume(of: "/dev/shm") == .memory, "/dev/shm is not in memory here"))
    func notesAnOutboxInMemory() async throws {
        let outbox = "/dev/shm/waypost-no-such-directory/outbox.sqlite"
        let (lines, ending) = try await check(
            Self.goodConfiguration.replacing("DIRECTORY/o/outbox.sqlite", with: outbox))
        #expect(ending == .exited(0))
        let words = "note  outbox         outbox.path: \(outbox) is in memory (tmpfs), so "
        #expect(lines.contains { $0.hasPrefix(words) }, "\(lines)")
    }

    @Test func acceptsAStatusDirectoryThatSystemdWillCreate() async throws {
        let (lines, ending) = try await check(
            Self.goodConfiguration.replacing(
                #""outbox":"#, with: #""status": {"listen": "unix:/run/waypost-no-such/status"}, "outbox":"#))
        #expect(ending == .exited(0) && lines.count == 1, "\(lines)")
    }

    /// Output for programs: one JSON object for any result, with the same exit codes as the text.
    @Test(
        arguments: [
            (goodConfiguration, 0, ["ok configuration"]),
            (goodConfiguration.replacing("van-7", with: "VAN_ID_HERE"), 0, ["ok configuration", "note vehicle"]),
            (goodConfiguration.replacing("van-7", with: "van-7 "), 78, ["fail vehicle"]),
            (goodConfiguration.replacing("\"p\"", with: "7"), 78, ["fail configuration"]),
        ] as [(String, Int32, [String])])
    func printsOneJSONObject(configuration: String, code: Int32, checks: [String]) async throws {
        let config = try directory.write(
            configurationWithOwnStatusAddress(configuration).replacing("DIRECTORY", with: directory.url.path).utf8,
            to: "config.json")
        let outcome = try await BuiltProgram.run(["check", "--json", "--config", config])
        #expect(outcome.ending == .exited(code) && outcome.standardError.isEmpty)
        let object = try JSONValue(parsing: outcome.standardOutput)
        #expect(object["passed"]?.boolValue == (code == 0) && object["online"]?.boolValue == false)
        #expect(object["configuration"]?.stringValue == config)
        let found = (object["checks"]?.arrayValue ?? []).filter {
            !isAboutTheTemporaryDirectory($0["text"]?.stringValue ?? "")
                && $0["text"]?.stringValue?.hasPrefix("sandbox not checked: ") != true
        }.map { check in
            [check["verdict"], check["name"]].map { $0?.stringValue ?? "" }.joined(separator: " ")
        }
        #expect(found == checks)
        #expect((object["checks"]?.arrayValue ?? []).allSatisfy { $0["text"]?.stringValue?.isEmpty == false })
    }

    /// A simulator accepts any project, but Fleet Engine only the customer's own.
    @Test(arguments: [("http://127.0.0.1:1", "note", Int32(0)), ("https://fleetengine.googleapis.com", "FAIL", 78)])
    func recognisesTheProjectOfTheExample(endpoint: String, verdict: String, code: Int32) async throws {
        let example = Self.goodConfiguration.replacing("\"p\"", with: "\"my-cloud-project\"")
        let (lines, ending) = try await check(example.replacing("http://127.0.0.1:1", with: endpoint))
        #expect(ending == .exited(code))
        let words = "vehicle.providerId is still the example's"
        #expect(lines.contains { $0.hasPrefix(verdict) && $0.contains(words) }, "\(lines)")
    }

    @Test(arguments: [
        (#""van-7""#, #""\"van-7\"""#, #"vehicle.vehicleId is "van-7", which looks like a line of a settings file;"#),
        (#""van-7""#, #""'van-7'""#, "vehicle.vehicleId is 'van-7', which looks like a line of a settings file; write"),
        (
            #""DIRECTORY/token""#, #""DIRECTORY/token\n""#,
            #"authorization.path is "DIRECTORY/token ", with a line break at its start or end; remove the line break"#
        ),
    ])
    func reportsQuotesAndSpacesAroundAValue(part: String, value: String, problem: String) async throws {
        let (lines, ending) = try await check(Self.goodConfiguration.replacing(part, with: value))
        #expect(ending == .exited(78))
        let text = problem.replacing("DIRECTORY", with: directory.url.path)
        #expect(lines.contains { $0.hasPrefix("FAIL") && $0.contains("  \(text)") }, "\(lines)")
        #expect(lines.allSatisfy { $0.hasPrefix("FAIL") || $0.hasPrefix("note") }, "\(lines)")
    }

    /// The check only notes the quotes, because they may belong to the value.
    @Test(
        arguments: [
            (#""\"hunter2\"""#, true), (#""Bearer 'hunter2'""#, true), (#"{"file": "DIRECTORY/quoted"}"#, true),
            (#"{"file": "DIRECTORY/token"}"#, false), (#""a \"hunter2\" b""#, false),
        ])
    func notesQuotesAroundTheValueOfAHeader(value: String, isNoted: Bool) async throws {
        try directory.write("\"hunter2\"\n".utf8, to: "quoted", mode: 0o600)
        let http = #"{"type": "http", "url": "https://b.internal/t", "headers": {"X-Key": \#(value)}}"#
        let (lines, ending) = try await check(Self.goodConfiguration.replacing(Self.authorization, with: http))
        #expect(ending == .exited(0))
        let words = "note  authorization  header X-Key uses "
        let end =
            " with quotes around the value, which are also sent; remove the quotes unless they belong to the value"
        #expect(lines.contains { $0.hasPrefix(words) && $0.hasSuffix(end) } == isNoted, "\(lines)")
        #expect(!lines.contains { $0.contains("hunter2") })
    }

    /// The check only notes the value, because Fleet Engine may know it.
    @Test(arguments: [
        (
            #""van-7""#, #""VEHICLE_ID=van-7""#,
            "vehicle.vehicleId is VEHICLE_ID=van-7, which looks like a line of a settings file"
        ),
        (
            #""p""#, #""123456789012""#,
            #"vehicle.providerId is "123456789012", which can't be the id of a Google Cloud "#
        ),
        (#""p""#, #""My Cloud Project""#, #"vehicle.providerId is "My Cloud Project", which can't be the id of a "#),
        (#""p""#, #""Vans-4711""#, #"vehicle.providerId is "Vans-4711", which can't be the id of a Google Cloud "#),
    ])
    func notesAnUnusualID(part: String, id: String, note: String) async throws {
        let (lines, ending) = try await check(Self.goodConfiguration.replacing(part, with: id))
        #expect(ending == .exited(0))
        #expect(lines.contains { $0.hasPrefix("note  vehicle        \(note)") }, "\(lines)")
    }

    /// An id that a simulator accepts may be impossible for Fleet Engine, such as the vehicle's id.
    @Test(arguments: [
        ("van-7", true), ("acme-fleet", false), ("7-acme-fleet", true),
        ("an-id-that-is-longer-than-30-letters", true),
    ])
    func notesAnImpossibleProjectID(id: String, isNoted: Bool) async throws {
        let text = Self.goodConfiguration.replacing(#""p""#, with: "\"\(id)\"")
        let (lines, _) = try await check(
            text.replacing("http://127.0.0.1:1", with: "https://fleetengine.googleapis.com"))
        let note =
            "note  vehicle        vehicle.providerId is \"\(id)\", which can't be the id of a Google Cloud project"
        #expect(lines.contains { $0.hasPrefix(note) } == isNoted, "\(lines)")
    }

    /// A token command is started without a shell.
    @Test(
        arguments: [
            (#"["/bin/echo", "$VEHICLE_ID"]"#, "a variable ($)"), (#"["/bin/cat", "/t", "|", "jq"]"#, "|"),
            (#"["/bin/echo", "{vehicleId}", "{\"a\": 1}"]"#, nil), (#"["/bin/sh", "-c", "echo $KEY | jq"]"#, nil),
        ] as [(String, String?)])
    func notesWhatOnlyAShellUnderstands(command: String, word: String?) async throws {
        let (lines, _) = try await check(
            Self.goodConfiguration.replacing(Self.authorization, with: #"{"type": "command", "command": \#(command)}"#))
        let note = "note  authorization  authorization.command contains \(word ?? ""), which only a shell understands; "
        #expect(lines.contains { $0.hasPrefix(note) } == (word != nil), "\(lines)")
    }

    /// A backend must know which vehicle asks.
    @Test(arguments: [
        ("https://b.internal/token", "", true), ("https://b.internal/token/van-7", "", false),
        ("https://b.internal/token", #", "headers": {"X-Key": "7"}"#, false),
    ])
    func notesAURLThatIsTheSameForEveryVehicle(url: String, rest: String, isNoted: Bool) async throws {
        let http = #"{"type": "http", "url": "\#(url)"\#(rest)}"#
        let (lines, _) = try await check(Self.goodConfiguration.replacing(Self.authorization, with: http))
        let note =
            "note  authorization  authorization.url is the same for every vehicle; write {vehicleId} in the place of the "
            + "vehicle's id"
        #expect(lines.contains(note) == isNoted, "\(lines)")
    }

    /// Any user who can change these files controls Waypost.
    @Test func failsForFilesThatOthersCanChange() async throws {
        let script = try directory.write("#!/bin/sh\n".utf8, to: "script", mode: 0o777)
        let key = try directory.write("key".utf8, to: "key", mode: 0o622)
        let keys = directory.path("keys")
        try FileSystem.createDirectory(at: keys)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: keys)
        let replaceable = try directory.write("key".utf8, to: "keys/key", mode: 0o600)
        let environment = #"{"K": {"file": "\#(key)"}, "L": {"file": "\#(replaceable)"}}"#
        let command =
            #"{"type": "command", "command": ["/bin/sh", "\#(script)"], "environment": \#(environment)}"#
        let (lines, ending) = try await check(
            Self.goodConfiguration.replacing(Self.authorization, with: command), mode: 0o666)
        #expect(ending == .exited(78))
        for words in [
            "configuration  configuration: \(directory.path("config.json"))",
            "authorization  authorization.command: \(script)",
            "authorization  authorization.environment.K: \(key)",
        ] { #expect(lines.contains("FAIL  \(words) can be changed by every user; run chmod go-w on it"), "\(lines)") }
        #expect(lines.count { $0.contains("can be changed") } == 3, "\(lines)")
        let words = "authorization  authorization.environment.L: \(replaceable) can be replaced: the directory \(keys) "
        #expect(lines.contains { $0.hasPrefix("FAIL  \(words)") }, "\(lines)")
    }

    @Test(
        arguments: [
            ("Bearer {file:/etc/key}", true), ("Bearer YOUR_API_KEY", true), ("YOUR-KEY-HERE", true),
            ("changeme", true),
            ("Bearer <key>", true), ("Bearer ${KEY}", true), ("Bearer $(cat /etc/key)", true),
            ("/etc/waypost/key", true), ("@/etc/waypost/key", true),
            ("Bearer abc4711", false), ("north", false), ("here", false), ("Bearer hereYours", false),
        ])
    func notesAPlaceholderInAHeader(value: String, isNoted: Bool) async throws {
        let http = #"{"type": "http", "url": "https://b.internal/t", "headers": {"X-Key": "\#(value)"}}"#
        let (lines, ending) = try await check(Self.goodConfiguration.replacing(Self.authorization, with: http))
        #expect(ending == .exited(0))
        let notes = lines.filter {
            // Every user can read the test's file, which is noted in another line.
            $0.hasPrefix("note  authorization  authorization.headers.X-Key ") && !$0.contains(" is in ")
        }
        #expect(notes.count == (isNoted ? 1 : 0), "\(lines)")
        #expect(notes.allSatisfy { $0.contains(" looks like a p") && !$0.contains(value) }, "\(notes)")
    }

    @Test func notesAPlaceholderInAnID() async throws {
        let (lines, ending) = try await check(Self.goodConfiguration.replacing("van-7", with: "VAN_ID_HERE"))
        #expect(ending == .exited(0))
        let words =
            "note  vehicle        vehicle.vehicleId is VAN_ID_HERE, which looks like a placeholder; write the id"
        #expect(lines.contains(words), "\(lines)")
    }

    @Test(
        arguments: [
            (":vehicleId", true), ("$vehicleId", true), ("%s", true), ("%7BvehicleId%7D", true),
            (":vehicleId/token", true), ("{vehicleId}", false), ("vehicleId/{vehicleId}", false),
            ("vehicle-id/van-7", false), ("van-7", false), ("?vehicleId=van-7", false),
        ])
    func notesAPlaceholderInTheSyntaxOfAnotherProgram(path: String, isNoted: Bool) async throws {
        let http = #"{"type": "http", "url": "https://b.internal/token/\#(path)"}"#
        let (lines, ending) = try await check(Self.goodConfiguration.replacing(Self.authorization, with: http))
        #expect(ending == .exited(0))
        let words = "note  authorization  authorization.url contains a placeholder in another program's syntax"
        #expect(lines.contains { $0.hasPrefix(words) } == isNoted, "\(lines)")
    }

    @Test(arguments: [("DIRECTORY/new/outbox.sqlite", true), ("DIRECTORY/o/outbox.sqlite", false)])
    func notesADirectoryThatDoesNotExistYet(path: String, isNoted: Bool) async throws {
        let (lines, ending) = try await check(Self.goodConfiguration.replacing("DIRECTORY/o/outbox.sqlite", with: path))
        #expect(ending == .exited(0))
        let isFound = lines.contains {
            $0.hasPrefix("note  outbox") && $0.contains("/new does not exist yet, and is created when")
        }
        #expect(isFound == isNoted, "\(lines)")
    }

    @Test(arguments: [("onDemandTrips", 0), ("scheduledTasks", 1)])
    func notesAStateThatDeliveryVehiclesDoNotHave(service: String, count: Int) async throws {
        let (lines, ending) = try await check(
            Self.goodConfiguration.replacing(
                #""van-7""#, with: #""van-7", "service": "\#(service)", "stateOnStop": "OFFLINE""#))
        #expect(ending == .exited(0))
        let words = "note  vehicle        vehicle.stateOnStop has no effect with scheduledTasks: "
        #expect(lines.count == 1 + count && lines.count { $0.hasPrefix(words) } == count, "\(lines)")
    }

    @Test func rejectsAnEndpointWithAQuery() async throws {
        let (lines, ending) = try await check(
            Self.goodConfiguration.replacing("http://127.0.0.1:1", with: "https://gateway.internal/?key=7"))
        #expect(ending == .exited(78), "\(lines)")
        #expect(
            lines.contains {
                $0.hasPrefix("FAIL") && $0.contains("upload.endpoint has a path after https://gateway.internal, but")
            }, "\(lines)")
    }

    @Test func acceptsAnEndpointWithThePathOfAGateway() async throws {
        let (lines, ending) = try await check(
            Self.goodConfiguration.replacing("http://127.0.0.1:1", with: "https://gateway.internal/fleet"))
        #expect(ending == .exited(0) && !lines.contains { $0.contains("upload.endpoint") }, "\(lines)")
    }

    @Test func notesARandomPort() async throws {
        let (lines, ending) = try await check(
            Self.goodConfiguration.replacing(
                "\"outbox\"", with: "\"status\": {\"listen\": \"127.0.0.1:0\"}, \"outbox\""))
        #expect(ending == .exited(0))
        #expect(
            lines.contains { $0.hasPrefix("note  status         status.listen: port 0 means a different port at") },
            "\(lines)")
    }

    /// The service's environment may have a variable that is missing in this shell.
    @Test func notesAVariableThatIsNotSetInThisShell() async throws {
        let (lines, ending) = try await check(
            Self.goodConfiguration.replacing(
                Self.authorization,
                with:
                    #"{"type": "http", "url": "https://b.internal/", "headers": {"X-Key": {"environment": "NO_KEY"}}}"#)
        )
        #expect(ending == .exited(0))
        let note =
            "note  authorization  header X-Key comes from the environment variable NO_KEY, which is not set"
        #expect(lines.contains { $0.hasPrefix(note) }, "\(lines)")
    }

    /// The service logs a warning and continues.
    @Test func theServiceOnlyWarnsOfAValueThatCheckRejects() async throws {
        let bench = try ServiceBench()
        let service = try bench.start { $0.receiver = #"{"type": "serial", "device": "ttyX"}"# }
        #expect(
            await service.errors.line(saying: "warning: receiver.device is \"ttyX\", which depends on the directory ")
                != nil)
        #expect(await service.terminate().ending == .exited(0))
    }

    /// The service holds the serial port, so the check asks the service. The check must not open the port itself.
    @Test func asksTheServiceInsteadOfOpeningThePort() async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let address = "unix:" + bench.directory.path("status")
        let service = try bench.start { $0.status = address }
        let config = bench.directory.path("config.json")
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        let early = try await BuiltProgram.run(["check", "--online", "--config", config])
        #expect(early.ending == .exited(69))
        let said = String(decoding: early.standardOutput, as: UTF8.self)
        #expect(
            said.contains("FAIL  receiver       \(bench.devicePath): open at 9600 baud, waiting for the first"),
            "\(said)")

        for epoch in RecentDrive(epochs: 2) {
            try receiver.send(epoch)
            try #require(await bench.arrival(of: epoch) != nil)
        }
        let outcome = try await BuiltProgram.run(["check", "--online", "--config", config])
        let lines = String(decoding: outcome.standardOutput, as: UTF8.self).split(separator: "\n")
            .filter { !isAboutTheTemporaryDirectory(String($0)) && !$0.contains(" sandbox not checked: ") }.map {
                $0.prefix(19)
            }
        #expect(outcome.ending == .exited(0), "\(lines)")
        #expect(
            lines == [
                "ok    configuration", "ok    service      ", "ok    outbox       ", "ok    receiver     ",
                "ok    token        ", "ok    Fleet Engine ",
            ])
        // The service knows nothing about the outbox of another configuration file.
        let own = bench.directory.path("outbox.sqlite")
        let text = try String(contentsOfFile: config, encoding: .utf8)
        for (name, words) in [
            ("two.sqlite", "skip  outbox         \(bench.directory.path("two.sqlite")) does not exist yet; "),
            ("outbox.sqlite", "ok    outbox         \(own) is used by the service, 0 "),
        ] {
            let two = try bench.directory.write(
                text.replacing(own, with: bench.directory.path(name)).utf8, to: "two.json")
            let other = try await BuiltProgram.run(["check", "--online", "--config", two])
            let found = String(decoding: other.standardOutput, as: UTF8.self).split(separator: "\n").map(String.init)
            #expect(found.contains { $0.hasPrefix(words) }, "\(found)")
            #expect(found.contains { $0.hasPrefix("note  service") && $0.contains("the service uses /") }, "\(found)")
        }
        #expect(await service.terminate().ending == .exited(0))
    }

    /// Another process may hold the outbox's lock, and the service can start during a check.
    @Test(arguments: [false, true]) func leavesTheLockOfTheOutboxAlone(isHeld: Bool) async throws {
        let bench = try ServiceBench()
        let config = try bench.configure { $0.receiver = #"{"type": "stdin"}"# }
        let path = bench.directory.path("outbox.sqlite")
        let outbox = try await SQLiteOutbox.open(OutboxConfiguration(path: path, maximumBytes: 1 << 20))
        if !isHeld {
            try await outbox.close()
            try FileSystem.removeFile(at: path + ".lock")
        }
        let outcome = try await BuiltProgram.run(["check", "--online", "--config", config])
        let said = String(decoding: outcome.standardOutput, as: UTF8.self)
        #expect(said.contains("ok    outbox         \(path) can be opened, 0 updates pending\n"), "\(said)")
        if isHeld { try await outbox.close() } else { #expect(try FileSystem.entry(at: path + ".lock") == nil) }
    }

    /// No unit reads the test's configuration.
    @Test func saysThatTheSandboxIsNotChecked() async throws {
        let config = try directory.write(
            Self.goodConfiguration.replacing("DIRECTORY", with: directory.url.path).utf8, to: "config.json")
        let place = await SandboxedCheck.place(forFile: config, arguments: [])
        guard case .outside(let reason) = place else { return #expect(place == .outside(reason: "")) }
        let outcome = try await BuiltProgram.run(["check", "--config", config])
        let said = String(decoding: outcome.standardOutput, as: UTF8.self)
        #expect(said.hasPrefix("note  service        sandbox not checked: \(reason)\n"), "\(said)")
    }

    /// A fault is reported only once.
    @Test func doesNotOpenAnUnusableOutbox() async throws {
        let bench = try ServiceBench()
        let config = try bench.configure {
            $0.receiver = #"{"type": "stdin"}"#
            $0.outbox = "none/outbox.sqlite"
        }
        try bench.directory.write("no directory".utf8, to: "none")
        let outcome = try await BuiltProgram.run(["check", "--online", "--config", config])
        #expect(outcome.ending == .exited(78))
        let lines = String(decoding: outcome.standardOutput, as: UTF8.self).split(separator: "\n")
            .filter { $0.contains("  outbox  ") && !isAboutTheTemporaryDirectory(String($0)) }
        #expect(lines.map { $0.prefix(4) } == ["FAIL", "skip"], "\(lines)")
        let path = bench.directory.path("none/outbox.sqlite")
        #expect(
            lines.last?.hasSuffix("  \(path) was not opened, because it can't be used (see above)") == true, "\(lines)")
    }

    /// An operator checks with sudo before the first start and while the service is stopped. The files that the check
    /// creates belong to the service.
    @Test(.enabled(if: geteuid() == 0, "only root can act as another user"), arguments: [false, true])
    func opensTheOutboxAsItsOwner(outboxExists: Bool) async throws {
        let bench = try ServiceBench()
        let (directory, path) = (bench.directory.path("o"), bench.directory.path("o/outbox.sqlite"))
        unsafe mkdir(directory, 0o750)
        if outboxExists { try bench.directory.write("".utf8, to: "o/outbox.sqlite") }
        for place in outboxExists ? [directory, path] : [directory] { unsafe chown(place, 12345, 12345) }
        // This file is read after the outbox, with the rights of root.
        let token = try bench.directory.write("not a token".utf8, to: "token")
        unsafe chmod(token, 0o600)
        let config = try bench.configure {
            $0.receiver = #"{"type": "stdin"}"#
            $0.authorization = #"{"type": "file", "path": "\#(token)"}"#
            $0.outbox = "o/outbox.sqlite"
        }
        let outcome = try await BuiltProgram.run(["check", "--online", "--config", config])
        let checkOutput = String(decoding: outcome.standardOutput, as: UTF8.self)
        let words =
            outboxExists
            ? "FAIL  outbox         \(path): damaged (it is empty); restart the "
            : "skip  outbox         \(path) does not exist yet; "
        #expect(checkOutput.contains(words), "\(checkOutput)")
        #expect(checkOutput.contains("FAIL  token ") && !checkOutput.contains("denied"), "\(checkOutput)")
        for name in try FileSystem.names(inDirectory: directory) {
            #expect(try FileStatus(at: directory + "/" + name)?.owner == 12345, "\(name)")
        }
    }

    /// The first fix shows whether the vehicle is in the zone, but the output must be the same in both cases.
    @Test(arguments: [300, 100]) func disclosesNothingAboutAPrivateZone(radius: Int) async throws {
        let bench = try ServiceBench()
        let epochs = Array(RecentDrive(epochs: 3))
        let log = try bench.directory.write(epochs.flatMap(\.sentences), to: "drive.nmea")
        let place = try #require(epochs[0].truth)
        // The zone's centre is 200 m north of the first fix.
        let latitude = place.latitude + 200 / 111_200
        let config = try bench.configure {
            $0.receiver = #"{"type": "file", "path": "\#(log)"}"#
            $0.reporting = """
                "privateZones": [{"latitude": \(latitude), "longitude": \(place.longitude), "radiusMeters": \(radius)}]
                """
        }
        let outcome = try await BuiltProgram.run(["check", "--online", "--config", config])
        #expect(outcome.ending == .exited(0))
        let said = String(decoding: outcome.standardOutput, as: UTF8.self)
        #expect(said.contains("\nok    receiver       fix of ") && !said.contains("ivate"), "\(said)")
    }

    /// The two readers take bytes from each other, even if fixes still arrive.
    @Test func namesOtherReadersOfThePort() async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let line = try OwnedDescriptor(opening: bench.devicePath, O_RDONLY | O_NOCTTY | O_NONBLOCK)
        let other = try RunningProgram(["sleep", "60"], input: line.raw)
        _ = consume line
        let check = try RunningProgram(
            [BuiltProgram.waypost, "check", "--online", "--config", try bench.configure()],
            environment: BuiltProgram.environment)
        try await receiver.waitUntilSetUp()
        try await check.waitUntilAtRest()
        for epoch in RecentDrive(epochs: 3) { try receiver.send(epoch) }
        _ = await check.end()
        let words = "\(bench.devicePath) is also open in sleep (process \(other.processID)); each byte reaches"
        let lines = check.output.lines.map(\.text).filter { $0.contains("  receiver  ") }
        #expect(lines.count == 2 && lines.first?.contains("fix of ") == true, "\(check.output.text)")
        #expect(
            lines.last?.hasPrefix("note  receiver       \(words)") == true, "\(lines)"
        )
    }

    /// If this host's clock isn't synchronised and Fleet Engine runs on this host, either clock may be wrong.
    @Test func notesThatTheTimeOfTheReceiverDiffersFromTheClock() async throws {
        let bench = try ServiceBench()
        let drive = RecentDrive(epochs: 3, ahead: .seconds(-7200)).flatMap(\.sentences)
        let log = try bench.directory.write(drive, to: "drive.nmea")
        let config = try bench.configure { $0.receiver = #"{"type": "stdin"}"# }
        let outcome = try await ChildProcess(
            arguments: [
                "/bin/sh", "-c", "cat \"$1\" | \"$0\" check --online --config \"$2\"", BuiltProgram.waypost, log,
                config,
            ], environment: ["PATH": "/usr/bin:/bin"].merging(BuiltProgram.environment) { $1 },
            timeLimit: BuiltProgram.hangTimeout, outputLimit: 1 << 20
        ).run()
        let output = String(decoding: outcome.standardOutput, as: UTF8.self)
        let isSynchronized = UTCTime.synchronizedSystem != nil
        let owner = isSynchronized ? "is synchronised" : "is not synchronised"
        let line = output.split(separator: "\n").first { $0.contains("  receiver  ") }
        #expect(line?.hasPrefix("note  receiver       fix of ") == true, "\(output)")
        #expect(line?.contains("; its time is 2 h behind this machine's clock, which \(owner); ") == true, "\(output)")
        withExtendedLifetime(bench) {}
    }

    /// The check shows what it waits for, but only on a terminal.
    @Test func showsTheReasonForEachWait() async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let config = try bench.configure()
        let check = try RunningProgram(
            [
                "/bin/sh", "-c", "exec script -qfec \"$0 check --online --config $1\" /dev/null 2>&1",
                BuiltProgram.waypost,
                config,
            ], environment: ["PATH": "/usr/bin:/bin"].merging(BuiltProgram.environment) { $1 })
        let isShown = await check.output.wait { lines in lines.contains { $0.text.contains("does not exist yet") } }
        #expect(isShown)
        try await receiver.waitUntilSetUp()
        for epoch in RecentDrive(epochs: 3) { try receiver.send(epoch) }
        _ = await check.end()
        #expect(check.output.text.contains("receiver: waiting for a fix, up to 30 s"), "\(check.output.text)")

        let piped = try await BuiltProgram.run(
            ["check", "--online", "--config", try bench.configure { $0.receiver = #"{"type": "stdin"}"# }])
        #expect(!String(decoding: piped.standardError + piped.standardOutput, as: UTF8.self).contains("up to"))
    }

    /// Returns the lines of `check`, without the notes that every test would cause: it runs outside the service's
    /// sandbox, and its directory is temporary.
    private func check(
        _ configuration: String, mode: Int = 0o644
    ) async throws -> (lines: [String], ending: ChildProcess.Termination) {
        let text = configurationWithOwnStatusAddress(configuration).replacing("DIRECTORY", with: directory.url.path)
        let config = try directory.write(text.utf8, to: "config.json", mode: mode)
        let outcome = try await BuiltProgram.run(["check", "--config", config])
        #expect(outcome.standardError.isEmpty, "\(String(decoding: outcome.standardError, as: UTF8.self))")
        return (
            String(decoding: outcome.standardOutput, as: UTF8.self).split(separator: "\n").map(String.init)
                .filter { !isAboutTheTemporaryDirectory($0) && !$0.contains(" sandbox not checked: ") }, outcome.ending
        )
    }

    /// Returns the configuration with its own status address, because another service may use the default port.
    private func configurationWithOwnStatusAddress(_ configuration: String) -> String {
        if configuration.contains(#""status""#) {
            return configuration.replacing("127.0.0.1:9464", with: "unix:DIRECTORY/status")
        }
        return configuration.replacing(
            #""outbox":"#, with: #""status": {"listen": "unix:DIRECTORY/status"}, "outbox":"#)
    }

    /// Whether the line is about the directory for temporary files.
    private func isAboutTheTemporaryDirectory(_ line: String) -> Bool {
        (line.contains(" (tmpfs), ") || line.contains(" is in /tmp, ")) && !line.contains("/waypost-no-such-directory")
    }
}

extension String {
    fileprivate func split(atFirst separator: String) -> (before: String, after: String) {
        guard let range = firstRange(of: separator) else { return (self, "") }
        return (String(self[..<range.lowerBound]), String(self[range.upperBound...]))
    }

    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
