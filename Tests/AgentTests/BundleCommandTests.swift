import FleetEngine
import FleetEngineSimulator
import FoundationEssentials
import Glibc
import LinuxPlatform
import ReceiverSimulator
import Testing
import TimeAndChance
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
