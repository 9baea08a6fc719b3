import FleetEngine
import GNSS
import GNSSReceiver
import Testing
import TimeAndRandomness

@testable import Replay
@testable import WaypostCommand

/// The vehicles that `waypost replay` drives.
@Suite struct FleetPlans {
    private func plan(_ arguments: String) throws(UsageError) -> FleetPlan {
        let command = try CommandCatalog.command(named: "replay")
        return try FleetPlan(Arguments(("a " + arguments).split(separator: " ").map(String.init), for: command))
    }

    private func vehicleIDs(for arguments: String) throws -> [String] {
        try plan(arguments).names(for: VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "van 7"))
            .map(\.vehicleID)
    }

    @Test(arguments: [
        ("", ["van 7"]), ("--vehicles 1", ["van 7"]), ("--vehicles 2", ["van 7-1", "van 7-2"]),
        ("--vehicles 2 --first-vehicle 9", ["van 7-9", "van 7-10"]), ("--first-vehicle 0", ["van 7-0"]),
        ("--vehicles 2 --vehicle-id v%d", ["v1", "v2"]),
        ("--vehicles 2 --first-vehicle 9 --vehicle-id v-%02d-x", ["v-09-x", "v-10-x"]),
        ("--vehicles 2 --first-vehicle 99 --vehicle-id v%02d", ["v99", "v100"]),
        ("--vehicle-id bus", ["bus"]), ("--vehicle-id v%05d --first-vehicle 12", ["v00012"]),
    ])
    func nameVehiclesByNumber(arguments: String, expected: [String]) throws {
        #expect(try vehicleIDs(for: arguments) == expected)
    }

    @Test(arguments: [
        ("--vehicles 0", "--vehicles is 0; use 1 to 100000"),
        ("--vehicles 100001", "--vehicles is 100001; use 1 to 100000"),
        ("--vehicles 1.5", "--vehicles is 1.5; use 1 to 100000"), ("--vehicles x", "--vehicles is x; use 1 to 100000"),
        ("--first-vehicle -1", "--first-vehicle is -1; use 0 to 999999999"),
        (
            "--first-vehicle 999999999 --vehicles 2",
            "--first-vehicle is 999999999, so the last of 2 vehicles would have a number above 999999999"
        ),
        (
            "--vehicles 2 --vehicle-id van",
            "--vehicle-id van gives 2 vehicles the same id; add %d, or %05d for five digits"
        ),
        ("--vehicle-id v%s", "--vehicle-id v%s contains %s; use %d for the number, or %05d for five digits"),
        ("--vehicle-id v%", "--vehicle-id v% contains %; use %d for the number, or %05d for five digits"),
        ("--vehicle-id v%5d", "--vehicle-id v%5d contains %5d; use %d for the number, or %05d for five digits"),
        ("--vehicle-id v%00d", "--vehicle-id v%00d contains %00d; use %d for the number, or %05d for five digits"),
        ("--vehicle-id v%d%d", "--vehicle-id v%d%d contains two numbers; remove one"),
        ("--vehicle-id v%d%", "--vehicle-id v%d% contains %; use %d for the number, or %05d for five digits"),
        (
            "--spread-seconds 5",
            "--spread-seconds spreads the starts of several vehicles; add --vehicles N"
        ),
        ("--spread-seconds -1", "--spread-seconds is -1; use a number from 0 to 86400"),
        ("--spread-seconds nan", "--spread-seconds is nan; use a number from 0 to 86400"),
        ("--spread-meters 2e6", "--spread-meters is 2e6; use a number from 0 to 1000000"),
    ])
    func areRejectedWithARemedy(arguments: String, problem: String) {
        #expect(throws: UsageError(problem, command: "replay")) { try plan(arguments) }
    }

    @Test func nameThePatternOfAnInvalidID() {
        let problem =
            "--vehicle-id van/%d: the vehicle id \"van/1\" contains \"/\"; leave out / : ? , # and "
            + "control characters"
        #expect(throws: InvalidVehicleID(description: problem)) {
            try vehicleIDs(for: "--vehicles 2 --vehicle-id van/%d")
        }
    }

    @Test func rejectNamesThatFleetEngineRejects() throws {
        do {
            _ = try vehicleIDs(for: "--vehicles 2 --vehicle-id a/%d")
            Issue.record("the name was accepted")
        } catch { #expect("\(error)".contains("the vehicle id \"a/1\" contains \"/\"")) }
    }

    @Test(
        arguments: [
            ("--vehicles 4", [0, 2.5, 5, 7.5]), ("--vehicles 4 --spread-seconds 2", [0, 0.5, 1, 1.5]),
            ("--vehicles 2 --spread-seconds 0", [0, 0]), ("", [0]),
            ("--vehicles 1 --spread-seconds 2", [0]),
        ] as [(String, [Double])])
    func spreadTheStartsOfTheVehicles(arguments: String, seconds: [Double]) throws {
        let plan = try plan(arguments)
        #expect(
            (0..<plan.count).map { plan.offset(at: $0, interval: .seconds(10)).delay } == seconds.map { .seconds($0) })
    }

    /// The offset doesn't depend on the machine or on the number of vehicles.
    @Test func offsetEachTrackOnlyByTheNumberOfItsVehicle() throws {
        let all = try plan("--vehicles 100 --spread-meters 1000")
        let some = try plan("--vehicles 10 --first-vehicle 91 --spread-meters 1000 --spread-seconds 0")
        let fix = Fix(timeOfFix: UTCTime(year: 2030, month: 1, day: 1), latitude: 52, longitude: 13)
        #expect(
            all.offset(at: 90, interval: .zero).moved(fix) == some.offset(at: 0, interval: .zero).moved(fix))
        let places = (0..<100).map { all.offset(at: $0, interval: .zero).moved(fix) }
        #expect(Set(places).count == 100)
        #expect(places.allSatisfy { $0.distance(to: fix) <= 1005 })
        #expect(places.contains { $0.distance(to: fix) > 800 } && places.contains { $0.distance(to: fix) < 300 })
    }
}
