package import Reporting
import ReportedText

extension Condition {
    /// Creates the condition for a failure of the outbox.
    ///
    /// - Parameters:
    ///   - error: the failure.
    ///   - isStoring: whether the failure keeps updates from being stored, so that they are sent from memory.
    package init(_ error: OutboxError, isStoring: Bool = false) {
        let code: ConditionCode =
            switch error.code {
            case .full, .noInodes: .diskFull
            case .locked: .outboxInUse
            case .busy: .outboxBusy
            case .damaged, .damagedAgain: .outboxDamaged
            case .newerSchema: .outboxTooNew
            case .readOnly, .refused, .forbidden, .missing, .otherVehicle, .silent, .closed, .unusable:
                .outboxUnusable
            }
        let wording = error.wording()
        let cause: ReportedText = isStoring ? "\(wording.cause); sending from memory only" : wording.cause
        self.init(code, Wording(cause, wording.remedy), facts: .outbox(error.code, number: error.number))
    }

    /// Creates the condition for a damaged outbox that has been repaired. `now` makes each repair a different
    /// condition, so that each is logged.
    package init(_ recovery: OutboxRecovery, at now: Duration) {
        self.init(.outboxDamaged, recovery.wording, facts: .number(Int64(now / .milliseconds(1))))
    }

    /// Creates the condition for a warning about the outbox.
    package init(_ warning: OutboxWarning) {
        var facts = Facts.none
        if case .removedLog(_, let isRescued) = warning { facts = .number(isRescued ? 1 : 0) }
        self.init(ConditionCode(warning), warning.wording, facts: facts)
    }

    /// A record that is kept next to the outbox.
    package enum OutboxRecord: String, Sendable, Hashable {
        case pendingState = "the pending vehicle state", vehicle = "the vehicle of the pending updates"
        case stall = "the reason for the stall"
    }

    /// Creates the condition for a record that can't be changed. The cause is `refusal`; `error` if that is `nil`.
    package init(unchanged record: OutboxRecord, because error: any Error, _ refusal: PathRefusal?) {
        let wording = refusal?.wording ?? Wording("\(error)", "")
        let cause: ReportedText =
            "could not record \(text: record.rawValue): \(wording.cause)"
        self.init(.outboxFileUnwritable, Wording(cause, wording.remedy))
    }

    /// Creates the condition for `count` updates that were only in memory and are dropped, because memory is full or
    /// the service stops.
    package init(dropped count: Int, atStop: Bool) {
        let reason = atStop ? "the service stops; Fleet Engine has only those that were sent at once" : "memory is full"
        self.init(
            .updatesDropped, "\(text: count.counted("update")), because the outbox accepts none and \(text: reason)")
    }

    /// Creates the condition for `count` updates that have been rejected permanently.
    package init(quarantined count: Int64) {
        self.init(
            .updatesQuarantined, "Fleet Engine has rejected \(text: count.counted("update"))", facts: .number(count))
    }
}

extension ConditionCode {
    /// Creates the code for a warning about the outbox. Each warning has its own code, so that ending one doesn't end
    /// the others.
    package init(_ warning: OutboxWarning) {
        self =
            switch warning {
            case .olderStore: .outboxTooOld
            case .removedLog: .outboxLogRemoved
            case .longLog: .outboxLogTooLong
            case .noReserve: .outboxFileUnwritable
            }
    }
}
