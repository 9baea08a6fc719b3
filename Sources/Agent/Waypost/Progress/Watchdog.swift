import Operations
package import LinuxPlatform
import Reporting

/// Checks the stages every second, feeds the service manager's watchdog while every stage makes progress or has a
/// reason to wait, and ends the process if one has stalled.
///
/// It runs on its own thread, `progress`, so that it notices a blocked thread pool. If the whole process is stopped,
/// the service manager notices that its watchdog isn't fed.
package struct Watchdog: Sendable {
    private static let interval = Duration.seconds(1)
    /// The interval at which a task shows that tasks run, much shorter than their time limit.
    private static let taskInterval = Duration.seconds(10)

    private let progress: StageProgress
    private let feedInterval: Duration
    private let feed: @Sendable () -> Void
    private let end: @Sendable (Stall) -> Void

    /// Creates a watchdog. Its thread calls `feed` every `feedInterval`, and calls `end` once when a stage stalls.
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
                    progress.reportProgress(of: .tasks)
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
