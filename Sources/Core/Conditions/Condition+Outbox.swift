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
            case .full: .diskFull
            case .locked: .outboxInUse
            case .busy: .outboxBusy
            case .unusable, .closed: .outboxUnusable
            case .damaged: .outboxDamaged
            case .newerSchema: .outboxTooNew
            }
        let cause: ReportedText = isStoring ? "positions are sent from memory only: \(error)" : "\(error)"
        self.init(code, cause, facts: .outbox(error.code))
    }

    /// Updates were rejected for good.
    package init(quarantined count: Int64) {
        self.init(
            .updatesQuarantined, "Fleet Engine rejects \(text: count.counted("update"))", facts: .number(count))
    }
}
