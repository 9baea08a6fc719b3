import GNSS
import LocationReporting
import SQLiteOutbox
import Waypost

/// `waypost outbox list`, as text and as JSON.
struct OutboxListing: Encodable {
    let path: String
    let accepted, delivered, pending, evicted, quarantined: Int64
    let balances: Bool
    /// What was given up, by reason.
    let evictions: [String: TallyReport]
    let quarantine: TallyReport
    let oldestPendingTime: String?
    let newestTime: String?
    let quarantinedUpdates: [OutboxRow]

    init(path: String, _ summary: StoreSummary, oldestPending: StoredUpdate?, quarantined: [OutboxRow]) {
        let ledger = summary.ledger
        self.path = path
        (accepted, delivered, pending) = (ledger.accepted, ledger.delivered, ledger.pending)
        (evicted, self.quarantined, balances) = (ledger.evicted, ledger.quarantined, ledger.balances)
        evictions = TallyReport.byReason(summary.evictions)
        quarantine = TallyReport(summary.quarantined)
        oldestPendingTime = oldestPending?.update.timeOfFix.description
        newestTime = summary.newest?.update.timeOfFix.description
        quarantinedUpdates = quarantined
    }

    /// For a person: the account on one line, then where it came from, a line each.
    var text: String {
        var lines = [
            path,
            "accepted \(accepted) = delivered \(delivered) + pending \(pending) + evicted \(evicted) "
                + "+ quarantined \(quarantined)" + (balances ? "" : "   DOES NOT BALANCE"),
        ]
        for reason in EvictionReason.allCases {
            guard let tally = evictions[reason.rawValue], tally.count > 0 else { continue }
            lines.append("evicted, \(reason.rawValue): \(Self.span(tally))")
        }
        if quarantine.count > 0 { lines.append("quarantined: \(Self.span(quarantine))") }
        if let oldestPendingTime { lines.append("oldest pending: \(oldestPendingTime)") }
        if let newestTime { lines.append("newest update:  \(newestTime)") }
        for row in quarantinedUpdates { lines.append("quarantined \(row.sequence): \(row.reason ?? "")") }
        return lines.joined(separator: "\n")
    }

    private static func span(_ tally: TallyReport) -> String {
        guard let first = tally.firstTimeOfFix, let last = tally.lastTimeOfFix else { return "\(tally.count)" }
        return "\(tally.count), fixes of \(first) to \(last)"
    }
}
