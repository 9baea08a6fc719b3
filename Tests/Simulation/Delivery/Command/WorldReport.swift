import Reporting

struct WorldReport: Sendable {
    let scenario: Scenario
    let violation: Violation?
    /// The hash of all events in order and of the number of jobs.
    let hash: UInt64
    /// The simulated hours, up to the end of faults.
    let hours: Double
    let markCounts: [Int]
    let faultCounts: [Int]
    let ledger: Ledger
    let faultKinds: [FaultKind]

    /// Runs the scenario on this thread.
    init(of scenario: Scenario, output: ((String) -> Void)? = nil) throws {
        let world = World(scenario, output: output)
        let day = try VehicleDay(world)
        world.run { await day.run() }
        day.remove()
        self.scenario = scenario
        violation = world.violation
        hash = world.traceHash ^ UInt64(world.queue.jobCount) &* 0x9E37_79B9_7F4A_7C15
        hours = min(scenario.hours, world.now.inSeconds / 3600)
        ledger = world.account.ledger
        (markCounts, faultCounts, faultKinds) = (world.markCounts, world.faultCounts, world.faultKinds)
    }
}
