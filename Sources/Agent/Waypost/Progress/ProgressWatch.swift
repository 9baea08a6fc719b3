import BackendAuthorization
package import GNSS
import GNSSReceiver
import HTTPMessages
import LinuxPlatform
import ReportedText
package import Operations
package import Reporting

/// Judges whether every stage makes progress. Pure.
///
/// A stage owes a sign within its patience as soon as it has something to do; it owes none while it has nothing to do
/// or a reason to wait. Time comes by `tick` alone, and at most `longestTick` of it counts at once: a machine that
/// slept and a process that was stopped find no stage overdue.
package struct ProgressWatch: Sendable {
    private struct Debt {
        let since: Duration
        let due: Duration
    }

    private static let longestTick = Duration.seconds(5)

    /// How long each stage may take from now on.
    private let patience: [Stage: Duration]
    private var debts: [Stage: Debt] = [:]
    private var now = Duration.zero

    /// A stage without `patience` is not watched.
    package init(patience: [Stage: Duration]) { self.patience = patience }

    /// The stage has given a sign, and owes another one within its patience, or that long after `delay`.
    package mutating func moved(_ stage: Stage, nextAfter delay: Duration = .zero) {
        debts[stage] = patience[stage].map { Debt(since: now, due: now + delay + $0) }
    }

    /// The stage has nothing to do, and owes no sign.
    package mutating func rests(_ stage: Stage) { debts[stage] = nil }

    /// There is something to do for a stage that rested.
    package mutating func roused(_ stage: Stage) {
        if debts[stage] == nil { moved(stage) }
    }

    /// Time has passed: the stage that has stalled, if one has.
    package mutating func tick(after elapsed: Duration) -> Stall? {
        now += max(.zero, min(elapsed, Self.longestTick))
        for stage in Stage.allCases {
            if let debt = debts[stage], debt.due <= now { return Stall(stage: stage, duration: now - debt.since) }
        }
        return nil
    }
}

extension ProgressWatch {
    /// Notes an event of intake or upload loop: that it acts, how long it waits, or that it has nothing to do.
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
        // Not signs of the upload loop: a vehicle's state and the outbox's maintenance cause these, too. The loop waits
        // or acts after each of them, and reports that.
        case .failed: rests(.transport)
        case .outboxFailed, .announced, .internalError: break
        case .receiver, .receiverWarning, .sky, .progress, .privateModeBegan, .privateModeEnded, .tooSoon, .dropped,
            .serverTime:
            break
        }
    }
}

/// The progress of the running service: reported by its stages, judged by the thread of `Watchdog`.
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
    /// How long each stage may stall before the process ends: well past every limit that the stage itself keeps.
    package var patience: [Stage: Duration] {
        [
            .receiver: ReceiverPace.longestOpening + ReceiverPace.longestTurn * 3,
            .intake: .seconds(300),
            // Not urgent, because positions are sent from memory while the outbox hangs.
            .store: .seconds(330),
            // Without a token, updates are kept and a token is requested again. After an hour no token in memory is
            // valid, so that a restart costs nothing, and it happens at most once per hour.
            .token: .seconds(3600),
            .transport: upload.timeout + .seconds(30),
            // Longer than everything that it may wait for without an event: outbox, token and exchange.
            .upload: upload.timeout + tokenPatience + .seconds(150),
            .tasks: .seconds(60),
        ]
    }
}
