import FleetEngineSimulator
import FoundationEssentials
import Glibc
import LinuxPlatform
import Testing
import WaypostTestSupport

/// Interrupted commands, which report their progress and leave no result that looks complete.
@Suite(.timeLimit(.minutes(2))) struct InterruptedCommands {
    private static let signals = [SIGINT, SIGTERM]
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func start(_ arguments: [String]) throws -> RunningProgram {
        try RunningProgram(
            [BuiltProgram.waypost] + arguments,
            environment: BuiltProgram.environment.merging(["TMPDIR": directory.url.path]) { $1 })
    }

    /// Returns the program's last message, after checking how the program ended.
    private func lastMessage(of program: RunningProgram, after signal: Int32) async -> String {
        program.signal(signal)
        #expect(await program.end() == .exited(128 + signal))
        return program.errors.text
    }

    /// Creates a pipe that holds part of a log and stays open. A program that has opened it reads this part.
    private func makeUnfinishedLog(at path: String) throws -> OwnedDescriptor {
        try valueOrSystemError("make pipe") { unsafe mkfifo(path, 0o600) }
        let writer = try OwnedDescriptor(opening: path, O_RDWR)
        let text = try Data(contentsOf: Fixtures.url("nmea/tunnel.nmea")).prefix(20_000)
        try writer.writeAll(Array(text).span)
        return writer
    }

    /// Returns a provider that never answers, and a flow that receives a line when the provider is called.
    private func hangingProvider() throws -> (configuration: String, asked: LineFlow) {
        let path = directory.path("asked")
        let command = "echo >'\(path)'; exec sleep 45"
        return (
            #"{"type": "command", "command": ["/bin/sh", "-c", "\#(command)"], "timeoutSeconds": 60}"#,
            try LineFlow(namedPipe: path)
        )
    }

    private func waitUntilRead(from writer: borrowing OwnedDescriptor) async throws {
        while true {
            try Task.checkCancellation()
            var pipe = pollfd(fd: writer.raw, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&pipe, 1, 0) == 0 { return }
            await Task.yield()
        }
    }

    @Test(
        arguments: [
            (["map", "-o", "page.html"], "waypost: interrupted: 20.0 kB of log.nmea read; no page was written"),
            (
                ["fixes", "--summary"],
                "waypost: interrupted: 20.0 kB of log.nmea read; a summary needs the complete logs"
            ),
            (["fixes", "--format", "gpx"], "waypost: interrupted: 20.0 kB of log.nmea read; "),
            (["fixes", "--explain", "9999"], "waypost: interrupted: "),
        ], signals)
    func reportTheProgressOfReadingALog(command: ([String], message: String), signal: Int32) async throws {
        let path = directory.path("log.nmea")
        let writer = try makeUnfinishedLog(at: path)
        let page = directory.path("page.html")
        let program = try start(command.0.map { $0 == "page.html" ? page : $0 } + [path])
        try await waitUntilRead(from: writer)
        let said = await lastMessage(of: program, after: signal)
        #expect(said.hasPrefix(command.message), "\(said)")
        #expect(!program.output.text.contains("</gpx>") && !program.output.text.contains("fixes  "))
        #expect(try FileSystem.names(inDirectory: directory.url.path) == ["log.nmea"])
    }

    @Test(arguments: signals) func reportTheProgressOfAReplay(signal: Int32) async throws {
        let bench = try ServiceBench()
        let log = Fixtures.url("nmea/town.nmea").path
        let config = try bench.configure { $0.level = "error" }
        let program = try start(["replay", log, "--config", config, "--speed", "10"])
        try #require(await bench.arrivals.wait { $0.count > 1 })
        let said = await lastMessage(of: program, after: signal)
        let last = try #require(said.split(separator: "\n").last)
        #expect(last.contains(/^waypost: interrupted: \d+ % of town\.nmea played$/), "\(said)")
        #expect(program.output.text.contains("ledger: accepted "))
        #expect(!program.output.text.contains("All "), "\(program.output.text)")
        // If updates are pending, the message names their outbox; otherwise no file is left.
        let left = try FileSystem.names(inDirectory: directory.url.path).filter { $0.hasPrefix("waypost") }
        #expect(left.isEmpty || said.contains("--outbox \(directory.path(left[0]))/outbox.sqlite"))
    }

    @Test func reportPendingUpdatesAtTheEndOfAReplay() async throws {
        let bench = try ServiceBench()
        await bench.simulator.beginOutage()
        let log = Fixtures.url("nmea/town.nmea").path
        let program = try start(["replay", log, "--config", try bench.configure { $0.level = "info" }])
        try #require(await program.errors.line(saying: "log ended: ") != nil)
        let said = await lastMessage(of: program, after: SIGTERM)
        #expect(said.hasSuffix("\nwaypost: interrupted: 100 % of town.nmea played"), "\(said)")
    }

    @Test(arguments: signals) func reportTheProgressOfADemo(signal: Int32) async throws {
        let program = try start(["demo"])
        try #require(await program.errors.line(saying: "first update delivered") != nil)
        let said = await lastMessage(of: program, after: signal)
        #expect(said.contains(/\nwaypost: interrupted: \d+ % of town\.nmea played$/), "\(said)")
        #expect(program.output.text.isEmpty)
        #expect(try FileSystem.names(inDirectory: directory.url.path).isEmpty)
    }

    @Test(arguments: signals) func reportThatATokenRequestIsUnfinished(signal: Int32) async throws {
        let (provider, asked) = try hangingProvider()
        let config = try ServiceSetup(authorization: provider).write(in: directory)
        let program = try start(["token", "--config", config])
        try #require(await asked.wait { !$0.isEmpty })
        let said = await lastMessage(of: program, after: signal)
        #expect(said == "waypost: interrupted: not finished")
    }

    @Test(arguments: signals) func listWhatWasNotChecked(signal: Int32) async throws {
        let config = try ServiceSetup(authorization: try hangingProvider().configuration).write(in: directory)
        let program = try start(["check", "--online", "--config", config])
        try #require(await program.output.line(saying: "does not exist yet") != nil)
        let said = await lastMessage(of: program, after: signal)
        #expect(said.hasSuffix("waypost: interrupted: not checked: receiver, token, Fleet Engine"), "\(said)")
        #expect(!program.output.text.contains("FAIL"))
    }

    @Test(arguments: signals) func printTheResultsOfAnUnfinishedCheck(signal: Int32) async throws {
        let bench = try ServiceBench()
        let fleetEngine = try RawServer(answering: ["HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"])
        // The port is open, but silent.
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let config = try bench.configure { $0.endpoint = "http://\(fleetEngine.authority)" }
        let program = try start(["check", "--online", "--config", config])
        try #require(await fleetEngine.requests.first { true } != nil)
        // The next connection is served once the program has received its answer and closed its own.
        let address = try LocalAddress(fleetEngine.authority)
        let next = await RawExchange.send(["GET / HTTP/1.1\r\n\r\n"], to: address) { !$0.isEmpty }
        #expect(next.status.hasSuffix("404 Not Found"))
        try await program.waitUntilAtRest()
        let said = await lastMessage(of: program, after: signal)
        #expect(said.hasSuffix("waypost: interrupted: not checked: receiver"), "\(said)")
        let found = program.output.lines.map { $0.text.prefix(19) }
        #expect(found.suffix(2) == ["ok    token        ", "FAIL  Fleet Engine "], "\(found)")
        withExtendedLifetime(receiver) {}
    }

    /// The checks in the bundle wait for a token that never arrives.
    @Test(arguments: signals) func writeNoBundle(signal: Int32) async throws {
        let (provider, asked) = try hangingProvider()
        let config = try ServiceSetup(authorization: provider).write(in: directory)
        let program = try start(["bundle", "--config", config, "-o", directory.path("b.tar")])
        try #require(await asked.wait { !$0.isEmpty })
        let said = await lastMessage(of: program, after: signal)
        #expect(said.hasSuffix("waypost: interrupted: no bundle was written"), "\(said)")
        #expect(try FileSystem.names(inDirectory: directory.url.path).allSatisfy { !$0.hasPrefix("b.tar") })
    }

    @Test func listATripTokenThatWasNotChecked() async throws {
        let bench = try ServiceBench()
        let (provider, asked) = try hangingProvider()
        let config = try bench.configure { $0.consumerAuthorization = provider }
        let program = try start(["check", "--online", "--config", config])
        try #require(await asked.wait { !$0.isEmpty })
        let said = await lastMessage(of: program, after: SIGTERM)
        #expect(said.hasSuffix(", trip token"), "\(said)")
    }

    @Test(arguments: signals) func reportTheChangesThatAFollowerSaw(signal: Int32) async throws {
        let config = try ServiceSetup().write(in: directory)
        let program = try start(["watch", "--config", config, "--vehicle", "van-7"])
        try #require(await program.errors.line(saying: "retrying") != nil)
        let said = await lastMessage(of: program, after: signal)
        #expect(said.hasSuffix("waypost: interrupted: saw 0 changes to vehicle van-7"), "\(said)")
    }

    /// A signal is the normal end of a command that runs until it is stopped.
    @Test(arguments: signals) func succeedIfTheyRunUntilStopped(signal: Int32) async throws {
        let program = try start(["simulator", "--listen", "127.0.0.1:0"])
        try #require(await program.errors.line(saying: "its page is") != nil)
        program.signal(signal)
        #expect(await program.end() == .exited(0))
        #expect(!program.errors.text.contains("interrupted"))
    }
}
