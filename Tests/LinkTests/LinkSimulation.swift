import FleetEngineDelivery
import HTTPMessages
import LinuxPlatform
import Reporting
import TimeAndRandomness
import WaypostTestSupport

/// The real reporter in simulated time: one thread, every wait skipped, the same run for the same seed.
final class LinkSimulation {
    let clock = ManualClock()
    let outbox = ScriptedOutbox()
    let link: SimulatedLink
    let reporter: Reporter
    private let executor = StepExecutor()
    private let start: ManualClock.Instant
    private var running: Task<Void, Never>?

    init(
        maximumPastLocations: Int = 50, backlogUpdatesPerSecond: Double? = nil, seed: UInt64 = 1,
        limits: HTTPLimits = HTTPLimits()
    ) throws {
        start = clock.now
        link = SimulatedLink(clock: clock)
        let chance = Locked(SplitMix64(seed: seed))
        let settings = UploadSettings(
            timeLimit: limits.total, maximumPastLocations: maximumPastLocations,
            backlogUpdatesPerSecond: backlogUpdatesPerSecond)
        reporter = Reporter(
            ReportingSettings(upload: settings), outbox: outbox,
            delivery: try FleetEngineDelivery.sample(limits: limits, over: link), clock: MonotonicClock(clock),
            jitter: { chance.withLock { $0.unit() } }, observer: RecordingObserver())
    }

    var now: Duration { start.duration(to: clock.now) }

    /// The whole seconds of `now`; a division would round.
    var wholeSeconds: Int { Int(now.components.seconds) }

    func begin() {
        running = Task(executorPreference: executor) { [reporter] in await reporter.deliver() }
        executor.runUntilAllWait()
    }

    func end() {
        running?.cancel()
        executor.runUntilAllWait()
    }

    /// Runs `body` concurrently with the reporter until everything waits.
    func perform(_ body: @escaping @Sendable () async throws -> Void) {
        Task(executorPreference: executor) { try await body() }
        executor.runUntilAllWait()
    }

    /// Accepts a position of the current second.
    func appendCurrentPosition() { appendPosition(ofSecond: wholeSeconds) }

    /// Accepts a position of the given second.
    func appendPosition(ofSecond second: Int) {
        let update = LocationUpdate(.sample(Double(second), speed: 10))
        perform { [outbox, reporter] in
            try await outbox.append(update)
            await reporter.receive(.updateStored(nil))
        }
    }

    /// Advances the time to `moment`, and wakes every task that is due by then.
    func advance(to moment: Duration) {
        while let wake = clock.timeToNextWake, now + wake <= moment {
            clock.advance(by: wake)
            executor.runUntilAllWait()
        }
        if now < moment { clock.advance(by: moment - now) }
    }

    func ledger() -> Ledger {
        let found = Locked(Ledger())
        perform { [outbox] in
            let ledger = try await outbox.ledger()
            found.withLock { $0 = ledger }
        }
        return found.withLock { $0 }
    }
}
