import LinuxPlatform
import Reporting

/// A clock that wakes its sleepers together, every 10 ms. A sleeper never wakes early, and at most 10 ms late.
///
/// With an ordinary clock and ten thousand vehicles, each fix would need its own timer and wake a thread.
final class CoalescingClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        fileprivate var offset: Duration

        func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }
        func duration(to other: Self) -> Duration { other.offset - offset }
        static func < (one: Self, other: Self) -> Bool { one.offset < other.offset }
    }

    private typealias Sleeper = CheckedContinuation<Void, Never>

    private struct State {
        /// The sleeping tasks, by number.
        var sleepers: [Int: Sleeper] = [:]
        /// The numbers of the sleepers to wake in each tick, by tick number.
        var numbers: [Int: [Int]] = [:]
        var lastNumber = 0
        /// The number of the last tick; `nil` while there are no sleepers.
        var tick: Int?
    }

    private static let length = Duration.milliseconds(10)

    private let base: MonotonicClock
    private let state = Locked(State())

    init<Base: Clock>(_ base: Base) where Base.Duration == Duration { self.base = MonotonicClock(base) }

    var now: Instant { Instant(offset: base.now) }
    var minimumResolution: Duration { Self.length }

    var sleepers: Int { state.withLock { $0.sleepers.count } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { add($0, number: number, until: deadline.offset) }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: number) }?.resume()
        }
        try Task.checkCancellation()
    }

    private func add(_ sleeper: Sleeper, number: Int, until deadline: Duration) {
        let now = base.now
        let isFirst: Bool? = state.withLock { state in
            // If the task was cancelled before this call, the cancellation handler has already run and found no sleeper
            // to resume.
            guard deadline > now, !Task.isCancelled else { return nil }
            let isFirst = state.tick == nil
            let tick = state.tick ?? Int(now / Self.length)
            state.tick = tick
            state.sleepers[number] = sleeper
            state.numbers[max(tick + 1, Int((deadline / Self.length).rounded(.up))), default: []].append(number)
            return isFirst
        }
        guard let isFirst else { return sleeper.resume() }
        if isFirst { Task { await runTicks() } }
    }

    /// Wakes sleepers every 10 ms until none is left.
    private func runTicks() async {
        repeat {
            await base.sleep(until: Self.length * (Int(base.now / Self.length) + 1))
        } while runTick(Int(base.now / Self.length))
    }

    /// Wakes the sleepers that are due by `tick`. Returns whether any sleepers are left.
    private func runTick(_ tick: Int) -> Bool {
        let (due, hasSleepers) = state.withLock { state in
            let last = state.tick ?? tick
            let numbers = (last..<max(last, tick)).flatMap { state.numbers.removeValue(forKey: $0 + 1) ?? [] }
            let due = numbers.compactMap { state.sleepers.removeValue(forKey: $0) }
            let hasSleepers = !state.sleepers.isEmpty
            if hasSleepers {
                state.tick = max(last, tick)
            } else {
                state.tick = nil
                state.numbers = [:]
            }
            return (due, hasSleepers)
        }
        for sleeper in due { sleeper.resume() }
        return hasSleepers
    }
}
