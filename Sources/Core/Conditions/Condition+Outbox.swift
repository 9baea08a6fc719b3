package import Reporting
import ReportedText

extension Condition {
    /// The condition that a failure of the outbox is.
    ///
    /// - Parameters:
    ///   - error: the failure.
    ///   - isStoring: whether updates can't be stored, so that they are sent from memory.
    package init(_ error: OutboxError, isStoring: Bool = false) {
        let code: ConditionCode =
            switch error.code {
            case .full, .noInodes: .diskFull
            case .locked: .outboxInUse
            case .busy: .outboxBusy
            case .damaged, .damagedAgain: .outboxDamaged
            case .newerSchema: .outboxTooNew
            case .readOnly, .refused, .forbidden, .missing, .ofAnotherVehicle, .silent, .closed, .unusable:
                .outboxUnusable
            }
        let wording = error.wording()
        let cause: ReportedText = isStoring ? "positions are sent from memory only: \(wording.cause)" : wording.cause
        self.init(code, Wording(cause, wording.remedy), facts: .outbox(error.code))
    }

    /// The damage that a repair has ended. Each repair is logged; `now` distinguishes them.
    package init(_ recovery: OutboxRecovery, at now: Duration) {
        self.init(.outboxDamaged, recovery.wording, facts: .number(Int64(now / .milliseconds(1))))
    }

    /// The condition that a warning of the outbox is.
    package init(_ warning: OutboxWarning) { self.init(ConditionCode(warning), warning.wording) }

    /// Updates were rejected for good.
    package init(quarantined count: Int64) {
        self.init(
            .updatesQuarantined, "Fleet Engine rejects \(text: count.counted("update"))", facts: .number(count))
    }
}

extension ConditionCode {
    /// The code of a warning of the outbox. Each warning has its own code, so that the end of one leaves the others.
    package init(_ warning: OutboxWarning) {
        self =
            switch warning {
            case .olderStore: .outboxTooOld
            case .removedLog: .outboxLogRemoved
            case .longLog: .outboxLogTooLong
            case .noReserve: .outboxWithoutReserve
            }
    }
}
