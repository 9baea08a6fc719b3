import FleetEngineSimulator
import FoundationEssentials
import LinuxPlatform
import StrictJSON
import Testing
import WaypostTestSupport

@testable import WaypostCommand

/// Many vehicles in one process, against the simulator.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: !Sanitizer.isActive, "hundreds of vehicles in one process take minutes under a sanitizer")
)
struct TestFleets {
    private let log = Fixtures.url("nmea/tunnel.nmea").path

    private func replay(
        _ words: String, bench: ServiceBench
    ) async throws -> (ending: ChildProcess.Ending, errors: String, summary: JSONValue?) {
        let config = try bench.configure { $0.level = "error" }
        let outcome = try await BuiltProgram.run(
            ["replay", log, "--config", config, "--json"] + words.split(separator: " ").map(String.init))
        return (
            outcome.ending, String(decoding: outcome.standardError, as: UTF8.self),
            try? JSONValue(parsing: outcome.standardOutput)
        )
    }

    @Test func deliverEverythingEachWithATokenOfItsOwn() async throws {
        let count = 300
        let bench = try ServiceBench()
        let (ending, errors, summary) = try await replay(
            "--vehicles \(count) --vehicle-id van-%03d --spread-meters 500", bench: bench)
        #expect(ending == .exited(0) && errors.isEmpty, "\(errors)")
        let record = await bench.simulator.record
        #expect(record.vehicles.count == count)
        #expect(Set(record.vehicles.keys.map(\.id)).contains("van-007"))
        #expect(record.tokensIssued == count)
        #expect(record.vehicles.values.allSatisfy { $0.fixTimes.count == 43 && $0.lastLocationsBackInTime == 0 })
        #expect(record.vehicles.values.allSatisfy { $0.pastLocationsOutOfOrder == 0 })
        let places = Set(record.vehicles.values.compactMap(\.latest?.latitude))
        #expect(places.count > count * 5 / 6, "they are in one place")
        for (key, each) in [("vehicles", 1), ("accepted", 43), ("delivered", 43), ("tokenFetches", 1)] {
            #expect(summary?[key]?.integerValue == Int64(each * count), "\(key)")
        }
        for key in ["requestsPerSecond", "answerSecondsP50", "answerSecondsP99", "longestWaitSeconds"] {
            #expect(summary?[key]?.doubleValue ?? 0 > 0, "\(key)")
        }
    }

    @Test func countFailuresByAnswer() async throws {
        let bench = try ServiceBench(faults: [("--errors", "503:0.1,429:0.02")])
        let (ending, _, summary) = try await replay("--vehicles 40", bench: bench)
        #expect(ending == .exited(0))
        #expect(summary?["delivered"]?.integerValue == Int64(40 * 43))
        #expect(summary?["failures"]?["503"]?.integerValue ?? 0 > 0, "\(summary?.text ?? "")")
    }
}
