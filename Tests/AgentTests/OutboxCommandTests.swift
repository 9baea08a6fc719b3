import FoundationEssentials
import LinuxPlatform
import ReportedText
import Reporting
import SQLiteOutbox
import StrictJSON
import Testing
import TimeAndRandomness
import WaypostTestSupport

/// `waypost outbox`, run by an operator with and without a running service.
@Suite(
    .serialized, .timeLimit(.minutes(2)),
    .enabled(if: !Sanitizer.isActive, "starts the program dozens of times, which takes seconds under a sanitizer")
)
struct OutboxCommands {
    /// Creates a store with one delivered update and three in quarantine, numbers 2 to 4. Returns the updates.
    private func fillOutbox(of bench: ServiceBench) async throws -> [LocationUpdate] {
        let outbox = try await SQLiteOutbox.open(
            OutboxConfiguration(path: bench.directory.path("outbox.sqlite"), maximumBytes: 1 << 20))
        let start = UTCTime.system.advanced(by: .seconds(-600))
        let updates = (0..<4).map { index in
            LocationUpdate(
                timeOfFix: start.advanced(by: .seconds(10 * index)), latitude: Double(50_000 + index) / 1000,
                longitude: 10)
        }
        for (index, update) in updates.enumerated() {
            let stored = try await outbox.append(update)
            if index > 0 { try await outbox.quarantine(stored, reason: "400 INVALID_ARGUMENT") }
        }
        if let batch = try await outbox.nextBatch(maximumPastLocations: 5) { try await outbox.acknowledge(batch) }
        try await outbox.close()
        return updates
    }

    private func runOutbox(
        _ arguments: String, config: String
    ) async throws -> (code: Int32, out: String, errors: String) {
        let outcome = try await BuiltProgram.run(
            ["outbox"] + arguments.split(separator: " ").map(String.init) + ["--config", config])
        guard case .exited(let code) = outcome.ending else { return (-1, "", "\(outcome.ending)") }
        return (
            code, String(decoding: outcome.standardOutput, as: UTF8.self),
            String(decoding: outcome.standardError, as: UTF8.self)
        )
    }

    @Test func changeTheQuarantineWhileTheServiceRuns() async throws {
        let bench = try ServiceBench()
        let updates = try await fillOutbox(of: bench)
        let config = try bench.configure()
        let service = try bench.start()
        try #require(await service.errors.line(saying: "status at") != nil)

        let requeued = try await runOutbox("requeue --update 2", config: config)
        #expect(requeued.out == "1 update requeued: pending again\n", "\(requeued)")
        #expect(requeued.code == 0)
        #expect(
            await bench.arrivals.line(saying: "\"time\":\"\(updates[1].timeOfFix)\"") != nil,
            "the service delivers it without another update")
        let unknown = try await runOutbox("discard --update 2 --update 3", config: config)
        #expect(unknown.code == 1 && unknown.errors.contains("not in quarantine: 2; nothing was changed"))
        let discarded = try await runOutbox("discard --all --json", config: config)
        let json = try JSONValue(parsing: Array(discarded.out.utf8))
        #expect(json["action"]?.stringValue == "discard" && json["updates"]?.integerValue == 2)
        let none = try await runOutbox("requeue --all", config: config)
        #expect(none.code == 1 && none.errors.hasSuffix("nothing is quarantined\n"))

        #expect(await service.terminate().ending == .exited(0))
        let listing = try JSONValue(parsing: Array(try await runOutbox("list --json", config: config).out.utf8))
        #expect(listing["delivered"]?.integerValue == 2 && listing["quarantined"]?.integerValue == 0)
        let tally = listing["evictions"]?["discarded"]
        #expect(tally?["count"]?.integerValue == 2)
        #expect(tally?["firstTimeOfFix"]?.stringValue == updates[2].timeOfFix.description)
        #expect(tally?["lastTimeOfFix"]?.stringValue == updates[3].timeOfFix.description)
    }

    @Test func changeTheQuarantineWhileTheServiceIsStopped() async throws {
        let bench = try ServiceBench()
        let updates = try await fillOutbox(of: bench)
        let config = try bench.configure()
        #expect(
            try await runOutbox("requeue --update 2 --update 4", config: config).out.hasPrefix("2 updates requeued"))
        #expect(
            try await runOutbox("discard --update 3", config: config).out == "1 update discarded: counted as evicted\n")
        let listing = try await runOutbox("list", config: config).out.split(separator: "\n")
        #expect(listing.contains("accepted 4 = delivered 1 + pending 2 + evicted 1 + quarantined 0"))
        let time = updates[2].timeOfFix
        #expect(listing.contains("evicted, discarded: 1, with fixes from \(time) to \(time)"))
        let service = try bench.start()
        for update in [updates[1], updates[3]] {
            #expect(await bench.arrivals.line(saying: "\"time\":\"\(update.timeOfFix)\"") != nil)
        }
        #expect(await service.terminate().ending == .exited(0))
    }

    @Test func reportThatThereIsNoOutbox() async throws {
        let directory = try TemporaryDirectory()
        let result = try await runOutbox("discard --all", config: try ServiceSetup().write(in: directory))
        #expect(result.code == 69 && result.errors.contains("there is no outbox yet"))
        #expect(
            !FileManager.default.fileExists(atPath: directory.path("outbox.sqlite")), "the command creates no outbox")
    }

    @Test func sayThatTheServiceRepairsADamagedOutbox() async throws {
        let directory = try TemporaryDirectory()
        let config = try ServiceSetup().write(in: directory)
        _ = try directory.write([], to: "outbox.sqlite")
        let result = try await runOutbox("list", config: config)
        #expect(result.code == 69)
        #expect(result.errors.hasSuffix("; restart the service to repair it\n"), "\(result.errors)")
    }

    @Test func rejectInvalidArguments() async throws {
        let directory = try TemporaryDirectory()
        let config = try ServiceSetup().write(in: directory)
        for (arguments, message) in [
            ("requeue", "outbox requeue needs --update N for each update, or --all"),
            ("discard --all --update 3", "outbox discard accepts --all or --update, not both"),
            ("discard --update x", "outbox discard needs --update with the number of an update, not \"x\""),
            ("list --all", "outbox list accepts neither --all nor --update; only requeue and discard do"),
        ] {
            let result = try await runOutbox(arguments, config: config)
            #expect(result.code == 64 && result.errors.hasPrefix("waypost: \(message)"), "\(result)")
        }
    }
}
