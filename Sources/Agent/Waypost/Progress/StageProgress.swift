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
