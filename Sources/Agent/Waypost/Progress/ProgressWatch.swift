import BackendAuthorization
package import GNSS
import GNSSReceiver
import HTTPMessages
import LinuxPlatform
import ReportedText
package import Operations
package import Reporting

/// Decides whether every stage makes progress. Pure.
///
/// A stage that has something to do must report progress within its patience, unless it has a reason to wait. Time
/// passes only with `tick`, by at most `longestTick` at once, so that no stage is overdue after the machine slept or
/// the process was stopped.
package struct ProgressWatch: Sendable {
    private struct Deadline {
        let since: Duration
        let due: Duration
    }

    private static let longestTick = Duration.seconds(5)

    /// The maximum time without progress of each stage.
    private let patience: [Stage: Duration]
    private var deadlines: [Stage: Deadline] = [:]
    private var now = Duration.zero

    /// Creates a watch. A stage without `patience` isn't watched.
    package init(patience: [Stage: Duration]) { self.patience = patience }

    /// Records that the stage has made progress. It must do so again within its patience after `delay`.
    package mutating func moved(_ stage: Stage, nextAfter delay: Duration = .zero) {
        deadlines[stage] = patience[stage].map { Deadline(since: now, due: now + delay + $0) }
    }

    /// Records that the stage has nothing to do, so it needn't make progress.
    package mutating func rests(_ stage: Stage) { deadlines[stage] = nil }

    /// Records that an idle stage has something to do.
    package mutating func roused(_ stage: Stage) {
        if deadlines[stage] == nil { moved(stage) }
    }

    /// Advances the time by `elapsed`. Returns a stage that has stalled; `nil` if none has.
    package mutating func tick(after elapsed: Duration) -> Stall? {
        now += max(.zero, min(elapsed, Self.longestTick))
        for stage in Stage.allCases {
            if let deadline = deadlines[stage], deadline.due <= now {
                return Stall(stage: stage, duration: now - deadline.since)
            }
        }
        return nil
    }
}

extension ProgressWatch {
    /// Records an event that shows that the intake or the upload loop acts, waits or has nothing to do.
    package mutating func take(_ event: ReportingEvent) {
        switch event {
        case .fix, .rejected, .withheld: rests(.intake)
        case .uploading:
            moved(.upload)
            moved(.transport)
        case .delivered:
            moved(.upload)
            rests(.transport)
        case .notPrepared, .quarantined: moved(.upload)
        case .waiting(let delay): moved(.upload, nextAfter: delay)
        case .idle: rests(.upload)
        case .accepted, .notStored: roused(.upload)
        // These events don't show progress of the upload loop, because a vehicle's state and the outbox's maintenance
        // also cause them. The loop waits or acts after each of them, and reports that.
        case .failed: rests(.transport)
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

    package func moved(_ stage: Stage) { watch.withLock { $0.moved(stage) } }
    package func rests(_ stage: Stage) { watch.withLock { $0.rests(stage) } }
    package func roused(_ stage: Stage) { watch.withLock { $0.roused(stage) } }
    package func tick(after elapsed: Duration) -> Stall? { watch.withLock { $0.tick(after: elapsed) } }
    package func observe(_ event: ReportingEvent) { watch.withLock { $0.take(event) } }

    package func turned() { moved(.receiver) }
    package func fixMade(_ fix: Fix) { roused(.intake) }
    package func ended() {
        rests(.receiver)
        rests(.intake)  // nothing consumes its last fixes
    }
}

extension Configuration {
    /// The time that each stage may stall before the process ends. It is well above every limit of the stage itself.
    package var patience: [Stage: Duration] {
        [
            .receiver: ReceiverPace.maximumOpeningTime + ReceiverPace.maximumTurnTime * 3,
            .intake: .seconds(300),
            // Not urgent, because positions are sent from memory while the outbox hangs.
            .store: .seconds(330),
            // Without a token, updates are kept and a token is requested again. After an hour, no token in memory is
            // valid, so a restart loses nothing, and it happens at most once per hour.
            .token: .seconds(3600),
            .transport: upload.timeout + .seconds(30),
            // Longer than all its waits without an event together: outbox, token and exchange.
            .upload: upload.timeout + tokenPatience + .seconds(150),
            .tasks: .seconds(60),
        ]
    }
}
