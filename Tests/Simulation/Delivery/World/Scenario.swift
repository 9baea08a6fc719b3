/// The parameters of a run. The same scenario gives the same events in the same order at the same times.
struct Scenario: Sendable, Hashable {
    var seed: UInt64
    /// The number of hours with faults, after which everything must be delivered.
    var hours: Double
    var excludedFaults: Set<FaultKind> = []
    var bug: PlantedBug?

    /// The command's arguments that replay the scenario.
    var arguments: String {
        var words = "--seed \(seed) --hours \(hours)"
        if !excludedFaults.isEmpty {
            words += " --without " + excludedFaults.map(\.name).sorted().joined(separator: ",")
        }
        if let bug { words += " --planted \(bug.rawValue)" }
        return words
    }
}
