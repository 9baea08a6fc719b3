import GNSSReceiver

/// How much of its logs' time a replay has played, and what its plan leaves.
struct ReplayProgress: Sendable, Hashable {
    /// From 0 to 1; a machine that reads more slowly than planned shows here.
    let share: Double
    /// Since the first fix.
    let elapsed: Duration
    /// Until the plan's end; zero for a replay without one, as fast as can be, and for one that is late.
    let left: Duration

    /// `reached` is the log time of the fix that comes next, or came last, `length` that of all.
    init(reached: Duration, of length: Duration, elapsed: Duration, speed: ReplaySpeed) {
        let planned = length * speed.stretch
        let read = length > .zero ? reached / length : 1
        share = min(1, read, planned > .zero ? elapsed / planned : 1)
        left = max(.zero, planned - elapsed)
        self.elapsed = elapsed
    }

    /// Of several vehicles: all their shares, and the last one's end.
    init(_ parts: [ReplayProgress]) {
        share = parts.reduce(0) { $0 + $1.share } / Double(max(1, parts.count))
        left = parts.map(\.left).max() ?? .zero
        elapsed = parts.map(\.elapsed).max() ?? .zero
    }
}
