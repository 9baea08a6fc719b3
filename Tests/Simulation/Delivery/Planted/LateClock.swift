/// A clock whose sleepers wake ten hours late.
struct LateClock: Clock {
    typealias Duration = Swift.Duration
    typealias Instant = VirtualClock.Instant

    private let base: VirtualClock

    init(_ base: VirtualClock) { self.base = base }

    var now: Instant { base.now }
    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline.advanced(by: .seconds(36_000)), tolerance: tolerance)
    }
}
