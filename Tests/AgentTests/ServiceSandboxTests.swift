import FoundationEssentials
import StrictJSON
import Testing
import WaypostTestSupport

@testable import LinuxPlatform
@testable import Waypost

/// What the service's unit keeps from the service, by the unit itself.
@Suite struct ServiceSandboxes {
    private static let unit: String = {
        (try? String(contentsOf: Fixtures.checkout.appending(path: "packaging/waypost.service"), encoding: .utf8)) ?? ""
    }()

    private static func sandbox(_ dropIns: String...) -> ServiceSandbox {
        ServiceSandbox(ServiceUnit(texts: [unit] + dropIns.map { "[Service]\n" + $0 }))
    }

    @Test func isThatOfTheUnit() {
        let sandbox = Self.sandbox()
        #expect(sandbox.user == "waypost" && sandbox.group == nil)
        #expect(sandbox.supplementaryGroups == ["dialout"])
        #expect(sandbox.configurationFile == "/etc/waypost/config.json")
    }

    @Test(
        arguments: [
            (
                "/tmp/token",
                "is not seen by the service, which has a /tmp of its own (PrivateTmp=yes in waypost.service)"
            ),
            (
                "/var/tmp/a/b",
                "is not seen by the service, which has a /var/tmp of its own (PrivateTmp=yes in waypost.service)"
            ),
            (
                "/home/.van/key",
                "is not seen by the service, to which /home is closed (ProtectHome=yes in waypost.service)"
            ),
            ("/root/.key", "is not seen by the service, to which /root is closed (ProtectHome=yes in waypost.service)"),
            ("/etc/waypost/key", nil), ("/run/vehicle/private", nil), ("/tmpfs/x", nil), ("/homework", nil),
        ] as [(String, String?)])
    func doesNotSee(path: String, words: String?) {
        #expect(Self.sandbox().blindness(at: path) == words)
    }

    @Test(
        arguments: [
            ("/data/outbox.sqlite", "cannot be written by the service (ProtectSystem=strict in waypost.service)"),
            ("/etc/waypost/status", "cannot be written by the service (ProtectSystem=strict in waypost.service)"),
            ("/var/lib/waypost/outbox.sqlite", nil),
            (
                "/var/lib/waypost2/outbox.sqlite",
                "cannot be written by the service (ProtectSystem=strict in waypost.service)"
            ),
            ("/run/waypost/status", nil),
        ] as [(String, String?)])
    func doesNotWrite(path: String, words: String?) {
        #expect(Self.sandbox().writeProtection(at: path) == words)
    }

    @Test func countsDropIns() {
        #expect(Self.sandbox("PrivateTmp=no").blindness(at: "/tmp/token") == nil)
        #expect(
            Self.sandbox("ProtectHome=tmpfs", "BindReadOnlyPaths=/home/.van").blindness(at: "/home/.van/key") == nil)
        #expect(Self.sandbox("ProtectHome=read-only").blindness(at: "/home/.van/key") == nil)
        #expect(Self.sandbox("ReadWritePaths=-/data /more").writeProtection(at: "/data/outbox.sqlite") == nil)
        #expect(Self.sandbox("ReadWritePaths=/data", "ReadWritePaths=").writeProtection(at: "/data/o") != nil)
        let other = Self.sandbox("ExecStart=", "ExecStart=/usr/bin/waypost run \\\n  --config /data/van.json")
        #expect(other.configurationFile == "/data/van.json")
    }

    @Test(arguments: [("/run/waypost/private", "/run/waypost"), ("/run/vehicle/private", nil)] as [(String, String?)])
    func knowsWhatAStopRemoves(path: String, folder: String?) {
        #expect(Self.sandbox().passingFolder(of: path) == folder)
    }

    /// The unit of the highest folder counts, and the drop-ins of all by their names.
    @Test func isFoundWhereSystemdLooks() throws {
        let folder = try TemporaryFolder()
        #expect(ServiceUnit.installed(below: folder.url.path) == nil)
        for (path, text) in [
            ("usr/lib/systemd/system/waypost.service", "[Service]\nUser=low\nPrivateTmp=yes\n"),
            ("etc/systemd/system/waypost.service.d/20-later.conf", "[Service]\nUser=later\n"),
            ("usr/lib/systemd/system/waypost.service.d/10-early.conf", "[Service]\nUser=early\nGroup=early\n"),
            ("usr/lib/systemd/system/waypost.service.d/20-later.conf", "[Service]\nUser=hidden\n"),
        ] {
            try FileSystem.createFolder(at: FileSystem.parent(of: folder.path(path)))
            try folder.write(text.utf8, to: path)
        }
        let sandbox = ServiceSandbox(try #require(ServiceUnit.installed(below: folder.url.path)))
        #expect(sandbox.user == "later" && sandbox.group == "early")
        #expect(sandbox.blindness(at: "/tmp/x") != nil)
    }
}

