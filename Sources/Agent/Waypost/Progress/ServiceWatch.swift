import Glibc
import GNSS
import GNSSReceiver
package import LinuxPlatform
import LocationReporting
import RunRecording

/// The watch of the running service: what `ProgressLoop` decides is told, carried out and, at the end, written down.
struct ServiceWatch: Sendable {
    let progress: StageProgress
    let stages: WatchedStages
    let monitor: AgentMonitor
    let log: LogWriter
    let recorder: RunRecorder?
    let clock: MonotonicClock
    /// Where the reason goes when the process ends itself.
    let recordPath: String
    let feedInterval: Duration
    /// Feeds the service manager's watchdog.
    let feed: @Sendable () -> Void

    /// A disk that does not answer must not keep the process from its end.
    private static let longestWriting = Duration.seconds(5)
    private static let longestRepair = Duration.seconds(10)

    /// Until cancelled.
    func run() async {
        let stop: EventDescriptor
        do throws(SystemError) { stop = try EventDescriptor() } catch {
            return log.write(.error, "progress is not watched: \(error)")
        }
        let (repairs, repair) = AsyncStream.makeStream(of: Stall.self, bufferingPolicy: .bufferingNewest(16))
        await withTaskGroup { group in
            group.addTask {
                await withTaskCancellationHandler {
                    await onThread(named: "progress") { loop(repair).run(unless: stop) }
                } onCancel: {
                    stop.signal()
                }
            }
            group.addTask {
                for await stall in repairs {
                    // A repair may hang as well: it neither keeps the others nor the stop.
                    _ = await AbandonableCall<Void>(clock: clock).run(within: Self.longestRepair) {
                        await stages.repair(stall)
                    }
                }
            }
        }
    }

    private func loop(_ repair: AsyncStream<Stall>.Continuation) -> ProgressLoop {
        ProgressLoop(progress: progress, feedInterval: feedInterval, feed: feed) { stall in
            monitor.countRepair(of: stall.stage)
            recorder?.note(.repair(stage: stall.stage.rawValue, number: RecordedNumber(stall.repairs + 1)))
            log.write(.error, "\(stall); \(stall.stage.repairs[stall.repairs])")
            repair.yield(stall)
        } end: { stall in
            end(stall)
        }
    }

    /// Ends the process with status 1; nothing that was accepted is lost by that.
    private func end(_ stall: Stall) -> Never {
        log.write(.error, "\(stall); nothing helps, the service ends itself to be started anew")
        let record = StallRecord(stall, time: .system, uptime: monitor.uptime)
        if let written = try? EventDescriptor() {
            startThread(named: "last-stall") {
                do { try record.write(to: recordPath) } catch {
                    log.write(.error, "the reason cannot be written: \(error)")
                }
                written.signal()
            }
            _ = try? poll(nil, within: Self.longestWriting, unless: written)
        }
        StandardError.flush(within: .seconds(1))
        ChildTable.endAll()
        _exit(1)
    }
}

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

/// Tells that the receiver's thread goes round.
struct ProgressTap: ReceiverTap {
    let progress: StageProgress

    var keepsOutput: Bool { false }
    func turned() { progress.moved(.receiver) }
    func lineOpened() {}
    func received(_ bytes: Span<UInt8>) {}
    func fixMade() {}
    func lineClosed() {}
}
