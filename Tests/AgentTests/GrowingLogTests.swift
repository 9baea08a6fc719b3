import FoundationEssentials
import Glibc
import LinuxPlatform
import ReceiverSimulator
import Testing
import WaypostTestSupport

/// Logs that another program is still writing, read by the built program.
@Suite(.serialized, .timeLimit(.minutes(1))) struct GrowingLogs {
    private let directory: TemporaryDirectory
    private let log: String

    init() throws {
        directory = try TemporaryDirectory()
        log = directory.path("live.nmea")
    }

    private func append(_ text: some Sequence<UInt8>, to path: String) throws {
        try OwnedDescriptor(opening: path, O_WRONLY | O_CREAT | O_APPEND).writeAll(Array(text).span)
    }

    /// Returns the sentences of the generated town drive `second` seconds after 10:30.
    private func epoch(at second: Int) throws -> String {
        let text = String(decoding: try Data(contentsOf: Fixtures.url("nmea/town.nmea")), as: UTF8.self)
        let time = "10300\(second).00"
        return text.split(separator: "$").filter { $0.contains(",\(time),") }.map { "$" + $0 }.joined()
    }

    private func startFixes(_ arguments: String...) throws -> RunningProgram {
        try RunningProgram(
            [BuiltProgram.waypost, "fixes", "--follow"] + arguments, environment: BuiltProgram.environment)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func yieldFixesAtOnceAndACompleteDocumentAtTheEnd(signal: Int32) async throws {
        try append(try epoch(at: 1).utf8, to: log)
        let program = try startFixes("--format", "gpx", log)
        #expect(await program.output.line(saying: "10:30:01.000Z") != nil)
        try append(try epoch(at: 2).utf8, to: log)
        #expect(await program.output.line(saying: "10:30:02.000Z") != nil)
        program.signal(signal)
        #expect(await program.end() == .exited(128 + signal))
        #expect(program.output.text.hasPrefix("<?xml") && program.output.text.hasSuffix("</gpx>"))
        #expect(program.errors.lines.last?.text.hasSuffix("live.nmea read; 2 fixes written") == true)
        #expect(program.errors.lines.count == 1, "\(program.errors.text)")
    }

    @Test func areReadAcrossRotationAndTruncation() async throws {
        let program = try startFixes(log)
        #expect(await program.errors.line(saying: "live.nmea does not exist yet; waiting for it") != nil)
        try append((try epoch(at: 1) + String(repeating: "# padding\r\n", count: 200)).utf8, to: log)
        #expect(await program.output.line(saying: "10:30:01.000Z") != nil)
        unsafe truncate(log, 0)
        #expect(await program.errors.line(saying: "live.nmea was truncated; reading it again from the start") != nil)
        try append(try epoch(at: 1).utf8, to: log)
        #expect(await program.output.line(saying: "10:30:01.000Z", times: 2) != nil)
        unsafe rename(log, log + ".1")
        try append(try epoch(at: 3).utf8, to: log)
        #expect(await program.errors.line(saying: "live.nmea was replaced; reading the new file") != nil)
        #expect(await program.output.line(saying: "10:30:03.000Z") != nil)
        #expect(await program.terminate().ending == .exited(128 + SIGTERM))
    }

    @Test func mayBePipesWithSeveralWriters() async throws {
        #expect(unsafe mkfifo(log, 0o600) == 0)
        let program = try startFixes(Fixtures.url("nmea/midnight.nmea").path, log)
        #expect(await program.output.line(saying: "2026-04-01T00:01:59.000Z") != nil)
        for second in 1...2 {
            let text = try epoch(at: second)
            let log = log
            // Opening the pipe for writing waits for a reader.
            await onThread(named: "writer") {
                try? OwnedDescriptor(opening: log, O_WRONLY).writeAll(Array(text.utf8).span)
            }
            #expect(await program.output.line(saying: "10:30:0\(second).000Z") != nil)
        }
        #expect(await program.terminate().ending == .exited(128 + SIGTERM))
    }

    @Test func areNoLongerExplainedAfterTheFirstSignal() async throws {
        #expect(unsafe mkfifo(log, 0o600) == 0)
        let program = try RunningProgram(
            [BuiltProgram.waypost, "fixes", "--explain", "5", log], environment: BuiltProgram.environment)
        let log = log
        // Opening the pipe for writing waits for the reader, which then waits for bytes.
        let writer = await onThread(named: "writer") { () -> CInt in
            do { return try OwnedDescriptor(opening: log, O_WRONLY).release() } catch { return -1 }
        }
        defer { close(writer) }
        #expect(await program.terminate().ending == .exited(128 + SIGTERM))
    }

    @Test func areNotReplayedFromAPipeWithoutAWriter() async throws {
        #expect(unsafe mkfifo(log, 0o600) == 0)
        let bench = try ServiceBench()
        let config = try bench.configure { $0.level = "error" }
        let outcome = try await BuiltProgram.run(["replay", log, "--config", config])
        withExtendedLifetime(bench) {}
        #expect(outcome.ending != .exited(0))
        #expect(
            String(decoding: outcome.standardError, as: UTF8.self).contains(
                "live.nmea can't be replayed, because it must be read twice"))
    }

    @Test func mustNotBeArchives() async throws {
        try directory.write([0x1F, 0x8B, 8, 0], to: "log.gz")
        let outcome = try await BuiltProgram.run(["fixes", "--follow", directory.path("log.gz")])
        #expect(outcome.ending == .exited(64))
        #expect(String(decoding: outcome.standardError, as: UTF8.self).contains("log.gz is a gzip archive"))
    }

    @Test func areReplayedAsTheyGrow() async throws {
        let bench = try ServiceBench()
        let config = try bench.configure { $0.level = "error" }
        try append(try epoch(at: 1).utf8, to: log)
        let program = try RunningProgram(
            [
                BuiltProgram.waypost, "replay", "--follow", "--keep-time", log, "--config", config, "--outbox",
                directory.path("outbox.sqlite"),
            ],
            environment: BuiltProgram.environment)
        #expect(await bench.arrivals.line(saying: "10:30:01") != nil)
        try append(try epoch(at: 7).utf8, to: log)
        #expect(await bench.arrivals.line(saying: "10:30:07") != nil)
        #expect(await program.terminate().ending == .exited(128 + SIGTERM))
        #expect(program.output.text.hasPrefix("2 fixes read"), "\(program.output.text)")
    }

    @Test func canBeTheReceiverOfTheService() async throws {
        let bench = try ServiceBench()
        var drive = RecentDrive(epochs: 4)
        let log = log
        let (first, second) = (drive.next(), drive.next())
        let (old, new) = (try #require(first), try #require(second))
        try append(old.sentences, to: log)
        let service = try bench.start { $0.receiver = #"{"type": "file", "path": "\#(log)", "follow": true}"# }
        #expect(await service.errors.line(saying: "waiting for new lines") != nil)
        try append(new.sentences, to: log)
        #expect(await bench.arrival(of: new) != nil)
        #expect(bench.arrivals.lines.count == 1, "the log's earlier content isn't reported")
        #expect(await service.terminate().ending == .exited(0))
    }
}
