import Operations
package import LinuxPlatform
import Reporting

/// A watchdog that checks every second that no stage has stalled, and feeds the service manager's watchdog. If a stage
/// has stalled, it ends the process.
///
/// The checks run on their own thread, named `progress`, so that they also detect a blocked thread pool. If the whole
/// process is stopped, the service manager's watchdog is no longer fed, and the service manager ends the process.
package struct Watchdog: Sendable {
    private static let interval = Duration.seconds(1)
    /// The interval at which a task reports that the thread pool still runs tasks. It is much shorter than the timeout
    /// of `Stage.tasks`.
    private static let taskInterval = Duration.seconds(10)

    private let progress: StageProgress
    private let feedInterval: Duration
    private let feed: @Sendable () -> Void
    private let end: @Sendable (Stall) -> Void

    /// Creates a watchdog. Its thread calls `feed` every `feedInterval`. If a stage stalls, it calls `end` once and
    /// stops.
    package init(
        _ progress: StageProgress, feedInterval: Duration, feed: @escaping @Sendable () -> Void,
        end: @escaping @Sendable (Stall) -> Void
    ) {
        self.progress = progress
        self.feedInterval = feedInterval
        self.feed = feed
        self.end = end
    }

    /// Runs until the task is cancelled.
    func run(clock: MonotonicClock) async throws(SystemError) {
        let stop = try EventDescriptor()
        await withTaskGroup { group in
            group.addTask {
                await withTaskCancellationHandler {
                    await onThread(named: "progress") { run(until: stop) }
                } onCancel: {
                    stop.signal()
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    progress.reportProgress(of: .tasks)
                    await clock.sleep(for: Self.taskInterval)
                }
            }
        }
    }

    /// Checks the stages until `stop` is signalled or a stage stalls. Blocks the calling thread.
    package func run(until stop: EventDescriptor) {
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
