package import LinuxPlatform

/// What the thread `progress` does: it judges the stages each second, feeds the service manager's watchdog while every
/// one moves, waits for a reason or is under repair, and ends the process when nothing has helped.
///
/// It has a thread of its own so that it sees a pool that is blocked. What it cannot see, being stopped itself, the
/// service manager sees by the watchdog that is not fed.
package struct ProgressLoop: Sendable {
    private static let interval = Duration.seconds(1)
    /// Well within the patience for tasks, and no more often: libdispatch keeps the announcements of tasks that another
    /// thread starts, up to 1,024 of them (80 KiB) in each thread of the pool.
    private static let askInterval = Duration.seconds(10)

    private let progress: StageProgress
    private let feedInterval: Duration
    private let feed: @Sendable () -> Void
    private let repair: @Sendable (Stall) -> Void
    private let end: @Sendable (Stall) -> Void

    /// `feed` is called each `feedInterval`, `repair` and `end` as `ProgressWatch` decides; all on the loop's thread.
    package init(
        progress: StageProgress, feedInterval: Duration, feed: @escaping @Sendable () -> Void,
        repair: @escaping @Sendable (Stall) -> Void, end: @escaping @Sendable (Stall) -> Void
    ) {
        (self.progress, self.feedInterval, self.feed) = (progress, feedInterval, feed)
        (self.repair, self.end) = (repair, end)
    }

    /// Blocks until `stop` is signalled, or until `end` has been called.
    package func run(unless stop: EventDescriptor) {
        let poolIsAsked = Locked(false)
        var lastTick = MonotonicTime.now
        var (sinceFed, sinceAsked) = (feedInterval, Self.askInterval)
        repeat {
            let elapsed = MonotonicTime.now - lastTick
            lastTick += elapsed
            for action in progress.tick(after: elapsed) {
                switch action {
                case .repair(let stall): repair(stall)
                case .end(let stall): return end(stall)
                }
            }
            sinceFed += elapsed
            if sinceFed >= feedInterval {
                feed()
                sinceFed = .zero
            }
            sinceAsked += elapsed
            if sinceAsked >= Self.askInterval {
                askPool(poolIsAsked)
                sinceAsked = .zero
            }
        } while (try? poll(nil, within: min(Self.interval, feedInterval), unless: stop)) == .timedOut
    }

    /// One task at a time, so that a blocked pool is not heaped with them.
    private func askPool(_ isAsked: Locked<Bool>) {
        let wasAsked = isAsked.withLock { isAsked in
            defer { isAsked = true }
            return isAsked
        }
        guard !wasAsked else { return }
        let call = progress.began(.tasks)
        Task { [progress] in
            progress.ended(.tasks, call: call)
            isAsked.withLock { $0 = false }
        }
    }
}
