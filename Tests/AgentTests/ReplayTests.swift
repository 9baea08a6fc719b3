import FleetEngine
import FleetEngineSimulator
import GNSSReceiver
import HTTPMessages
import LinuxPlatform
import LocationReporting
import ReceiverSimulator
import StrictJSON
import Testing
import Waypost
import WaypostTestSupport

@testable import WaypostCommand

/// The whole pipeline with real parts: receiver log, SQLite, libcurl, and the simulator on loopback.
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

    @Test(arguments: cases) func deliversEverythingAccepted(row: Case) async throws {
        let folder = try TemporaryFolder()
        let log = try folder.write(Drive(.town, duration: .seconds(300)).flatMap(\.sentences), to: "drive.nmea")

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
                 "outbox": {"path": "\(folder.path("outbox.sqlite"))"},
                 "log": {"level": "error"}}
                """.utf8), file: "test")

        let summary = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await simulator.run() }
            let replay = try await ReplayRun(configuration, ReplayOptions(logs: [log], speed: .maximum))
            #expect(await replay.run(progress: false) == nil)
            let summary = try await replay.summary()
            await replay.close()
            group.cancelAll()
            return summary
        }
        #expect(summary.isComplete, "\(summary.text)")
        #expect(summary.fixes == 300)
        #expect(summary.accepted > 30)
        #expect(row.faults.isEmpty == (summary.retries == 0) || row.name.contains("token"))

        let name = ResourceName(provider: "p", service: row.service, id: "van 7")
        let record = try #require(await simulator.record.vehicles[name])
        #expect(Int64(record.fixTimes.count) == summary.accepted)
        #expect(record.lastLocationsBackInTime == 0)
        #expect(record.pastLocationsOutOfOrder == 0)
    }

    @Test(arguments: [
        (Ledger(accepted: 3, delivered: 3), true, "All 3 accepted updates were delivered."),
        (Ledger(accepted: 3, delivered: 2, pending: 1), false, "1 of 3 accepted updates was not delivered"),
        (Ledger(accepted: 3, delivered: 2), false, "DOES NOT BALANCE"),
    ])
    func saysWhatBecameOfIt(ledger: Ledger, isComplete: Bool, words: String) throws {
        let summary = ReplaySummary(counts: DeliveryCounts(), ledger: ledger, duration: .milliseconds(1500))
        #expect(summary.isComplete == isComplete)
        #expect(summary.text.contains(words))
        let json = try JSONValue(parsing: Array(summary.json.utf8))
        for key in [
            "fixes", "accepted", "delivered", "pending", "evicted", "quarantined", "tokenFetches", "requests",
            "retries", "bytesSent", "bytesReceived", "seconds",
        ] {
            #expect(json[key] != nil, "no \(key)")
        }
        #expect(json["seconds"]?.doubleValue == 1.5)
    }
}