/// What `waypost check` says of it, and of what the service's user may not read.
@Suite struct ServiceChecks {
    struct Case: CustomTestStringConvertible {
        /// Replaces this part of the configuration.
        let part: String
        let with: String
        let line: String?
        var testDescription: String { with }
    }

    private static let configuration = #"""
        {"vehicle": {"providerId": "p", "vehicleId": "v"}, "receiver": {"type": "stdin"},
         "authorization": {"type": "file", "path": "/run/vehicle/token"},
         "outbox": {"path": "/var/lib/waypost/outbox.sqlite"}, "status": {"listen": "127.0.0.1:9464"}}
        """#

    /// Owner, group and mode of what there is; 900 is the service's user and group, 20 dialout.
    private static let files: [String: FileStatus] = {
        func folder(_ owner: UInt32, _ mode: UInt32) -> FileStatus {
            FileStatus(kind: .folder, owner: owner, group: owner, permissions: mode)
        }
        func file(_ owner: UInt32, _ group: UInt32, _ mode: UInt32) -> FileStatus {
            FileStatus(kind: .file, owner: owner, group: group, permissions: mode)
        }
        var files = ["/", "/etc", "/etc/waypost", "/run", "/run/vehicle", "/usr", "/var", "/var/lib", "/data", "/dev"]
            .reduce(into: [String: FileStatus]()) { $0[$1] = folder(0, 0o755) }
        files["/var/lib/waypost"] = folder(900, 0o750)
        files["/etc/closed"] = folder(0, 0o700)
        files["/etc/waypost/config.json"] = file(0, 900, 0o640)
        files["/etc/waypost/roots.json"] = file(0, 0, 0o600)
        files["/run/vehicle/token"] = file(0, 900, 0o640)
        files["/run/vehicle/roots"] = file(0, 0, 0o640)
        files["/run/vehicle/blocked"] = file(0, 900, 0o600)
        files["/etc/closed/token"] = file(0, 900, 0o640)
        files["/dev/ttyX0"] = FileStatus(kind: .device, owner: 0, group: 5, permissions: 0o660)
        files["/dev/ttyUSB0"] = FileStatus(kind: .device, owner: 0, group: 20, permissions: 0o660)
        return files
    }()

    private static let token = "/run/vehicle/token"
    private static let outbox = "/var/lib/waypost/outbox.sqlite"

    private static func lines(
        _ text: String, from file: String = "/etc/waypost/config.json", dropIn: String = "", hasUser: Bool = true,
        obstacles: [String: String] = [:]
    ) throws -> [String] {
        let unit = try String(
            contentsOf: Fixtures.checkout.appending(path: "packaging/waypost.service"), encoding: .utf8)
        let user = SystemUser(name: "waypost", id: 900, groups: [900, 20], groupName: "waypost")
        let check = ServiceCheck(
            sandbox: ServiceSandbox(ServiceUnit(texts: [unit, "[Service]\n" + dropIn])), user: hasUser ? user : nil,
            status: { files[$0] }, resolved: { $0 == "/etc/link" ? "/home/.van/token" : $0 },
            obstacle: { path, _ in obstacles[path] })
        let configuration = try Configuration(json: Array(text.utf8), file: file)
        return check.lines(configuration, from: file).map { "\($0.verdict.rawValue) \($0.name): \($0.text)" }
    }

    @Test(arguments: [
        Case(part: token, with: token, line: nil),
        Case(
            part: token, with: "/tmp/token",
            line:
                "FAIL authorization: authorization.path: /tmp/token is not seen by the service, which has a /tmp of its "
                + "own (PrivateTmp=yes in waypost.service); have it written where the service sees it, as to "
                + "/run/vehicle/token.jwt, and correct the key"),
        Case(
            part: token, with: "/etc/link",
            line:
                "FAIL authorization: authorization.path: /etc/link is not seen by the service, to which /home is closed "
        ),
        Case(
            part: token, with: "/run/vehicle/roots",
            line:
                "note authorization: authorization.path: /run/vehicle/roots cannot be read by the service's user waypost; "
                + "type chgrp waypost /run/vehicle/roots and chmod g+r /run/vehicle/roots"),
        Case(
            part: token, with: "/run/vehicle/blocked",
            line: "note authorization: authorization.path: /run/vehicle/blocked cannot be read by the service's user "
                + "waypost; type chmod g+r /run/vehicle/blocked"),
        Case(
            part: token, with: "/etc/closed/token",
            line: "note authorization: authorization.path: /etc/closed/token cannot be reached by the service's user "
                + "waypost, for /etc/closed is closed to him; type chgrp waypost /etc/closed and chmod g+x /etc/closed"),
        Case(part: token, with: "/run/vehicle/none", line: nil),
        Case(
            part: outbox, with: "/data/outbox.sqlite",
            line:
                "FAIL outbox: outbox.path: /data/outbox.sqlite cannot be written by the service (ProtectSystem=strict in "
                + "waypost.service); use /var/lib/waypost/outbox.sqlite, or type systemctl edit waypost and write [Service] "
                + "and below it ReadWritePaths=/data"),
        Case(
            part: outbox, with: "/home/.van/outbox.sqlite",
            line:
                "FAIL outbox: outbox.path: /home/.van/outbox.sqlite is not seen by the service, to which /home is closed "
        ),
        Case(
            part: "127.0.0.1:9464", with: "unix:/tmp/status",
            line:
                "FAIL status: status.listen: unix:/tmp/status is not seen by the service, which has a /tmp of its own "
                + "(PrivateTmp=yes in waypost.service), so that nobody else finds it; use unix:/run/waypost/status"),
        Case(
            part: "127.0.0.1:9464", with: "unix:/run/status",
            line:
                "FAIL status: status.listen: unix:/run/status cannot be written by the service (ProtectSystem=strict in "
                + "waypost.service); use unix:/run/waypost/status"),
        Case(part: "127.0.0.1:9464", with: "unix:/run/waypost/status", line: nil),
        Case(
            part: #""v""#, with: #""v", "privateModeFile": "/tmp/private""#,
            line:
                "FAIL vehicle: vehicle.privateModeFile: /tmp/private is not seen by the service, which has a /tmp of its own "
                + "(PrivateTmp=yes in waypost.service), so that it does not switch; use a path that it sees, as "
                + "/var/lib/vehicle/private"),
        Case(
            part: #""v""#, with: #""v", "privateModeFile": "/run/waypost/private""#,
            line:
                "note vehicle: vehicle.privateModeFile: /run/waypost/private is gone after each stop and restart of the "
                + "service, for systemd removes /run/waypost then, and the vehicle is not private any more; use a folder of "
        ),
        Case(part: #""v""#, with: #""v", "privateModeFile": "/run/vehicle/private""#, line: nil),
        Case(
            part: #""stdin""#, with: #""serial", "device": "/dev/ttyX0""#,
            line:
                "note receiver: receiver.device: /dev/ttyX0 cannot be opened by the service's user waypost; type chgrp "
                + "dialout /dev/ttyX0 and chmod g+rw /dev/ttyX0, by a udev rule so that it stays"),
        Case(part: #""stdin""#, with: #""serial", "device": "/dev/ttyUSB0""#, line: nil),
    ])
    func sayWhatTheServiceCannotDo(row: Case) throws {
        let lines = try Self.lines(Self.configuration.replacing(row.part, with: row.with))
        #expect(lines.count == (row.line == nil ? 0 : 1), "\(lines)")
        if let line = row.line { #expect(lines.first?.hasPrefix(line) == true, "\(lines)") }
    }

    @Test func sayWhoCannotReadTheConfiguration() throws {
        let lines = try Self.lines(Self.configuration, from: "/etc/waypost/roots.json")
        #expect(
            lines == [
                "note configuration: /etc/waypost/roots.json cannot be read by the service's user waypost; type chgrp waypost "
                    + "/etc/waypost/roots.json and chmod g+r /etc/waypost/roots.json"
            ])
    }

    @Test func sayThatTheUserIsMissing() throws {
        let lines = try Self.lines(Self.configuration, hasUser: false)
        #expect(
            lines.count == 1 && lines[0].hasPrefix("note service: waypost.service runs as the user waypost, who does"))
    }

    /// The unit lets the service write there, the folder does not.
    @Test func sayWhoseTheOutboxsFolderIs() throws {
        let lines = try Self.lines(
            Self.configuration.replacing(Self.outbox, with: "/data/o"), dropIn: "ReadWritePaths=/data")
        #expect(
            lines == [
                "note outbox: outbox.path: /data/o cannot be written by the service's user waypost, for /data belongs to root; "
                    + "type chown waypost: /data"
            ])
    }

    /// The service would find the same: what was tried as its user is no matter of opinion.
    @Test func failWhereAnAttemptAsTheServiceFails() throws {
        let denied = "Permission denied"
        let unread = try Self.lines(
            Self.configuration.replacing(Self.token, with: "/run/vehicle/roots"), from: "/etc/waypost/roots.json",
            obstacles: ["/run/vehicle/roots": denied, "/etc/waypost/roots.json": denied])
        #expect(
            unread.map { $0.prefix { $0 != "," } } == [
                "FAIL configuration: /etc/waypost/roots.json cannot be read by the service's user waypost; type chgrp waypost "
                    + "/etc/waypost/roots.json and chmod g+r /etc/waypost/roots.json",
                "FAIL authorization: authorization.path: /run/vehicle/roots cannot be read by the service's user waypost; "
                    + "type chgrp waypost /run/vehicle/roots and chmod g+r /run/vehicle/roots",
            ])
        let unwritten = try Self.lines(Self.configuration, obstacles: ["/var/lib/waypost": "Disk quota exceeded"])
        #expect(
            unwritten == [
                "FAIL outbox: outbox.path: \(Self.outbox) cannot be written by the service's user waypost: Disk quota "
                    + "exceeded; let that user write in /var/lib/waypost, or choose another path"
            ])
    }
}
