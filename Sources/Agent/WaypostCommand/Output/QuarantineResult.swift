import SQLiteOutbox

/// What `waypost outbox requeue` and `discard` print.
struct QuarantineResult: Encodable {
    /// `requeue` or `discard`.
    let action: String
    let path: String
    /// How many are pending again, or given up.
    let updates: Int64
    /// How many could not be requeued, for only the last 256 are kept.
    let notKept: Int64

    var text: String {
        let noun = updates == 1 ? "update" : "updates"
        let rest = notKept > 0 ? "; \(notKept) older ones are not kept any more and stay quarantined" : ""
        return action == "requeue"
            ? "\(updates) \(noun) requeued: pending again, to be delivered once more\(rest)"
            : "\(updates) \(noun) discarded: counted as evicted"
    }
}
