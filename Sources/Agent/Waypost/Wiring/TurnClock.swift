import Operations
import LinuxPlatform
import Reporting

/// A clock that wakes its sleepers together, every 10 ms. A sleeper never wakes early, and at most 10 ms late.
///
/// With an ordinary clock and ten thousand vehicles, each fix would need its own timer and wake a thread.
package final class TurnClock: Clock, Sendable {
    package struct Instant: InstantProtocol {
        fileprivate var offset: Duration

        package func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }
        package func duration(to other: Self) -> Duration { other.offset - offset }
        package static func < (one: Self, other: Self) -> Bool { one.offset < other.offset }
    }

    private typealias Sleeper = CheckedContinuation<Void, Never>

    private struct State {
        /// The sleeping tasks, by number.
        var sleepers: [Int: Sleeper] = [:]
        /// The numbers of the sleepers to wake in each turn, by turn number.
        var numbers: [Int: [Int]] = [:]
        var lastNumber = 0
        /// The number of the last turn; `nil` while there are no sleepers.
        var turn: Int?
    }

    private static let length = Duration.milliseconds(10)

    private let base: MonotonicClock
    private let state = Locked(State())

    package init<Base: Clock>(_ base: Base) where Base.Duration == Duration { self.base = MonotonicClock(base) }

    package var now: Instant { Instant(offset: base.now) }
    package var minimumResolution: Duration { Self.length }

    var sleepers: Int { state.withLock { $0.sleepers.count } }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
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
            let isFirst = state.turn == nil
            let turn = state.turn ?? Int(now / Self.length)
            state.turn = turn
            state.sleepers[number] = sleeper
            state.numbers[max(turn + 1, Int((deadline / Self.length).rounded(.up))), default: []].append(number)
            return isFirst
        }
        guard let isFirst else { return sleeper.resume() }
        if isFirst { Task { await runTurns() } }
    }

    /// Wakes sleepers every 10 ms until none is left.
    private func runTurns() async {
        repeat {
            await base.sleep(until: Self.length * (Int(base.now / Self.length) + 1))
        } while runTurn(Int(base.now / Self.length))
    }

    /// Wakes the sleepers that are due by `turn`. Returns whether any sleepers are left.
    private func runTurn(_ turn: Int) -> Bool {
        let (due, hasSleepers) = state.withLock { state in
            let last = state.turn ?? turn
            let numbers = (last..<max(last, turn)).flatMap { state.numbers.removeValue(forKey: $0 + 1) ?? [] }
            let due = numbers.compactMap { state.sleepers.removeValue(forKey: $0) }
            let hasSleepers = !state.sleepers.isEmpty
            if hasSleepers {
                state.turn = max(last, turn)
            } else {
                state.turn = nil
                state.numbers = [:]
            }
            return (due, hasSleepers)
        }
        for sleeper in due { sleeper.resume() }
        return hasSleepers
    }
}
