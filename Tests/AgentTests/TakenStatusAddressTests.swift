import FoundationEssentials
import LinuxPlatform
import Reporting
import StrictJSON
import Testing
import WaypostTestSupport

@testable import Operations
@testable import Waypost

/// A service whose status address is held by another process when it starts.
@Suite(.timeLimit(.minutes(2))) struct TakenStatusAddress {
    /// Positions are sent meanwhile, and the service listens on the address once it is free.
    @Test func doesNotPreventTheServiceFromStarting() async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let holder = try LoopbackSocket(.stream)
        let port = holder.port
        let service = try bench.start { $0.status = "127.0.0.1:\(port)" }
        let own = ProcessInfo.processInfo.processIdentifier
        let line = try #require(await service.errors.line(saying: "status address unavailable: ")).text
        #expect(line.contains(" warning: status address"), "\(line)")
        #expect(line.contains("cannot listen on 127.0.0.1:\(port): "), "\(line)")
        #expect(line.contains("(process \(own)) holds it; stop it (kill \(own)), or choose another port"), "\(line)")
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        let epoch = try #require(RecentDrive(epochs: 1).first { _ in true })
        try receiver.send(epoch)
        try #require(await bench.arrival(of: epoch) != nil)
        _ = consume holder
        try #require(await service.errors.line(saying: "no longer: status address unavailable") != nil)
        let answer = await RawExchange.get("/healthz", from: .loopback(host: "127.0.0.1", port: UInt16(port)))
        #expect(answer.status == "HTTP/1.1 200 OK")
        #expect(service.errors.text.split(separator: "warning: status address unavailable").count == 2)
        #expect(await service.terminate().ending == .exited(0))
    }

    @Test func isTriedAgainEveryHalfMinute() async throws {
        let holder = try LoopbackSocket(.stream)
        let manualClock = ManualClock()
        let clock = MonotonicClock(manualClock)
        let status = Waypost.StatusAddress(.loopback(host: "127.0.0.1", port: UInt16(holder.port)))
        let serving = Task { await status.run(clock: clock, monitor: AgentMonitor(clock: clock)) }
        var pauses: [Duration] = []
        for await pause in manualClock.sleeps.prefix(8) {
            pauses.append(pause)
            manualClock.advance(by: pause)
        }
        serving.cancel()
        await serving.value
        _ = consume holder
        #expect(pauses == [1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
    }

    @Test(arguments: ["127.0.0.1:0", "unix:"]) func namesItsHolder(kind: String) async throws {
        let (first, second) = (try TemporaryDirectory(), try TemporaryDirectory())
        let config = try ServiceSetup(status: kind == "unix:" ? kind + first.path("status") : kind).write(in: first)
        let service = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", config], environment: BuiltProgram.environment)
        let address = try await service.statusAddress().description
        let other = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", try ServiceSetup(status: address).write(in: second)],
            environment: BuiltProgram.environment)
        let line = try #require(await other.errors.line(saying: "status address unavailable: ")).text
        #expect(
            line.contains(
                "cannot listen on \(address): waypost run --config \(config) (process \(service.processID)) holds it; stop "
                    + "it (kill \(service.processID)), or choose another "), "\(line)")
        #expect(await other.terminate().ending == .exited(0))
        #expect(await service.terminate().ending == .exited(0))
    }

    /// Only one service may use the outbox, whichever process holds the address.
    @Test func letsNoSecondServiceUseTheOutbox() async throws {
        let directory = try TemporaryDirectory()
        let config = try ServiceSetup(status: "unix:" + directory.path("status")).write(in: directory)
        let service = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", config], environment: BuiltProgram.environment)
        _ = try await service.statusAddress()
        let outcome = try await BuiltProgram.run(["run", "--config", config])
        #expect(outcome.ending == .exited(69))
        let words = String(decoding: outcome.standardError, as: UTF8.self)
        #expect(words.contains("waypost: \(directory.path("outbox.sqlite")): in use by waypost run"), "\(words)")

        // In a JSON log, the last line is JSON, too.
        let asJSON = try ServiceSetup(logFormat: "json").write(in: directory)
        let logged = try await BuiltProgram.run(["run", "--config", asJSON])
        let line = try JSONValue(parsing: logged.standardError)
        #expect(logged.ending == .exited(69) && line["code"]?.stringValue == "outbox_in_use", "\(line)")
        #expect(await service.terminate().ending == .exited(0))
    }
}
