import GNSS
import Glibc
import LinuxPlatform
import LocationReporting

/// The watch of the running service: what `ProgressLoop` decides is told, carried out and, at the end, written down.
struct ServiceWatch: Sendable {
    let progress: StageProgress
    let stages: WatchedStages
    let monitor: AgentMonitor
    let log: LogWriter
    let recorder: FlightRecorder?
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
            recorder?.note { $0.with(\.repair, "\(stall.stage.rawValue) \(stall.repairs + 1)") }
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
