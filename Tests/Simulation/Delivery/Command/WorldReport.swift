import Reporting

/// What came of one world.
struct WorldReport: Sendable {
    let scenario: Scenario
    let violation: Violation?
    /// Of all events in their order, and of how many jobs it took.
    let hash: UInt64
    /// Hours lived, those after the last fault not counted.
    let hours: Double
    let marks: [Int]
    let faults: [Int]
    /// The outbox's account at the end.
    let ledger: Ledger
    /// The kinds of fault that this world had.
    let kinds: [FaultKind]

    /// Lives the scenario through, on this thread.
    init(of scenario: Scenario, tell: ((String) -> Void)? = nil) throws {
        let world = World(scenario, tell: tell)
        let day = try VehicleDay(world)
        world.run { await day.run() }
        day.remove()
        self.scenario = scenario
        violation = world.violation
        hash = world.traceHash ^ UInt64(world.queue.count) &* 0x9E37_79B9_7F4A_7C15
        hours = min(scenario.hours, world.now.inSeconds / 3600)
        ledger = world.account.ledger
        (marks, faults, kinds) = (world.markCounts, world.faultCounts, world.faultKinds)
    }
}
