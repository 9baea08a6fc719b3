import Operations
package import LinuxPlatform
import Reporting

/// Judges the stages each second, feeds the service manager's watchdog while each of them moves or has a reason to
/// wait, and ends the process if one has stalled.
///
/// It runs on its own thread, `progress`, so that it notices a blocked pool. If the whole process is stopped, the
/// service manager notices that its watchdog isn't fed.
package struct Watchdog: Sendable {
    private static let interval = Duration.seconds(1)
    /// Much less than the time limit for tasks.
    private static let taskInterval = Duration.seconds(10)

    private let progress: StageProgress
    private let feedInterval: Duration
    private let feed: @Sendable () -> Void
    private let end: @Sendable (Stall) -> Void

    /// `feed` is called each `feedInterval`, `end` once, with the stage that has stalled; both on the thread.
    package init(
        _ progress: StageProgress, feedInterval: Duration, feed: @escaping @Sendable () -> Void,
        end: @escaping @Sendable (Stall) -> Void
    ) {
        self.progress = progress
        self.feedInterval = feedInterval
        self.feed = feed
        self.end = end
    }

    /// Runs until cancelled.
    func run(clock: MonotonicClock) async throws(SystemError) {
        let stop = try EventDescriptor()
        await withTaskGroup { group in
            group.addTask {
                await withTaskCancellationHandler {
                    await onThread(named: "progress") { run(unless: stop) }
                } onCancel: {
                    stop.signal()
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    progress.moved(.tasks)
                    await clock.sleep(for: Self.taskInterval)
                }
            }
        }
    }

    /// Blocks until `stop` is signalled, or until `end` has been called.
    package func run(unless stop: EventDescriptor) {
        var lastTick = MonotonicTime.now
        var sinceFed = feedInterval
        repeat {
            let elapsed = MonotonicTime.now - lastTick
            lastTick += elapsed
            if let stall = progress.tick(after: elapsed) { return end(stall) }
            sinceFed += elapsed
            if sinceFed >= feedInterval {
                feed()
                sinceFed = .zero
            }
        } while (try? poll(nil, within: min(Self.interval, feedInterval), unless: stop)) == .timedOut
    }
}
