import FleetEngine
import FleetEngineSimulator
import FoundationEssentials
import GNSS
import GNSSReceiver
import HTTPMessages
import LinuxPlatform
import ReceiverSimulator
import Reporting
import StrictJSON
import Testing
import TimeAndRandomness
import Operations
import WaypostTestSupport

@testable import Replay
@testable import WaypostCommand

/// The whole pipeline with real components: receiver log, SQLite, libcurl, and the simulator on loopback.
@Suite struct Replays {
    struct Case: CustomTestStringConvertible {
        let name: String
        let service: FleetService
        let faults: [(String, String)]
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "trips, nothing wrong", service: .onDemandTrips, faults: []),
        Case(name: "tasks, nothing wrong", service: .scheduledTasks, faults: []),
        Case(
            name: "trips, every fault", service: .onDemandTrips,
            faults: [("--errors", "503:0.3,401:0.05"), ("--resets", "0.05"), ("--drops", "0.05")]),
        Case(
            name: "tasks, every fault", service: .scheduledTasks,
            faults: [("--errors", "503:0.2,429:0.05,500:0.05"), ("--resets", "0.05"), ("--drops", "0.05")]),
        Case(
            name: "trips, token outage", service: .onDemandTrips, faults: [("--token-outage", "3")]),
    ]

    @Test(arguments: cases) func deliverEveryAcceptedUpdate(row: Case) async throws {
        let directory = try TemporaryDirectory()
        let log = try directory.write(Drive(.town, duration: .seconds(300)).flatMap(\.sentences), to: "drive.nmea")

        var settings = SimulatorSettings()
        for (option, value) in row.faults { try settings.faults.set(option, value) }
        let simulator = try FleetEngineSimulator(settings)
        let configuration = try Configuration(
            json: Array(
                """
                {"vehicle": {"providerId": "p", "vehicleId": "van 7", "service": "\(row.service.rawValue)"},
                 "receiver": {"type": "stdin"},
                 "authorization": {"type": "http", "url": "\(simulator.tokenURL(for: row.service))"},
                 "reporting": {"intervalSeconds": 5},
                 "upload": {"endpoint": "\(simulator.baseURL.origin)", "maximumPastLocations": 3,
                            "retry": {"initialDelaySeconds": 0.05, "maximumDelaySeconds": 0.05}},
                 "outbox": {"path": "\(directory.path("outbox.sqlite"))"},
                 "log": {"level": "error"}}
                """.utf8), file: "test")

        let summary = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await simulator.run() }
            let replay = try await ReplayRun(configuration, ReplayOptions(logs: [log], speed: .maximum)) { _ in }
            #expect(await replay.run(showingProgress: false) == nil)
            let (summary, _) = try await replay.summary()
            await replay.close()
            group.cancelAll()
            return summary
        }
        #expect(summary.isComplete, "\(summary.text)")
        #expect(summary.counts.fixes == 300)
        #expect(summary.ledger.accepted > 30)
        #expect(row.faults.isEmpty == (summary.counts.retries == 0) || row.name.contains("token"))

        let name = ResourceName(provider: "p", service: row.service, id: "van 7")
        let record = try #require(await simulator.record.vehicles[name])
        #expect(Int64(record.fixTimes.count) == summary.ledger.accepted)
        #expect(record.order.lastLocationsBackInTime == 0)
        #expect(record.order.pastLocationsOutOfOrder == 0)
    }

    /// The times of fixes follow from the plan, not from the moments at which a busy machine reads them.
    @Test(arguments: ["max", "400"]) func sendTheSameIntervalsEachTimeOnABusyMachine(speed: String) async throws {
        let log = Fixtures.url("nmea/town.nmea").path
        let load = try (1...3).map { _ in try RunningProgram(["/bin/sh", "-c", "while :; do :; done"]) }
        defer { for program in load { program.kill() } }
        var drives: [[Duration]] = []
        for _ in 1...3 {
            let bench = try ServiceBench()
            let outcome = try await BuiltProgram.run(
                ["replay", log, "--config", try bench.configure { $0.level = "error" }, "--speed", speed])
            #expect(outcome.ending == .exited(0), "\(String(decoding: outcome.standardError, as: UTF8.self))")
            let times = try #require(await bench.vehicle).fixTimes.sorted()
            drives.append(zip(times, times.dropFirst()).map { $0.time.duration(to: $1.time) })
        }
        #expect(drives[0].count > 50)
        #expect(drives[1] == drives[0] && drives[2] == drives[0])
        #expect(drives[0].allSatisfy { $0.components.attoseconds == 0 }, "the log has whole seconds: \(drives[0])")
    }

    @Test(arguments: [
        (Ledger(accepted: 3, delivered: 3), true, "All 3 accepted updates were delivered."),
        (Ledger(accepted: 3, delivered: 2, pending: 1), false, "1 of 3 accepted updates was not delivered"),
        (Ledger(accepted: 3, delivered: 2), false, "DOES NOT BALANCE"),
        (Ledger(), false, "No update was accepted, although fixes were read"),
    ])
    func reportTheirResults(ledger: Ledger, isComplete: Bool, message: String) throws {
        var counts = DeliveryCounts()
        counts.fixes = 600
        counts.requests = 20
        (counts.traffic.bytesSent, counts.traffic.bytesReceived) = (30_000, 2000)
        let summary = ReplaySummary(
            counts: counts, ledger: ledger, duration: .milliseconds(1500), driven: .seconds(360), bytesWritten: 180_500)
        #expect(summary.isComplete == isComplete)
        #expect(summary.text.contains(message))
        let json = try JSONValue(parsing: Array(summary.json.utf8))
        for key in [
            "fixes", "accepted", "delivered", "pending", "evicted", "quarantined", "tokenFetches", "requests",
            "retries", "bytesSent", "bytesReceived", "seconds", "drivenSeconds",
        ] {
            #expect(json[key] != nil, "no \(key)")
        }
        #expect(json["seconds"]?.doubleValue == 1.5)
        #expect(json["requestsPerHour"]?.doubleValue == 200 && json["bytesPerHour"]?.doubleValue == 320_000)
        #expect(json["bytesWrittenPerHour"]?.doubleValue == 1_805_000)
        #expect(summary.text.contains("per hour of driving: 200 requests, 320 kB; 1805 kB written to the disk\n"))
        #expect(
            json["liveErrorMetersP50"] == nil && !summary.text.contains("follower"), "many vehicles have no follower")
    }

    @Test(
        arguments: [
            (
                0, 600, [:], Ledger(), false,
                "not reported: 600 fixes withheld (private mode)",
                "No update was accepted: private mode is on "
            ),
            (
                1, 0, ["not_advancing": 590, "jump": 9], Ledger(accepted: 1, delivered: 1), true,
                "not reported: 599 fixes rejected (not_advancing 590, jump 9)\n", "The accepted update was delivered."
            ),
            (
                0, 0, ["jump": 600], Ledger(), false, "not reported: 600 fixes rejected (jump 600)\n",
                "No update was accepted, although fixes were read"
            ),
        ] as [(Int, Int, [String: Int], Ledger, Bool, String, String)])
    func accountForEachFix(
        fixes: Int, withheld: Int, rejected: [String: Int], ledger: Ledger, isComplete: Bool, explanation: String,
        verdict: String
    ) throws {
        var counts = DeliveryCounts()
        (counts.fixes, counts.withheld, counts.rejectedFixes) = (fixes, withheld, rejected)
        let summary = ReplaySummary(counts: counts, ledger: ledger, duration: .seconds(1))
        #expect(summary.isComplete == isComplete && summary.counts.fixes == 600)
        #expect(summary.text.hasPrefix("600 fixes read in 1.0 s"), "\(summary.text)")
        #expect(summary.text.contains(explanation) && summary.text.contains(verdict), "\(summary.text)")
        let json = try JSONValue(parsing: Array(summary.json.utf8))
        #expect(json["withheldFixes"]?.doubleValue == Double(withheld))
        #expect(json["rejectedFixes"]?["jump"]?.doubleValue == rejected["jump"].map(Double.init))
    }

    @Test func reportThatTheTimeOfTheLogGoesBack() async throws {
        let lines = try String(contentsOfFile: Fixtures.url("nmea/town.nmea").path, encoding: .utf8)
        let bench = try ServiceBench()
        let reversed = lines.split(separator: "\r\n").reversed().map { "\($0)\r\n" }.joined()
        let log = try bench.directory.write(reversed.utf8, to: "reversed.nmea")
        let outcome = try await BuiltProgram.run(
            ["replay", log, "--config", try bench.configure { $0.level = "error" }])
        let summary = String(decoding: outcome.standardOutput, as: UTF8.self)
        #expect(summary.contains("reversed.nmea: timestamps jump backwards 599 times;"), "\(summary)")
        withExtendedLifetime(bench) {}
    }

    @Test func reportTheErrorThatAFollowerSees() throws {
        var errors = FollowerErrors()
        for second in 0...60 {
            var fix = Fix.sample(Double(second), north: second < 30 ? 0 : Double(second - 30) * 2, speed: 0)
            fix.headingDegrees = 0
            errors.addFix(fix)
            if second % 30 == 0 { errors.addUpdate(LocationUpdate(fix)) }
        }
        let summary = ReplaySummary(
            counts: DeliveryCounts(), ledger: Ledger(accepted: 3, delivered: 3), duration: .seconds(1),
            driven: .seconds(60), errors: errors, bytesWritten: 0)
        let json = try JSONValue(parsing: Array(summary.json.utf8))
        #expect(
            json["bytesWrittenPerHour"] == nil && json["requestsPerHour"] != nil, "no bytes for a directory in memory")
        #expect(json["liveErrorMetersP50"]?.doubleValue == 0 && json["greatestLiveErrorMeters"]?.doubleValue == 58)
        #expect((51.9...52.6).contains(json["liveErrorMetersP95"]?.doubleValue ?? 0))
        #expect(json["greatestTrackErrorMeters"]?.doubleValue == 0)
        #expect(
            summary.text.contains(
                "a follower is within 0.0 m of the vehicle 50 % of the time, within 52 m 95 % of the time, and at worst 58 m off; "
                    + "the reported track is within 0.0 m of 95 % of the fixes, and at worst 0.0 m off"))
    }
}
