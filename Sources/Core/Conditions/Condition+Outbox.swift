package import Reporting
import ReportedText

extension Condition {
    /// The condition that a failure of the outbox is.
    package init(_ error: OutboxError) {
        let code: ConditionCode =
            switch error.code {
            case .full: .diskFull
            case .locked: .outboxInUse
            case .busy: .outboxBusy
            case .unusable, .closed: .outboxUnusable
            case .damaged: .outboxDamaged
            case .newerSchema: .outboxTooNew
            }
        self.init(code, "\(error)", facts: .outbox(error.code))
    }

    /// Updates were rejected for good.
    package init(quarantined count: Int64) {
        self.init(
            .updatesQuarantined, "Fleet Engine rejects \(text: count.counted("update"))", facts: .number(count))
    }
}
