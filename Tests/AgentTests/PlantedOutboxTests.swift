import FoundationEssentials
import Glibc
import LinuxPlatform
import Testing
import WaypostTestSupport

/// Files that an attacker has placed where the service will write: none of them is changed, and none of them blocks the
/// program.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: !Sanitizer.isActive, "starts the program dozens of times, which takes seconds under a sanitizer")
)
struct PlantedOutbox {
    private let directory: TemporaryDirectory
    private let log = Fixtures.url("nmea/tunnel.nmea").path

    init() throws { directory = try TemporaryDirectory() }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    private func content(of name: String) throws -> String {
        try String(contentsOfFile: directory.path(name), encoding: .utf8)
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can make a link of another user"),
        arguments: [".lock", ".reserve", ".rebuilt", "-wal", "-shm", ""])
    func doesNotFollowALinkWhenWriting(suffix: String) async throws {
        let bench = try ServiceBench()
        let victim = try directory.write("worth keeping".utf8, to: "victim")
        try FileManager.default.createSymbolicLink(
            atPath: bench.directory.path("outbox.sqlite" + suffix), withDestinationPath: victim)
        unsafe lchown(bench.directory.path("outbox.sqlite" + suffix), 12345, 12345)
        let outcome = try await BuiltProgram.run(
            ["replay", log, "--config", try bench.configure(), "--outbox", bench.directory.path("outbox.sqlite")])
        #expect(try content(of: "victim") == "worth keeping")
        let isReplaced = [".reserve", ".rebuilt"].contains(suffix)
        #expect(outcome.ending == .exited(isReplaced ? 0 : 69), "\(text(outcome.standardError))")
    }

    @Test(arguments: [".lock", ".reserve", ".rebuilt", "-wal", "-shm", ""])
    func doesNotWaitForAFIFO(suffix: String) async throws {
        let bench = try ServiceBench()
        unsafe mkfifo(bench.directory.path("outbox.sqlite" + suffix), 0o600)
        let outcome = try await BuiltProgram.run(
            ["replay", log, "--config", try bench.configure(), "--outbox", bench.directory.path("outbox.sqlite")])
        let isReplaced = [".reserve", ".rebuilt"].contains(suffix)
        #expect(outcome.ending == .exited(isReplaced ? 0 : 69), "\(text(outcome.standardError))")
        #expect(isReplaced || text(outcome.standardError).contains("FIFO"))
    }

