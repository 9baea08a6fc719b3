import BackendAuthorization
package import GNSS
import GNSSReceiver
import HTTPMessages
import LinuxPlatform
import ReportedText
package import Operations
package import Reporting

/// A detector of stages that stall.
///
/// A stage that has work to do must report progress within its timeout. It may announce a wait, which extends the
/// deadline. Time advances only in `tick`, by at most `maximumTick` per call. Without this limit, every stage would be
/// overdue after the machine has slept or the process was stopped.
package struct ProgressWatch: Sendable {
    private struct Deadline {
        let since: Duration
        let due: Duration
    }

    private static let maximumTick = Duration.seconds(5)

    /// The timeout of each stage: the time after which a stage that hasn't made progress has stalled.
    private let timeouts: [Stage: Duration]
    private var deadlines: [Stage: Deadline] = [:]
    private var now = Duration.zero

    /// Creates a watch. Stages that have no entry in `timeouts` aren't watched.
    package init(timeouts: [Stage: Duration]) { self.timeouts = timeouts }

    /// Records that the stage has made progress. Its timeout starts again after `delay`.
    package mutating func reportProgress(of stage: Stage, nextAfter delay: Duration = .zero) {
        deadlines[stage] = timeouts[stage].map { Deadline(since: now, due: now + delay + $0) }
    }

    /// Records that the stage has nothing to do, so that no deadline applies to it.
    package mutating func markIdle(_ stage: Stage) { deadlines[stage] = nil }

    /// Records that an idle stage has something to do.
    package mutating func markBusy(_ stage: Stage) {
        if deadlines[stage] == nil { reportProgress(of: stage) }
    }

    /// Advances the time by `elapsed`. Returns the first stage found to have stalled; `nil` if none has.
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
    /// Derives from an event whether the intake, the upload loop and the exchange make progress, wait or have nothing
    /// to do.
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
        // The events from here on don't prove that the upload loop makes progress, because sending the vehicle's state
        // and maintaining the outbox also cause them. The loop reports separately that it waits or acts.
        case .failed: markIdle(.transport)
        case .outboxFailed, .announced, .internalError: break
        case .receiver, .receiverWarning, .sky, .progress, .privateModeBegan, .privateModeEnded, .tooSoon, .dropped,
            .serverTime:
            break
        }
    }
}

/// The progress of the running service. Its stages report to this object, and the thread of `Watchdog` checks it.
package final class StageProgress: ReportingObserver, ReceiverProgress {
    private let watch: Locked<ProgressWatch>

    package init(_ watch: ProgressWatch) { self.watch = Locked(watch) }

    package func reportProgress(of stage: Stage) { watch.withLock { $0.reportProgress(of: stage) } }
    package func markIdle(_ stage: Stage) { watch.withLock { $0.markIdle(stage) } }
    package func markBusy(_ stage: Stage) { watch.withLock { $0.markBusy(stage) } }
    package func tick(after elapsed: Duration) -> Stall? { watch.withLock { $0.tick(after: elapsed) } }
    package func observe(_ event: ReportingEvent) { watch.withLock { $0.record(event) } }

    package func loopIterated() { reportProgress(of: .receiver) }
    package func fixMade(_ fix: Fix) { markBusy(.intake) }
    package func threadEnded() {
        markIdle(.receiver)
        markIdle(.intake)  // the receiver's last fixes stay unread
    }
}

extension Configuration {
    /// The time without progress after which a stalled stage ends the process. It is well above the stage's own time
    /// limits.
    package var stageTimeouts: [Stage: Duration] {
        [
            .receiver: ReceiverPace.maximumOpeningTime + ReceiverPace.maximumTurnTime * 3,
            .intake: .seconds(300),
            // This timeout can be long, because positions are sent from memory while the outbox hangs.
            .store: .seconds(330),
            // While there is no token, updates are kept and the token is requested repeatedly. After an hour, every
            // token in memory has expired, so a restart loses nothing. Such restarts are at least an hour apart.
            .token: .seconds(3600),
            .transport: upload.timeout + .seconds(30),
            // The loop may wait for the outbox, then a token, then an exchange, without causing an event. This timeout
            // exceeds the sum of these waits.
            .upload: upload.timeout + tokenTimeout + .seconds(150),
            .tasks: .seconds(60),
        ]
    }
}
