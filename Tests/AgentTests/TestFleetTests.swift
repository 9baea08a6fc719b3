import FleetEngine
import FleetEngineSimulator
import FoundationEssentials
import LinuxPlatform
import StrictJSON
import Testing
import VehicleAuthorization
import WaypostTestSupport

@testable import Replay

/// Many vehicles in one process, against the simulator.
@Suite(.timeLimit(.minutes(2))) struct TestFleets {
    private let log = Fixtures.url("nmea/tunnel.nmea").path

    private func runReplay(
        _ arguments: String, bench: ServiceBench, _ edit: (inout ServiceSetup) -> Void = { $0.level = "error" }
    ) async throws -> (ending: ChildProcess.Termination, errors: String, summary: JSONValue?) {
        let config = try bench.configure(edit)
        let outcome = try await BuiltProgram.run(
            ["replay", log, "--config", config, "--json"] + arguments.split(separator: " ").map(String.init))
        return (
            outcome.ending, String(decoding: outcome.standardError, as: UTF8.self),
            try? JSONValue(parsing: outcome.standardOutput)
        )
    }

    @Test func deliverEverythingWithOneTokenPerVehicle() async throws {
        let count = Sanitizer.isActive ? 30 : 300  // hundreds take minutes under a sanitizer
        let bench = try ServiceBench()
        let (ending, errors, summary) = try await runReplay(
            "--vehicles \(count) --vehicle-id van-%03d --spread-meters 500", bench: bench)
        #expect(ending == .exited(0) && errors.isEmpty, "\(errors)")
        let record = await bench.simulator.record
        #expect(record.vehicles.count == count)
        #expect(Set(record.vehicles.keys.map(\.id)).contains("van-007"))
        #expect(record.tokensIssued == count)
        #expect(record.vehicles.values.allSatisfy { $0.fixTimes.count == 43 && $0.order.lastLocationsBackInTime == 0 })
        #expect(record.vehicles.values.allSatisfy { $0.order.pastLocationsOutOfOrder == 0 })
        let places = Set(record.vehicles.values.compactMap(\.latest?.latitude))
        #expect(places.count > count * 5 / 6, "the vehicles are in one place")
        for (key, each) in [("vehicles", 1), ("accepted", 43), ("delivered", 43), ("tokenFetches", 1)] {
            #expect(summary?[key]?.integerValue == Int64(each * count), "\(key)")
        }
        #expect(summary?["drivenSeconds"]?.doubleValue ?? 0 > Double(290 * count))
        for key in ["requestsPerSecond", "answerSecondsP50", "answerSecondsP99", "maximumWaitSeconds"] {
            #expect(summary?[key]?.doubleValue ?? 0 > 0, "\(key)")
        }
    }

    /// After the end of the drive, no newer position accompanies the pending updates.
    @Test(arguments: [1, 3]) func deliverEverythingIfTheDriveEndsInAPrivateZone(count: Int) async throws {
        let bench = try ServiceBench(faults: [("--delay", "0.1")])
        let (ending, errors, summary) = try await runReplay("--vehicles \(count)", bench: bench) {
            $0.level = "info"
            $0.reporting = #""privateZones": [{"latitude": 53.518, "longitude": 9.9342, "radiusMeters": 300}]"#
        }
        #expect(ending == .exited(0), "\(errors)")
        #expect(summary?["withheldFixes"]?.integerValue ?? 0 >= Int64(10 * count))
        let accepted = summary?["accepted"]?.integerValue ?? 0
        #expect(accepted > 30 * Int64(count) && summary?["delivered"]?.integerValue == accepted)
        // With one vehicle the log reports this; with many, the lines couldn't be assigned to a vehicle.
        #expect(errors.contains("private mode on") == (count == 1), "\(errors)")
        let states = await bench.simulator.record.vehicles.values.map(\.vehicleState)
        #expect(states.count == count && states.allSatisfy { $0 == "OFFLINE" }, "\(states)")
    }

    @Test func countFailuresByAnswer() async throws {
        let count = Sanitizer.isActive ? 10 : 40
        let bench = try ServiceBench(faults: [("--errors", "503:0.1,429:0.02")])
        let (ending, _, summary) = try await runReplay("--vehicles \(count)", bench: bench)
        #expect(ending == .exited(0))
        #expect(summary?["delivered"]?.integerValue == Int64(count * 43))
        #expect(summary?["failures"]?["503"]?.integerValue ?? 0 > 0, "\(summary?.text ?? "")")
    }

    @Test func askForTheTokensOfAllVehicles() async throws {
        let authorization = ScriptedAuthorization()
        await TestFleet.fetchTokens(of: try vehicleNames(count: 350), from: authorization)
        #expect(Set(authorization.asked).count == 350 && authorization.asked.count == 350)
    }

    @Test func stopAskingForTokensAfterAFailure() async throws {
        let authorization = ScriptedAuthorization { (_, asked) throws(AuthorizationError) in
            guard asked < 150 else { throw AuthorizationError(.unavailable, "closed") }
            return AuthorizationToken(value: "token", lifetime: .seconds(3600))
        }
        await TestFleet.fetchTokens(of: try vehicleNames(count: 1000), from: authorization)
        #expect((150...300).contains(authorization.asked.count), "\(authorization.asked.count)")
    }

    private func vehicleNames(count: Int) throws -> [VehicleName] {
        try (1...count).map { try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "van-\($0)") }
    }
}
