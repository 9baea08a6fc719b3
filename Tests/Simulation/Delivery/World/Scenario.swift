/// Everything that a run depends on: the same scenario gives the same events, in the same order, at the same times.
struct Scenario: Sendable, Hashable {
    var seed: UInt64
    /// Of the vehicle's life, faults included; afterwards all faults end and everything has to drain.
    var hours: Double
    var without: Set<FaultKind> = []
    var bug: PlantedBug?

    /// The arguments that replay it.
    var arguments: String {
        var words = "--seed \(seed) --hours \(hours)"
        if !without.isEmpty { words += " --without " + without.map(\.name).sorted().joined(separator: ",") }
        if let bug { words += " --planted \(bug.rawValue)" }
        return words
    }
}
