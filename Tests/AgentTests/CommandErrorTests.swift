import FoundationEssentials
import Glibc
import LinuxPlatform
import ReceiverSimulator
import Testing
import WaypostTestSupport

@Suite(
    .serialized, .timeLimit(.minutes(2)),
    .enabled(if: !Sanitizer.isActive, "starts the program dozens of times, which takes seconds under a sanitizer")
)
struct CommandErrors {
    struct Case: CustomTestStringConvertible {
        /// The command line; `LOG` and `CONFIG` stand for paths.
        let commandLine: String
        /// The kind of file at `LOG`.
        var log = Log.missing
        let code: Int32
        /// The start of the only line, after `waypost: ` and the log's path.
        let message: String
        var testDescription: String { "\(commandLine), \(log)" }
    }

    enum Log { case missing, directory, empty, utf16, cutArchive, prose, voidFix, altered }

    static let logs: [(Log, String)] = [
        (.missing, "does not exist"), (.directory, "is a directory"), (.empty, "is empty"), (.utf16, "is UTF-16 text"),
        (.cutArchive, "is a truncated archive"),
    ]
    static let cases =
        logs.flatMap { log, message in
            [
                "fixes LOG", "fixes LOG --summary", "map LOG -o -",
                "replay LOG --config CONFIG", "replay --json --config CONFIG LOG",
            ].map {
                Case(commandLine: $0, log: log, code: 65, message: message)
            }
        } + [
            Case(commandLine: "demo LOG", log: .missing, code: 65, message: "does not exist"),
            Case(commandLine: "demo LOG", log: .directory, code: 65, message: "is a directory"),
            Case(commandLine: "fixes LOG --explain 1", log: .missing, code: 65, message: "does not exist"),
            Case(commandLine: "fixes LOG --explain 1", log: .utf16, code: 65, message: "is UTF-16 text"),
            Case(
                commandLine: "replay LOG --config CONFIG", log: .prose, code: 65,
                message: "contains no NMEA 0183 sentence"),
            Case(commandLine: "fixes LOG", log: .prose, code: 65, message: "contains no NMEA 0183 sentence"),
            Case(commandLine: "fixes LOG --summary", log: .prose, code: 65, message: "contains no NMEA 0183 sentence"),
            Case(commandLine: "map LOG -o -", log: .prose, code: 65, message: "contains no NMEA 0183 sentence"),
        ]

    @Test(arguments: cases) func nameTheLogAndTheRemedy(row: Case) async throws {
        let bench = row.log == .cutArchive ? try ServiceBench() : nil  // fixes before the damage are delivered
        let directory = try bench?.directory ?? TemporaryDirectory()
        let log = directory.path("drive.log")
        try await write(row.log, to: log, in: directory)
        let config =
            try bench?.configure { $0.level = "error" } ?? ServiceSetup(level: "error").write(in: directory)
        let words = row.commandLine.split(separator: " ").map {
            String($0).replacing("LOG", with: log).replacing("CONFIG", with: config)
        }
        let outcome = try await BuiltProgram.run(words)
        #expect(outcome.ending == .exited(row.code))
        let errorLines = lines(outcome.standardError)
        #expect(errorLines.count == 1, "\(errorLines)")
        #expect(errorLines.first?.hasPrefix("waypost: \(log) \(row.message)") == true, "\(errorLines)")
        let output = lines(outcome.standardOutput)
        if row.log == .cutArchive || row.commandLine == "fixes LOG --summary" && row.log == .prose {
            #expect(!output.isEmpty, "the part that was read is missing")
        } else {
            #expect(output.isEmpty, "unexpected output: \(output)")
        }
    }

