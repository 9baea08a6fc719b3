import FleetEngineDelivery
import HTTPMessages
import LinuxPlatform
import Reporting
import TimeAndChance
import WaypostTestSupport

/// The real uploader on simulated time: one thread, every wait stepped over, the same run for the same seed.
final class LinkSimulation {
    let clock = ManualClock()
    let outbox = ScriptedOutbox()
    let link: SimulatedLink
    let uploader: Uploader
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
        uploader = Uploader(
            settings: settings, outbox: outbox,
            delivery: try FleetEngineDelivery.sample(limits: limits, over: link), clock: MonotonicClock(clock),
            jitter: { chance.withLock { $0.unit() } }, observer: RecordingObserver())
    }

    var now: Duration { start.duration(to: clock.now) }

    /// Of `now`; a division would be rounded.
    var wholeSeconds: Int { Int(now.components.seconds) }

    /// Starts the uploader.
    func begin() {
        running = Task(executorPreference: executor) { [uploader] in await uploader.run() }
        executor.runUntilAllWait()
    }

    /// Ends the uploader.
    func end() {
        running?.cancel()
        executor.runUntilAllWait()
    }

    /// Runs `body` beside the uploader until everything waits.
    func perform(_ body: @escaping @Sendable () async throws -> Void) {
        Task(executorPreference: executor) { try await body() }
        executor.runUntilAllWait()
    }

    /// Accepts a position of this moment, in whole seconds.
    func accept() { append(second: wholeSeconds) }

    /// Accepts a position of that second.
    func append(second: Int) {
        let update = LocationUpdate(.sample(Double(second), speed: 10))
        perform { [outbox, uploader] in
            try await outbox.append(update)
            await uploader.wake()
        }
    }

    /// Lets time pass until `moment`, waking whoever is due on the way.
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