    /// A file that another user has put in the reserve's place, in a directory such as `/tmp`, is left alone.
    @Test(
        .enabled(if: geteuid() == 0, "only root can make a file of another user"),
        arguments: ["file", "link", "FIFO", "directory"])
    func storesUpdatesWithoutAReserve(kind: String) async throws {
        let bench = try ServiceBench()
        let victim = try directory.write("worth keeping".utf8, to: "victim")
        unsafe mkdir(bench.directory.path("o"), 0o777)
        unsafe chmod(bench.directory.path("o"), 0o1777)
        let place = bench.directory.path("o/outbox.sqlite.reserve")
        switch kind {
        case "file": try bench.directory.write("theirs".utf8, to: "o/outbox.sqlite.reserve")
        case "link": try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: victim)
        case "FIFO": unsafe mkfifo(place, 0o600)
        default: unsafe mkdir(place, 0o700)
        }
        unsafe lchown(place, 12345, 12345)
        let before = try FileStatus(at: place)
        let config = try bench.configure { ($0.outbox, $0.level) = ("o/outbox.sqlite", "warning") }
        let outcome = try await BuiltProgram.run(
            ["replay", log, "--config", config, "--outbox", bench.directory.path("o/outbox.sqlite")])
        #expect(outcome.ending == .exited(0), "\(text(outcome.standardError))")
        let warnings = text(outcome.standardError).split(separator: "\n").filter { $0.contains("no reserve") }
        #expect(warnings.count == 1 && warnings.first?.contains(place) == true, "\(text(outcome.standardError))")
        #expect(try FileStatus(at: place) == before)
        #expect(try content(of: "victim") == "worth keeping")
    }

    /// A recorded log isn't urgent, because it can be read again. So it isn't sent from memory.
    @Test func preventsARecordedLogFromBeingReported() async throws {
        let bench = try ServiceBench()
        let path = try bench.directory.write("worth keeping".utf8, to: "outbox.sqlite")
        let receiver = #"{"type": "file", "path": "\#(log)"}"#
        let outcome = try await BuiltProgram.run(
            ["run", "--config", try bench.configure { ($0.receiver, $0.level) = (receiver, "error") }])
        #expect(outcome.ending == .exited(69))
        let words = "waypost: the outbox isn't used because \(path) isn't a Waypost outbox but text, and"
        #expect(text(outcome.standardError).hasPrefix(words), "\(text(outcome.standardError))")
        #expect(await bench.vehicle == nil)
    }

    @Test(arguments: ["a directory that others may write", "a directory of others"])
    func createsNothingInADirectoryThatOthersControl(kind: String) async throws {
        let bench = try ServiceBench()
        let path = directory.path("theirs")
        unsafe mkdir(path, 0o700)
        if kind == "a directory of others" {
            guard geteuid() == 0 else { return }
            unsafe chown(path, 12345, 12345)
        } else {
            unsafe chmod(path, 0o777)
        }
        let config = try bench.configure { $0.outbox = "link/outbox.sqlite" }
        try FileManager.default.createSymbolicLink(atPath: bench.directory.path("link"), withDestinationPath: path)
        let outcome = try await BuiltProgram.run(
            ["replay", log, "--config", config, "--outbox", bench.directory.path("link/outbox.sqlite")])
        #expect(outcome.ending == .exited(69))
        let errorText = text(outcome.standardError)
        #expect(errorText.contains("the directory \(path) "), "\(errorText)")
        #expect(errorText.contains("choose a"), "\(errorText)")
        #expect(try FileSystem.names(inDirectory: path).isEmpty)
    }

    @Test func isTheSameStoreThroughALinkOfItsOwner() async throws {
        let bench = try ServiceBench()
        let config = try bench.configure { $0.outbox = "b/outbox.sqlite" }
        unsafe mkdir(bench.directory.path("b"), 0o700)
        try FileManager.default.createSymbolicLink(
            atPath: bench.directory.path("b/outbox.sqlite"), withDestinationPath: "../outbox.sqlite")
        let outcome = try await BuiltProgram.run(
            ["replay", log, "--config", config, "--outbox", bench.directory.path("b/outbox.sqlite")])
        #expect(outcome.ending == .exited(0), "\(text(outcome.standardError))")
        #expect(try FileSystem.names(inDirectory: bench.directory.path("b")) == ["outbox.sqlite"])
        for name in [".lock", ".vehicle"] {
            #expect(try FileSystem.entry(at: bench.directory.path("outbox.sqlite" + name)) != nil)
        }
    }

    /// The service must be able to open every file that root creates in its directory.
    @Test(.enabled(if: geteuid() == 0, "only root can act as another user"), arguments: ["list", "requeue --all"])
    func isUsedByRootWithTheRightsOfItsOwner(action: String) async throws {
        let bench = try ServiceBench()
        let config = try bench.configure { $0.outbox = "o/outbox.sqlite" }
        let replay = try await BuiltProgram.run(
            ["replay", log, "--config", config, "--outbox", bench.directory.path("o/outbox.sqlite")])
        #expect(replay.ending == .exited(0))
        for name in [".lock", ".reserve", ".count", ".vehicle"] {
            try FileSystem.removeFile(at: bench.directory.path("o/outbox.sqlite" + name))
        }
        for name in ["o/outbox.sqlite", "o"] { unsafe chown(bench.directory.path(name), 12345, 12345) }
        let outcome = try await BuiltProgram.run(
            ["outbox"] + action.split(separator: " ").map(String.init) + ["--config", config])
        // The quarantine is empty, so nothing can be requeued.
        #expect(outcome.ending == .exited(action == "list" ? 0 : 1), "\(text(outcome.standardError))")
        for name in try FileSystem.names(inDirectory: bench.directory.path("o")) {
            #expect(try FileStatus(at: bench.directory.path("o/" + name))?.owner == 12345, "\(name)")
        }
    }

    /// Another user checks the configuration of the user that will run the service.
    @Test(.enabled(if: geteuid() == 0, "only root can make a directory of another user"))
    func isCheckedForTheOwnerOfItsDirectory() async throws {
        unsafe mkdir(directory.path("o"), 0o750)
        unsafe chown(directory.path("o"), 12345, 12345)
        let config = try ServiceSetup(outbox: "o/outbox.sqlite", status: "unix:\(directory.path("o/status"))")
            .write(in: directory)
        let outcome = try await BuiltProgram.run(["check", "--config", config])
        #expect(outcome.ending == .exited(0), "\(text(outcome.standardError))")
        let note =
            "\(directory.path("o/outbox.sqlite")) is in a directory that belongs to uid 12345; run the service as that user"
        #expect(text(outcome.standardOutput).contains(note))
    }

    @Test func keepsAFileAtTheConfiguredStatusSocket() async throws {
        let path = try directory.write("worth keeping".utf8, to: "file")
        let config = try ServiceSetup(status: "unix:\(path)").write(in: directory)
        let check = try await BuiltProgram.run(["check", "--config", config])
        #expect(check.ending == .exited(78))
        let words = "\(path) is a file, not a socket, and is left unchanged; choose "
        #expect(text(check.standardError + check.standardOutput).contains(words))
        let service = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", config], environment: BuiltProgram.environment)
        #expect(await service.errors.line(saying: words) != nil, "the service runs without a status address")
        #expect(await service.terminate().ending == .exited(0))
        #expect(try content(of: "file") == "worth keeping")
    }

    @Test(arguments: ["check", "run"]) func mustNotBeTheStatusSocket(command: String) async throws {
        let config = try ServiceSetup(status: "unix:\(directory.path("outbox.sqlite"))").write(in: directory)
        let outcome = try await BuiltProgram.run([command, "--config", config])
        #expect(outcome.ending == .exited(78))
        let socket = directory.path("outbox.sqlite")
        #expect(
            text(outcome.standardError).contains(
                "\"status.listen\" is unix:\(socket), which is one of the outbox's files; use "))
        #expect(try FileSystem.names(inDirectory: directory.url.path) == ["config.json"])
    }

    @Test func mustNotBeTheConfiguration() async throws {
        let config = try ServiceSetup(outbox: "config.json").write(in: directory)
        let before = try content(of: "config.json")
        let outcome = try await BuiltProgram.run(["replay", log, "--config", config])
        #expect(outcome.ending == .exited(78))
        let errorText = text(outcome.standardError)
        #expect(
            errorText.contains(
                "\"outbox.path\" is \(config), and the outbox's files would replace this "
                    + "configuration; use "))
        #expect(try content(of: "config.json") == before)
    }
}
