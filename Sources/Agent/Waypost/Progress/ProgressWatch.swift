import BackendAuthorization
package import GNSS
import GNSSReceiver
import HTTPMessages
import LinuxPlatform
import ReportedText
package import Operations
package import Reporting

/// Decides whether every stage makes progress.
///
/// A stage that has something to do must report progress within its timeout, unless it has a reason to wait. Time
/// passes only with `tick`, by at most `maximumTick` at once, so that no stage is overdue after the machine slept or
/// the process was stopped.
package struct ProgressWatch: Sendable {
    private struct Deadline {
        let since: Duration
        let due: Duration
    }

    private static let maximumTick = Duration.seconds(5)

    /// The maximum time without progress of each stage.
    private let timeouts: [Stage: Duration]
    private var deadlines: [Stage: Deadline] = [:]
    private var now = Duration.zero

    /// Creates a watch. A stage without a timeout isn't watched.
    package init(timeouts: [Stage: Duration]) { self.timeouts = timeouts }

    /// Records that the stage has made progress. After `delay`, it must make progress again within its timeout.
    package mutating func reportProgress(of stage: Stage, nextAfter delay: Duration = .zero) {
        deadlines[stage] = timeouts[stage].map { Deadline(since: now, due: now + delay + $0) }
    }

    /// Records that the stage has nothing to do, so it needn't make progress.
    package mutating func markIdle(_ stage: Stage) { deadlines[stage] = nil }

    /// Records that an idle stage has something to do.
    package mutating func markBusy(_ stage: Stage) {
        if deadlines[stage] == nil { reportProgress(of: stage) }
    }

    /// Advances the time by `elapsed`. Returns a stage that has stalled; `nil` if none has.
    package mutating func tick(after elapsed: Duration) -> Stall? {
        now += max(.zero, min(elapsed, Self.maximumTick))
        for stage in Stage.allCases {
            if let deadline = deadlines[stage], deadline.due <= now {
                return Stall(stage: stage, duration: now - deadline.since)
            }
        }
        return nil
    }
}

extension ProgressWatch {
    /// Records an event, which may show that the intake or the upload loop acts, waits or has nothing to do.
    package mutating func record(_ event: ReportingEvent) {
        switch event {
        case .fix, .rejected, .withheld: markIdle(.intake)
        case .uploading:
            reportProgress(of: .upload)
            reportProgress(of: .transport)
        case .delivered:
            reportProgress(of: .upload)
            markIdle(.transport)
        case .notPrepared, .quarantined: reportProgress(of: .upload)
        case .waiting(let delay): reportProgress(of: .upload, nextAfter: delay)
        case .idle: markIdle(.upload)
        case .accepted, .notStored: markBusy(.upload)
        // These events don't show progress of the upload loop, because a vehicle's state and the outbox's maintenance
        // also cause them. The loop waits or acts after each of them, and reports that.
        case .failed: markIdle(.transport)
        case .outboxFailed, .announced, .internalError: break
        case .receiver, .receiverWarning, .sky, .progress, .privateModeBegan, .privateModeEnded, .tooSoon, .dropped,
            .serverTime:
            break
        }
    }
}

/// The progress of the running service, which its stages report and the thread of `Watchdog` checks.
package final class StageProgress: ReportingObserver, ReceiverProgress {
    private let watch: Locked<ProgressWatch>

    package init(_ watch: ProgressWatch) { self.watch = Locked(watch) }

    package func reportProgress(of stage: Stage) { watch.withLock { $0.reportProgress(of: stage) } }
    package func markIdle(_ stage: Stage) { watch.withLock { $0.markIdle(stage) } }
    package func markBusy(_ stage: Stage) { watch.withLock { $0.markBusy(stage) } }
    package func tick(after elapsed: Duration) -> Stall? { watch.withLock { $0.tick(after: elapsed) } }
    package func observe(_ event: ReportingEvent) { watch.withLock { $0.record(event) } }

    package func turned() { reportProgress(of: .receiver) }
    package func fixMade(_ fix: Fix) { markBusy(.intake) }
    package func ended() {
        markIdle(.receiver)
        markIdle(.intake)  // nothing consumes the receiver's last fixes
    }
}

extension Configuration {
    /// The time for which each stage may stall before the process ends: well above every limit of the stage itself.
    package var stageTimeouts: [Stage: Duration] {
        [
            .receiver: ReceiverPace.maximumOpeningTime + ReceiverPace.maximumTurnTime * 3,
            .intake: .seconds(300),
            // Not urgent, because positions are sent from memory while the outbox hangs.
            .store: .seconds(330),
            // Without a token, updates are kept and a token is requested again. After an hour, no token in memory is
            // valid, so a restart loses nothing, and it happens at most once per hour.
            .token: .seconds(3600),
            .transport: upload.timeout + .seconds(30),
            // Longer than the loop's waits for the outbox, a token and an exchange together, which cause no event.
            .upload: upload.timeout + tokenTimeout + .seconds(150),
            .tasks: .seconds(60),
        ]
    }
}
