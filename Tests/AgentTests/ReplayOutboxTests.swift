import FleetEngineSimulator
import FoundationEssentials
import Glibc
import LinuxPlatform
import Reporting
import Testing
import WaypostTestSupport

@testable import Replay

@Suite(.timeLimit(.minutes(2))) struct ReplayOutboxes {
    private let log = Fixtures.url("nmea/tunnel.nmea").path
    private let temporary: TemporaryDirectory

    init() throws { temporary = try TemporaryDirectory() }

    private func runReplay(
        _ arguments: [String], config: String
    ) async throws -> (ChildProcess.Termination, errors: String, output: String) {
        let outcome = try await ChildProcess(
            arguments: [BuiltProgram.waypost, "replay", log, "--config", config] + arguments,
            environment: BuiltProgram.environment.merging(["TMPDIR": temporary.url.path]) { $1 },
            timeLimit: BuiltProgram.hangTimeout, outputLimit: 1 << 20
        ).run()
        return (
            outcome.ending, String(decoding: outcome.standardError, as: UTF8.self),
            String(decoding: outcome.standardOutput, as: UTF8.self)
        )
    }

    /// Returns the files that the replays left in the directory for temporary files.
    private func remainingFiles() throws -> [String] { try FileSystem.names(inDirectory: temporary.url.path) }

    @Test func areNewForEachReplay() async throws {
        let bench = try ServiceBench()
        let config = try bench.configure { $0.level = "error" }
        for round in 1...2 {
            let (ending, errors, output) = try await runReplay([], config: config)
            #expect(ending == .exited(0) && errors.isEmpty, "\(errors)")
            #expect(output.contains("ledger: accepted 43 = delivered 43 + pending 0"), "\(output)")
            #expect(try remainingFiles().isEmpty)
            #expect(await bench.vehicle?.fixTimes.count == 43 * round)
        }
        #expect(
            try FileSystem.entry(at: bench.directory.path("outbox.sqlite")) == nil, "that path belongs to the service")
    }

    @Test func areInTheDefaultDirectoryIfTheConfiguredOneIsMissing() async throws {
        let bench = try ServiceBench()
        let outcome = try await ChildProcess(
            arguments: [
                BuiltProgram.waypost, "replay", log, "--config", try bench.configure { $0.level = "error" },
            ],
            environment: BuiltProgram.environment.merging(["TMPDIR": temporary.path("none")]) { $1 },
            timeLimit: BuiltProgram.hangTimeout, outputLimit: 1 << 20
        ).run()
        #expect(outcome.ending == .exited(0))
        #expect(try remainingFiles().isEmpty)
    }

    @Test func areContinuedIfTheCommandLineNamesThem() async throws {
        let bench = try ServiceBench()
        let config = try bench.configure { $0.level = "error" }
        let outbox = bench.directory.path("drive.sqlite")
        let first = try await runReplay(["--outbox", outbox], config: config)
        #expect(first.0 == .exited(0))
        #expect(first.errors == "waypost: \(outbox) is a new outbox\n")
        let second = try await runReplay(["--outbox", outbox], config: config)
        #expect(second.0 == .exited(0))
        #expect(
            second.errors.hasPrefix(
                "waypost: \(outbox) is continued: it has accepted 43 updates, 0 pending; fixes "
                    + "before its newest update (20"), "\(second.errors)")
        #expect(second.errors.hasSuffix(") are sent as past locations\n"))
        #expect(second.output.contains("accepted 86 = delivered 86"))
    }

    @Test func areKeptAndReportedWhileTheyHoldUpdates() async throws {
        let elsewhere = try TemporaryDirectory()
        let stopped = try RunningProgram(
            [BuiltProgram.waypost, "replay", log, "--config", try ServiceSetup().write(in: elsewhere)],
            environment: BuiltProgram.environment.merging(["TMPDIR": temporary.url.path]) { $1 })
        try #require(await stopped.errors.line(saying: " error: token ") != nil)
        #expect(await stopped.terminate().ending == .exited(128 + SIGTERM))
        let directory = try #require(try remainingFiles().first)
        let outbox = temporary.path("\(directory)/outbox.sqlite")
        let kept = try #require(await stopped.errors.line(saying: " not delivered, but kept; "))
        let count = try #require(kept.text.firstMatch(of: /(\d+) updates? not/).flatMap { Int($0.1) })
        let remedy = "to deliver the pending updates, replay another log with --outbox \(outbox)"
        #expect(kept.text.hasSuffix(remedy))

        let bench = try ServiceBench()
        let (ending, _, output) = try await runReplay(
            ["--outbox", outbox], config: try bench.configure { $0.level = "error" })
        #expect(ending == .exited(0))
        #expect(output.contains("accepted \(43 + count) = delivered \(43 + count)"), "\(output)")
    }

    @Test func neverOverwriteALogOrTheConfiguration() async throws {
        let bench = try ServiceBench()
        let config = try bench.configure()
        for (path, role) in [(log, "the log"), (config, "the configuration")] {
            let (ending, errors, _) = try await runReplay(["--outbox", path], config: config)
            #expect(ending == .exited(64))
            #expect(errors.hasPrefix("waypost: --outbox \(path) is \(role); use an outbox"), "\(errors)")
        }
    }

    @Test func areRemovedIfTheLogIsUnusable() async throws {
        let bench = try ServiceBench()
        let config = try bench.configure()
        let outcome = try await ChildProcess(
            arguments: [BuiltProgram.waypost, "replay", config, "--config", config],
            environment: BuiltProgram.environment.merging(["TMPDIR": temporary.url.path]) { $1 },
            timeLimit: BuiltProgram.hangTimeout, outputLimit: 1 << 20
        ).run()
        #expect(outcome.ending == .exited(65))
        #expect(try remainingFiles().isEmpty)
    }

    /// A replay must not move a real vehicle by accident.
    @Test(arguments: [
        ([], "providers/p/vehicles/van-7"), (["--vehicles", "3"], "providers/p/vehicles/van-7-1 to van-7-3"),
    ])
    func areNotSentToAnotherMachineWithoutConsent(arguments: [String], vehicles: String) async throws {
        let config = try ServiceSetup(endpoint: "https://fleetengine.invalid").write(in: temporary)
        let (ending, errors, _) = try await runReplay(arguments, config: config)
        #expect(ending == .exited(64))
        #expect(
            errors.hasPrefix(
                "waypost: replay would show \(vehicles) at https://fleetengine.invalid as if "),
            "\(errors)")
        #expect(errors.contains("add --yes if"))
        let permitted = try RunningProgram(
            [
                BuiltProgram.waypost, "replay", log, "--config", config, "--yes", "--outbox",
                temporary.path("drive.sqlite"),
            ], environment: BuiltProgram.environment)
        #expect(await permitted.errors.line(saying: " error: token ") != nil)
        permitted.kill()
    }

    /// A replay doesn't deliver quarantined updates.
    @Test(arguments: [
        (0, 0, nil), (2, 0, " updates not delivered, but kept; to deliver the pending updates, replay "),
        (2, 3, "5 updates not delivered, but kept; to deliver the pending updates, replay "),
        (0, 1, "1 update not delivered, but kept in quarantine in "),
    ])
    func sayHowToDeliverKeptUpdates(pending: Int64, quarantined: Int64, message: String?) async throws {
        let path = temporary.path("drive.sqlite")
        let ledger = Ledger(
            accepted: pending + quarantined, delivered: 0, pending: pending, evicted: 0, quarantined: quarantined)
        let said = await ReplayOutbox(continuing: path).removeIfDelivered(ledger)
        #expect((said == nil) == (message == nil))
        if let message { #expect(said?.contains(message) == true && said?.contains(path) == true, "\(said ?? "")") }
    }
}