    /// Every command that reads a log reports why there is no fix, after the summary if there is one.
    @Test(arguments: [
        "fixes LOG", "fixes LOG --summary", "map LOG -o -", "replay LOG --config CONFIG", "run --config CONFIG",
        "run --config PIPED",
    ])
    func explainALogWithoutFixes(command: String) async throws {
        let directory = try TemporaryDirectory()
        let log = directory.path("drive.log")
        for (kind, reason) in [(Log.voidFix, "; "), (.altered, "3 of 4 sentences left out because of")] {
            try await write(kind, to: log, in: directory)
            let isPiped = command.hasSuffix("PIPED")
            let receiver = isPiped ? #"{"type": "stdin"}"# : #"{"type": "file", "path": "\#(log)"}"#
            let config = try ServiceSetup(level: "error", receiver: receiver).write(in: directory)
            let words = command.split(separator: " ").map {
                String($0).replacing("LOG", with: log).replacing("CONFIG", with: config).replacing(
                    "PIPED", with: config)
            }
            let outcome = try await ChildProcess(
                arguments: ["/bin/sh", "-c", "cat \"$0\" | \"$@\"", log, BuiltProgram.waypost] + words,
                environment: ["PATH": "/usr/bin:/bin"].merging(BuiltProgram.environment) { $1 },
                timeLimit: BuiltProgram.hangTimeout, outputLimit: 1 << 20
            ).run()
            #expect(outcome.ending == .exited(65))
            let name = isPiped ? "standard input" : log
            let errorLines = lines(outcome.standardError)
            #expect(
                errorLines.count == 1 && errorLines[0].hasPrefix("waypost: no fix in \(name): ")
                    && errorLines[0].contains(reason), "\(errorLines)")
            #expect(outcome.standardOutput.isEmpty == !command.hasSuffix("--summary"))
        }
    }

    @Test(arguments: ["fixes LOG", "map LOG -o -", "replay LOG --config CONFIG"])
    func reportSentencesLeftOutOfAnAlteredLog(command: String) async throws {
        let bench = try ServiceBench()
        let lines = (10..<40).map { second in
            let line = sentence("GPRMC,1015\(second).00,A,5231.1234,N,01323.1234,E,10.0,90.0,231126,,,A")
            return second % 2 == 0 ? line : line.replacing("10.0,90", with: "11.0,90")
        }
        let log = try bench.directory.write(lines.joined().utf8, to: "drive.log")
        let config = try bench.configure { $0.level = "error" }
        let outcome = try await BuiltProgram.run(
            command.split(separator: " ").map {
                String($0).replacing("LOG", with: log).replacing("CONFIG", with: config)
            })
        #expect(outcome.ending == .exited(0))
        let loss = self.lines(outcome.standardError).filter { $0.contains("left out") }
        #expect(
            loss.count == 1 && loss[0].hasPrefix("waypost: \(log): 15 of 30 sentences left out because the"), "\(loss)")
    }

    @Test func nameALogUsedAsAConfiguration() async throws {
        let directory = try TemporaryDirectory()
        let log = try directory.write(sentence("GPTXT,01,01,02,hello").utf8, to: "drive.nmea")
        for command in ["check", "token"] {
            let outcome = try await BuiltProgram.run([command, "--config", log])
            #expect(outcome.ending == .exited(78))
            #expect(
                lines(outcome.standardError).first
                    == "waypost: \(log): line 1, column 1: not JSON; a document begins with {; check that this is the "
                    + "configuration")
        }
    }

    @Test func nameEveryProblemOfAConfiguration() async throws {
        let directory = try TemporaryDirectory()
        let config = try directory.write(
            #"{"vehicle": {"providerId": "p"}, "receivr": {}, "outbox": {"maximumMegabytes": "x"}}"#.utf8,
            to: "config.json")
        for command in ["run", "check"] {
            let outcome = try await BuiltProgram.run([command, "--config", config])
            #expect(outcome.ending == .exited(78))
            let errorLines = lines(outcome.standardError)
            #expect(errorLines.count == 4, "something is reported twice: \(errorLines)")
            for key in ["vehicle.vehicleId", "receivr", "outbox.maximumMegabytes", "authorization"] {
                #expect(
                    errorLines.contains { $0.hasPrefix("waypost: \(config): \"\(key)\" is ") }, "nothing about \(key)")
            }
            #expect(outcome.standardOutput.isEmpty)
        }
    }

    @Test(arguments: [
        (
            ["run", "--config", "/nowhere/config.json"], 78 as Int32,
            "waypost: /nowhere/config.json: there is no such file"
        ),
        (
            ["run", "--config=~/none.json"], 78,
            "waypost: ~/none.json: there is no such file; the shell replaces ~ only at the start of a word: write --config "
        ),
        (["run", "--config", "/"], 78, "waypost: /: is a directory"),
        (["--check"], 64, "waypost: there is no command \"--check\"; did you mean check?"),
        (["rnu"], 64, "waypost: there is no command \"rnu\"; did you mean run?"),
        (["map", "drive.nmea"], 64, "waypost: map needs -o FILE"),
        (["map", "-o", "page.html"], 64, "waypost: map needs LOG"),
        (["map", "-", "-", "-o", "page.html"], 64, "waypost: standard input (-) can be read only once"),
        (["map", "/dev/null", "-o", "/dev/null"], 64, "waypost: -o /dev/null is the log /dev/null"),
        (["map", "drive.nmea", "-o", "out.kml"], 64, "waypost: -o out.kml: the page is HTML; use a name"),
        (["map", "drive.nmea", "-o", "drive.PDF"], 64, "waypost: -o drive.PDF: the page is HTML; use a name"),
        (["run", "--confg", "x"], 64, "waypost: run has no option --confg; did you mean --config?"),
        (["fixes", "--follow", "--summary", "x"], 64, "waypost: --follow never ends"),
        (["fixes", "--explain", "0", "x"], 64, "waypost: --explain is 0; line numbers start at 1"),
        (["fixes", "--explain", "7"], 64, "waypost: --explain with a line number needs exactly one LOG"),
        (
            ["fixes", "--explain", "GNRMC"], 64,
            "waypost: --explain is GNRMC, which is neither a line number nor a sentence"
        ),
        (["simulator", "--trip", "t=a", "--trip", "t=b"], 64, "waypost: --trip t is given twice; remove one"),
        (
            ["simulator", "--vehicle", "a", "--trip", "t=b"], 64,
            "waypost: --trip t=b names the vehicle b, which --vehicle does not list"
        ),
        (
            ["simulator", "--record", "/nowhere/r", "--record-uploads", "/nowhere/r"], 64,
            "waypost: --record and --record-uploads use the same file, /nowhere/r; use two files"
        ),
        (
            ["simulator", "--trust-key", "/etc/passwd"], 64,
            "waypost: --trust-key /etc/passwd: the trusted key is not a public key"
        ),
        (
            ["simulator", "--record", "/nowhere/record"], 1,
            "waypost: /nowhere/record cannot be written: there is no directory /nowhere"
        ),
        (["demo", "/nowhere/drive.nmea"], 65, "waypost: /nowhere/drive.nmea does not exist"),
        (["simulator", "--errors", "often"], 64, "waypost: --errors often: \"often\" must have the form STATUS:RATE"),
    ])
    func nameTheErrorInACommandLine(arguments: [String], code: Int32, message: String) async throws {
        let outcome = try await BuiltProgram.run(arguments)
        #expect(outcome.ending == .exited(code))
        let errorLines = lines(outcome.standardError)
        #expect(errorLines.first?.hasPrefix(message) == true, "\(errorLines)")
        // A usage error also has a line about help.
        #expect(errorLines.count == (code == 64 ? 2 : 1), "\(errorLines)")
        #expect(outcome.standardOutput.isEmpty)
    }

    /// Google signs tokens only with RSA keys.
    @Test func rejectATrustedKeyThatIsNotAnRSAKey() async throws {
        let directory = try TemporaryDirectory()
        let key = """
            -----BEGIN PUBLIC KEY-----
            MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAESkcVbuYwJWpw6jpQSznRh/RBlhKZ
            WcIT9ocotOI2FzYgtYdcc2YdLnlz8ls/botBzzCi2WkIUp+yvutik1qckQ==
            -----END PUBLIC KEY-----
            """
        let path = try directory.write(key.utf8, to: "key.pem")
        let outcome = try await BuiltProgram.run(["simulator", "--trust-key", path])
        #expect(outcome.ending == .exited(64))
        #expect(
            lines(outcome.standardError).first
                == "waypost: --trust-key \(path): the trusted key isn't an RSA key, but tokens are signed with RS256")
    }

    /// Every request for an invalid id would be answered with 404.
    @Test(
        arguments: [
            (
                "--vehicle", "providers/p/vehicles/van-7", "is the name of a resource; ",
                "; did you mean --vehicle van-7?"
            ),
            ("--provider", "providers/p", "is the name of a resource; ", "; did you mean --provider p?"),
            ("--vehicle", "a/v", "contains \"/\"; leave out / : ? , #", " control characters"),
        ] as [(String, String, String, String)])
    func rejectAnInvalidID(option: String, id: String, problem: String, ending: String) async throws {
        let outcome = try await BuiltProgram.run(["simulator", option, id])
        #expect(outcome.ending == .exited(64))
        let errorLine = lines(outcome.standardError).first ?? ""
        #expect(
            errorLine.hasPrefix("waypost: \(option): \"\(id)\" \(problem)") && errorLine.hasSuffix(ending),
            "\(errorLine)")
    }

    @Test func nameTheProcessThatHoldsTheOutbox() async throws {
        let directory = try TemporaryDirectory()
        let config = try ServiceSetup().write(in: directory)
        let service = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", config], environment: BuiltProgram.environment)
        try #require(await service.errors.line(saying: "status at") != nil)
        let outcome = try await BuiltProgram.run(["run", "--config", config])
        #expect(outcome.ending == .exited(69))
        #expect(
            lines(outcome.standardError) == [
                "waypost: \(directory.path("outbox.sqlite")): in use by waypost run --config \(config) "
                    + "(process \(service.processID)); stop it first (kill \(service.processID)), or use another "
                    + "outbox path"
            ])
        #expect(await service.terminate().ending == .exited(0))
    }

    @Test func nameTheProcessThatHoldsThePort() async throws {
        let holder = try LoopbackSocket(.stream)
        let outcome = try await BuiltProgram.run(["simulator", "--listen", "127.0.0.1:\(holder.port)"])
        #expect(outcome.ending == .exited(69))
        let errorLines = lines(outcome.standardError)
        #expect(errorLines.count == 1)
        let own = ProcessInfo.processInfo.processIdentifier
        #expect(errorLines.first?.contains("cannot listen on 127.0.0.1:\(holder.port): ") == true)
        #expect(errorLines.first?.contains(" (process \(own)) holds it; stop it (kill \(own)), or ") == true)
    }

    /// The user can't see the descriptors of the process that holds the port. This is usually the case if the process
    /// is a service.
    @Test(.enabled(if: geteuid() == 0, "only root can act as two other users"))
    func nameAProcessOfAnotherUserThatHoldsThePort() async throws {
        let holder = try RunningProgram(
            BuiltProgram.command(asUser: 64_997) + ["simulator", "--listen", "127.0.0.1:0"],
            environment: BuiltProgram.environment)
        let page = try #require(await holder.errors.line(saying: "its page is")).text
        let address = try #require(page.firstMatch(of: /127\.0\.0\.1:\d+/)).0
        let outcome = try await ChildProcess(
            arguments: BuiltProgram.command(asUser: 64_996) + ["simulator", "--listen", String(address)],
            environment: BuiltProgram.environment, timeLimit: BuiltProgram.hangTimeout
        ).run()
        #expect(
            lines(outcome.standardError).first?.contains(
                "waypost simulator --listen 127.0.0.1:0 (process \(holder.processID)) holds it") == true,
            "\(lines(outcome.standardError))")
    }

    @Test(.enabled(if: TinyFileSystem.isAllowed, "mounting a small file system needs root"))
    func nameAFullDisk() async throws {
        let directory = try TemporaryDirectory()
        let disk = try TinyFileSystem(at: directory.path("disk"), megabytes: 1)
        let config = try ServiceSetup(outbox: "disk/outbox.sqlite").write(in: directory)
        try disk.fill()
        let log = Fixtures.url("nmea/tunnel.nmea").path
        let outcome = try await BuiltProgram.run(
            ["replay", log, "--config", config, "--outbox", directory.path("disk/outbox.sqlite")])
        #expect(outcome.ending == .exited(69))
        let errorLines = lines(outcome.standardError)
        #expect(errorLines.count == 1)
        #expect(
            errorLines.first?.hasPrefix("waypost: \(directory.path("disk/outbox.sqlite")): no space is left") == true,
            "\(errorLines)")
    }

    @Test(.enabled(if: TinyFileSystem.isAllowed, "mounting a small file system needs root"))
    func nameADiskWithoutInodes() async throws {
        let directory = try TemporaryDirectory()
        let place = directory.path("disk")
        unsafe mkdir(place, 0o700)
        try valueOrSystemError("mount") { unsafe mount("tmpfs", place, "tmpfs", 0, "size=4m,nr_inodes=1") }
        defer { unsafe umount2(place, CInt(MNT_DETACH)) }
        let outbox = place + "/outbox.sqlite"
        let outcome = try await BuiltProgram.run([
            "replay", Fixtures.url("nmea/tunnel.nmea").path, "--config",
            try ServiceSetup(outbox: "disk/outbox.sqlite").write(in: directory), "--outbox", outbox,
        ])
        #expect(outcome.ending == .exited(69))
        let errorLines = lines(outcome.standardError)
        #expect(errorLines.count == 1)
        #expect(errorLines.first?.hasPrefix("waypost: \(outbox): no inodes are left (") == true, "\(errorLines)")
    }

    @Test func areSilentIfTheReaderClosesThePipe() async throws {
        let directory = try TemporaryDirectory()
        let log = try directory.write(Drive(.town).flatMap(\.sentences), to: "drive.log")
        let outcome = try await ChildProcess(
            arguments: [
                "/bin/sh", "-c", "{ \"$0\" fixes \"$1\" \"$1\" \"$1\" \"$1\"; echo \"status $?\" >&2; } | head -n 1",
                BuiltProgram.waypost, log,
            ], environment: ["PATH": "/usr/bin:/bin"].merging(BuiltProgram.environment) { $1 },
            timeLimit: BuiltProgram.hangTimeout
        ).run()
        #expect(outcome.ending == .exited(0))
        #expect(lines(outcome.standardOutput).count == 1)
        #expect(lines(outcome.standardError) == ["status 0"])
    }

    private func write(_ log: Log, to path: String, in directory: TemporaryDirectory) async throws {
        let name = "drive.log"
        switch log {
        case .missing: break
        case .directory: try FileSystem.createDirectory(at: path)
        case .empty: try directory.write([], to: name)
        case .prose: try directory.write("Dear diary,\r\n".utf8, to: name)
        case .voidFix: try directory.write("$GPRMC,,V,,,,,,,,,,N*53\r\n".utf8, to: name)
        case .altered:
            let motion = sentence("GPRMC,101500.00,A,5231.1234,N,01323.1234,E,1,9,231126,,,A")
                .replacing(",N,", with: ",S,")
            try directory.write((motion + motion + motion + sentence("GPGSV,1,1,01,02,45,090,40")).utf8, to: name)
        case .utf16:
            let text = String(decoding: Drive(.town, duration: .seconds(10)).flatMap(\.sentences), as: UTF8.self)
            try directory.write([0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }, to: name)
        case .cutArchive:
            let whole = try directory.write(Drive(.town).flatMap(\.sentences), to: "whole.log")
            let archive = try await ChildProcess(
                arguments: ["gzip", "-c", whole], timeLimit: BuiltProgram.hangTimeout, outputLimit: 1 << 22
            ).run()
            #expect(archive.ending == .exited(0))
            try directory.write(archive.standardOutput.prefix(archive.standardOutput.count / 2), to: name)
        }
    }

    private func lines(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
