import LinuxPlatform
import LocationReporting

/// The calls of one stage that are under way, each of which can be given up.
package final class StageCalls: Sendable {
    private struct UnderWay {
        var abandons: [Int: @Sendable () -> Void] = [:]
        /// Given up, and not returned yet.
        var hung: Set<Int> = []
    }

    private let stage: Stage
    private let progress: StageProgress
    private let clock: MonotonicClock
    private let waitsForHung: Bool
    private let underWay = Locked(UnderWay())

    /// `waitsForHung`: a call that was given up still holds what the stage works with, so that the stage stands still
    /// until it returns, and no other call is begun.
    init(of stage: Stage, progress: StageProgress, clock: MonotonicClock, waitsForHung: Bool = false) {
        (self.stage, self.progress, self.clock, self.waitsForHung) = (stage, progress, clock, waitsForHung)
    }

    /// Runs `body`; `nil` when it was given up, or cannot be begun.
    ///
    /// A call that its cancelled caller has left still stands still, and is seen to.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value? {
        guard !(waitsForHung && underWay.withLock { !$0.hung.isEmpty }) else { return nil }
        let number = progress.began(stage)
        let call = AbandonableCall<Value>(clock: clock)
        underWay.withLock { $0.abandons[number] = { call.abandon() } }
        let result = await call.run { [self] in
            let value = await body()
            let wasGivenUp = underWay.withLock { underWay in
                underWay.abandons[number] = nil
                return underWay.hung.remove(number) != nil
            }
            if !wasGivenUp || waitsForHung { progress.ended(stage, call: number) }
            return value
        }
        // The others wait behind the one that was left, and are left with it.
        if result == nil, waitsForHung { giveUp() }
        return result
    }

    /// Frees whoever waits for a call that is under way.
    func giveUp() {
        let abandons = underWay.withLock { underWay in
            defer { underWay.abandons = [:] }
            underWay.hung.formUnion(underWay.abandons.keys)
            return underWay.abandons
        }
        for (number, abandon) in abandons {
            if !waitsForHung { progress.gaveUp(stage, call: number) }
            abandon()
        }
    }
}
