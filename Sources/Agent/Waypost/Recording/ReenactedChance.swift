import LinuxPlatform

/// The draws of a recording, again in their order; 0.5 when there are no more.
final class ReenactedChance: Sendable {
    private let draws: Locked<ArraySlice<Double>>

    /// Of `entries`, the draws of `kind`.
    init(_ entries: [FlightEntry], of kind: String) {
        draws = Locked(entries.filter { $0.draw == kind }.compactMap(\.value)[...])
    }

    func draw() -> Double { draws.withLock { $0.popFirst() } ?? 0.5 }
}
