import LinuxPlatform
package import LocationReporting

/// What the stages tell of their progress; asked by the thread that judges it.
package final class StageProgress: ReportingObserver {
    private let watch: Locked<ProgressWatch>

    package init(_ watch: ProgressWatch) { self.watch = Locked(watch) }

    package func observe(_ event: ReportingEvent) { watch.withLock { $0.take(event) } }

    /// See `ProgressWatch.began`.
    package func began(_ stage: Stage) -> Int { watch.withLock { $0.began(stage) } }

    /// See `ProgressWatch.ended`.
    package func ended(_ stage: Stage, call: Int) { watch.withLock { $0.ended(stage, call: call) } }

    /// See `ProgressWatch.gaveUp`.
    package func gaveUp(_ stage: Stage, call: Int) { watch.withLock { $0.gaveUp(stage, call: call) } }

    /// See `ProgressWatch.moved`.
    package func moved(_ stage: Stage) { watch.withLock { $0.moved(stage) } }

    /// See `ProgressWatch.rests`.
    package func rests(_ stage: Stage) { watch.withLock { $0.rests(stage) } }

    /// See `ProgressWatch.tick`.
    package func tick(after elapsed: Duration) -> [ProgressWatch.Action] {
        watch.withLock { $0.tick(after: elapsed) }
    }
}

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

/// The parts of the service that can be given up and begun anew, by their stages.
struct WatchedStages: Sendable {
    let source: WatchedSource
    let authorization: WatchedAuthorization
    let transport: WatchedTransport
    let store: StageCalls
    /// Wakes the upload loop.
    let rouse: @Sendable () async -> Void

    /// Tries the repair that is next.
    func repair(_ stall: Stall) async {
        switch stall.stage {
        case .receiver: source.repair()
        case .store: store.giveUp()
        // Both read files, of a disk that may hang.
        case .token: await onThread(named: "repair") { authorization.repair() }
        case .transport: await onThread(named: "repair") { transport.repair(attempt: stall.repairs) }
        case .upload: await rouse()
        case .intake, .tasks: break
        }
    }
}
