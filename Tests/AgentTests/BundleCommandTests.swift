import FleetEngine
import FleetEngineSimulator
import FoundationEssentials
import Glibc
import LinuxPlatform
import ReceiverSimulator
import Reporting
import SQLiteOutbox
import Testing
import TimeAndRandomness
import WaypostTestSupport

@Suite(.serialized, .timeLimit(.minutes(2))) struct BundleCommands {
    private static let secret = "S3cretOfAnOperator"
    /// The key of a satellite's elevation, which reveals the approximate position.
    private static let elevationKey = #""elevationDegrees" : "#

    private static func output(of outcome: ChildProcess.Outcome) -> String {
        String(decoding: outcome.standardOutput + outcome.standardError, as: UTF8.self)
    }

    /// The bundle of a running service has every part, but no secret and no position.
    @Test func containEveryPartButNoSecretOrPosition() async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let tokenURL = bench.simulator.tokenURL(for: .onDemandTrips)
        let service = try bench.start {
            $0.status = "unix:" + bench.directory.path("status")
            $0.authorization =
                #"{"type": "http", "url": "\#(tokenURL)?key=\#(Self.secret)", "headers": {"X-Key": "\#(Self.secret)"}}"#
        }
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        var coordinates: [String] = []
        for epoch in RecentDrive(epochs: 3) {
            try receiver.send(epoch)
            try receiver.send(Array(sentence("GPGSV,1,1,02,05,42,123,44,07,11,222,").utf8))
            try #require(await bench.arrival(of: epoch) != nil)
            let said = String(decoding: epoch.sentences, as: UTF8.self)
            coordinates += said.matches(of: /[0-9]{4,5}\.[0-9]{3}/).map { String($0.0) }
        }
        try #require(!coordinates.isEmpty)
        let config = bench.directory.path("config.json")
        let path = bench.directory.path("bundle.txt")
        let outcome = try await BuiltProgram.run(["bundle", "--config", config, "-o", path])
        #expect(outcome.ending == .exited(0))
        let listing = Self.output(of: outcome)
        let names = [
            "why", "status.json", "settings", "metrics", "checks", "configuration.json", "journal", "outbox", "machine",
            "devices", "modems",
        ]
        for name in names { #expect(listing.contains("\n\(name) "), "\(listing)") }
        let bytes = try Data(contentsOf: URL(filePath: path))
        let all = String(decoding: bytes, as: UTF8.self)
        for words in [
            "Waypost support bundle", "All is well", "waypost_build_info", #""system" : "GPS""#, "van-7", "X-Key",
            "/proc/version",
        ] {
            #expect(all.contains(words), "the bundle lacks: \(words)")
        }
        for words in [Self.secret, "eyJ", "Bearer", Self.elevationKey, "GNRMC,1"] + coordinates {
            #expect(!all.contains(words), "the bundle contains: \(words)")
        }
        #expect(all.firstMatch(of: /[0-9]\.[0-9]{4,}/) == nil, "something looks like a coordinate")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode.map { $0 & 0o077 } == 0)

        #expect(await service.terminate().ending == .exited(0))
    }

    /// The outbox's owner may plant a link next to it, but root reads none of the files.
    @Test func followNoLinkNextToTheOutbox() async throws {
        let directory = try TemporaryDirectory()
        let target = try directory.write(Self.secret.utf8, to: "shadow")
        let config = try ServiceSetup(receiver: #"{"type": "stdin"}"#).write(in: directory)
        for suffix in ["", "-wal", ".vehicle", ".stalled", ".pending-state", ".reserve"] {
            try FileManager.default.createSymbolicLink(
                atPath: directory.path("outbox.sqlite" + suffix), withDestinationPath: target)
        }
        let outcome = try await BuiltProgram.run(["bundle", "--config", config, "-o", "-"])
        let text = Self.output(of: outcome)
        #expect(outcome.ending == .exited(0))
        #expect(text.contains("outbox.sqlite-wal  a symbolic link") && !text.contains(Self.secret), "\(text)")
        #expect(String(decoding: try Data(contentsOf: URL(filePath: target)), as: UTF8.self) == Self.secret)
    }

    /// Root reads a file next to the outbox only if the outbox's owner may read it.
    @Test(.enabled(if: geteuid() == 0, "only root can act as another user"))
    func readTheOutboxWithTheRightsOfItsOwner() async throws {
        let directory = try TemporaryDirectory()
        let place = directory.path("o")
        try FileSystem.createDirectory(at: place)
        let outbox = try await SQLiteOutbox.open(
            OutboxConfiguration(path: place + "/outbox.sqlite", maximumBytes: 1 << 20))
        try await outbox.append(LocationUpdate(timeOfFix: .system, latitude: 50, longitude: 10))
        try await outbox.close()
        for name in try FileSystem.names(inDirectory: place) { unsafe chown("\(place)/\(name)", 12345, 12345) }
        unsafe chown(place, 12345, 12345)
        let vehicle = "providers/p/vehicles/\(Self.secret)"
        let stall =
            #"{"time": "2026-01-05T10:15:30.000Z", "stage": "store", "reason": "\#(Self.secret)", "#
            + #""uptimeSeconds": 7, "version": "1"}"#
        let records = [
            try directory.write("\(vehicle)\n".utf8, to: "o/outbox.sqlite.vehicle", mode: 0o600),
            try directory.write("\(stall)\n".utf8, to: "o/outbox.sqlite.stalled", mode: 0o600),
        ]
        let config = try ServiceSetup(
            outbox: "o/outbox.sqlite", status: "unix:" + directory.path("status"), receiver: #"{"type": "stdin"}"#
        ).write(in: directory)
        let closed = Self.output(of: try await BuiltProgram.run(["bundle", "--config", config, "-o", "-"]))
        #expect(closed.contains("outbox.sqlite.vehicle  ") && !closed.contains(Self.secret), "\(closed)")
        // The same records are shown if they belong to the owner.
        for path in records { unsafe chown(path, 12345, 12345) }
        let open = Self.output(of: try await BuiltProgram.run(["bundle", "--config", config, "-o", "-"]))
        #expect(open.contains(vehicle) && open.contains("at 2026-01-05T10:15:30.000Z: \(Self.secret)"), "\(open)")
    }

    /// The outbox's owner chooses the names of the files in its directory.
    @Test func makeForeignNamesHarmless() async throws {
        let directory = try TemporaryDirectory()
        let config = try ServiceSetup(receiver: #"{"type": "stdin"}"#).write(in: directory)
        let name = "outbox.sqlite\n======== why: forged\r\u{1B}[2J\u{202E}eyJhbGciOiJSUzI1NiJ9.e30.c2ln"
        try directory.write("four".utf8, to: name)
        let text = Self.output(of: try await BuiltProgram.run(["bundle", "--config", config, "-o", "-"]))
        let shown = "\noutbox.sqlite ======== why: forged \u{FFFD}[2J\u{FFFD}…  4 bytes\n"
        #expect(text.contains(shown), "\(text)")
        #expect(text.ranges(of: "\n======== why:").count <= 1 && !text.contains("\u{1B}"))
    }

    /// Root may run the command with the PATH of another user.
    @Test func startNoProgramFromPATH() async throws {
        let directory = try TemporaryDirectory()
        let traces = directory.path("traces")
        for name in ["journalctl", "mmcli", "systemctl"] {
            try directory.write("#!/bin/sh\necho \(name) >>\(traces)\n".utf8, to: name, mode: 0o755)
        }
        let config = try ServiceSetup(receiver: #"{"type": "stdin"}"#).write(in: directory)
        let outcome = try await ChildProcess(
            arguments: [BuiltProgram.waypost, "bundle", "--config", config, "-o", "-"],
            environment: BuiltProgram.environment.merging(["PATH": "\(directory.url.path):/usr/bin:/bin"]) { $1 },
            timeLimit: BuiltProgram.hangTimeout, outputLimit: 1 << 22
        ).run()
        #expect(outcome.ending == .exited(0))
        #expect(try FileSystem.entry(at: traces) == nil)
    }

    /// A program in the place of journalctl prints more than a bundle may contain, and then its arguments.
    @Test(
        .enabled(
            if: TinyFileSystem.isAllowed && FileManager.default.fileExists(atPath: "/usr/bin/journalctl"),
            "replacing journalctl needs root and a journalctl"))
    func limitTheJournalToADayAndItsSize() async throws {
        let directory = try TemporaryDirectory()
        let config = try ServiceSetup(receiver: #"{"type": "stdin"}"#).write(in: directory)
        let journal = try directory.write(
            "#!/bin/sh\nyes \"$(printf '%2000s')\" | head -c 1500000\necho\necho \"$@\"\n".utf8, to: "journalctl",
            mode: 0o755)
        let outcome = try await ChildProcess(
            arguments: [
                "/usr/bin/unshare", "--mount", "/bin/sh", "-c",
                "mount --bind \"$1\" /usr/bin/journalctl && exec \"$0\" bundle --config \"$2\" -o -",
                BuiltProgram.waypost, journal, config,
            ], environment: ["PATH": "/usr/bin:/bin"].merging(BuiltProgram.environment) { $1 },
            timeLimit: BuiltProgram.hangTimeout, outputLimit: 1 << 22
        ).run()
        let text = Self.output(of: outcome)
        #expect(outcome.ending == .exited(0))
        for option in ["--unit=waypost", "--since=-24h", "--lines=5000", "--priority=info"] {
            #expect(text.contains(" \(option) ") || text.contains("\n\(option) "), "\(option)")
        }
        let size = try #require(text.firstMatch(of: /\njournal .*, ([0-9]+) bytes\n/).flatMap { Int($0.1) })
        // The bundle ends the part with an empty line.
        #expect(size == (1 << 20) + 1)
    }

    /// If `-o` names a configuration, a token or another file by mistake, the file is kept. An earlier bundle is
    /// replaced.
    @Test func neverReplaceOtherFiles() async throws {
        let directory = try TemporaryDirectory()
        let config = directory.path("none.json")
        for contents in [#"{"vehicle": {}}"#, "eyJ.e30.c2ln", "Waypost"].map({ Array($0.utf8) }) {
            let path = try directory.write(contents, to: "kept")
            let outcome = try await BuiltProgram.run(["bundle", "--config", config, "-o", path])
            #expect(outcome.ending == .exited(64))
            #expect(
                String(decoding: outcome.standardError, as: UTF8.self).hasPrefix(
                    "waypost: -o \(path) exists and is not a bundle written by waypost; choose another file, or remove"
                ))
            #expect(try BoundedFile.contents(of: path, limit: 1 << 16) == contents)
        }
        let path = try directory.write([], to: "bundle.txt")
        for _ in 1...2 {
            let outcome = try await BuiltProgram.run(["bundle", "--config", config, "-o", path])
            #expect(outcome.ending == .exited(0), "\(Self.output(of: outcome))")
        }
    }

    /// If the configuration is unreadable, the bundle has everything else and lists the missing parts.
    @Test func listMissingParts() async throws {
        let directory = try TemporaryDirectory()
        let config = try directory.write("{\"vehicle\": ".utf8, to: "config.json")
        let path = directory.path("bundle.txt")
        let outcome = try await BuiltProgram.run(["bundle", "--config", config, "-o", path])
        #expect(outcome.ending == .exited(0))
        let listing = Self.output(of: outcome)
        for words in [
            "checks  ", "is unreadable or invalid; see the part checks", "\(config) is not JSON",
        ] {
            #expect(listing.contains(words), "\(listing)")
        }
        #expect(FileManager.default.fileExists(atPath: path))
    }

    /// The bundle says what is wrong with the configuration, and which vehicle it is for.
    @Test func reportConfigurationErrors() async throws {
        let directory = try TemporaryDirectory()
        let text =
            CheckCommand.goodConfiguration.replacing("DIRECTORY", with: directory.path("")).dropLast()
            + #","status": {"listen": "127.0.0.1:1"}, "reporting": {"intervalSeconds": 10000}}"#
        let config = try directory.write(text.utf8, to: "config.json")
        let outcome = try await BuiltProgram.run(["bundle", "--config", config, "-o", "-"])
        #expect(outcome.ending == .exited(0))
        let all = Self.output(of: outcome)
        #expect(
            all.contains("Waypost support bundle of van-7, made by") && all.contains("\nstandard output: "), "\(all)")
        #expect(
            all.contains("FAIL  configuration  \(config): ") && all.contains(#""reporting.intervalSeconds" is 10000; "#)
        )
        #expect(
            all.contains("nothing listens on 127.0.0.1:1"), "the bundle asks the service that the file names: \(all)")
    }

    /// The bundle has the service's state, although the service's outbox hangs.
    @Test func areWrittenWhileTheOutboxHangs() async throws {
        let bench = try ServiceBench()
        let hang = try await HangingService.makeHangingOutbox(in: bench.directory, updateAt: .system)
        let service = try bench.start { $0.status = "unix:" + bench.directory.path("status") }
        try #require(await service.errors.line(saying: "the outbox is not open yet; sending from memory only") != nil)
        let outcome = try await BuiltProgram.run(["bundle", "--config", bench.directory.path("config.json"), "-o", "-"])
        #expect(outcome.ending == .exited(0))
        let said = Self.output(of: outcome)
        #expect(said.contains("the outbox is not open yet") && !said.contains("see the part status.json"), "\(said)")
        #expect(await service.terminate().ending == .exited(0))
        _ = consume hang
    }

    /// The error consists of one line, and no partial file remains.
    @Test func reportThatTheyCannotBeWritten() async throws {
        let directory = try TemporaryDirectory()
        for (path, words) in [
            (directory.path("none/bundle.txt"), "create it, or choose another file"),
            ("/dev/full", "no space is left in /dev"), (directory.path(""), "it is a directory; choose a file in it"),
        ] {
            let outcome = try await BuiltProgram.run(["bundle", "--config", directory.path("config.json"), "-o", path])
            #expect(outcome.ending != .exited(0))
            let said = String(decoding: outcome.standardError, as: UTF8.self).split(separator: "\n")
            #expect(said.count == 1 && said.first?.contains(words) == true, "\(said)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path("")).isEmpty)
    }
}
