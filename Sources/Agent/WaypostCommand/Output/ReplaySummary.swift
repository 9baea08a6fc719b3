import FoundationEssentials
import LocationReporting
import Waypost

/// What a replay came to: for people as text, for machines as one JSON object.
struct ReplaySummary: Encodable {
    var fixes: Int
    var accepted, delivered, pending, evicted, quarantined: Int64
    var tokenFetches: Int
    var requests: Int
    var retries: Int
    var bytesSent: Int
    var bytesReceived: Int
    var seconds: Double

    init(counts: DeliveryCounts, ledger: Ledger, duration: Duration) {
        fixes = counts.fixes
        accepted = ledger.accepted
        delivered = ledger.delivered
        pending = ledger.pending
        evicted = ledger.evicted
        quarantined = ledger.quarantined
        tokenFetches = counts.tokenFetches
        requests = counts.requests
        retries = counts.retries
        bytesSent = counts.bytesSent
        bytesReceived = counts.bytesReceived
        seconds = (duration / .milliseconds(1)).rounded() / 1000
    }

    /// Whether everything accepted was delivered, and the account is right.
    var isComplete: Bool { accepted == delivered && balances }

    private var balances: Bool { accepted == delivered + pending + evicted + quarantined }

    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let bytes = try? encoder.encode(self) else { return "{}" }  // numbers always encode
        return String(decoding: bytes, as: UTF8.self)
    }

    var text: String {
        let verdict =
            isComplete
            ? "All \(accepted) accepted updates were delivered."
            : "\(accepted - delivered) of \(accepted) accepted updates were not delivered: \(pending) pending, "
                + "\(evicted) evicted, \(quarantined) quarantined."
        let account = balances ? "balances" : "DOES NOT BALANCE; please report this with the outbox file"
        return """
            \(FigureText.count(fixes, "fix", "fixes")) read in \(seconds) s; \(FigureText.count(requests, "request")), \(retries) of them retried; \
            \(FigureText.count(tokenFetches, "token request")); \(bytesSent) bytes sent, \(bytesReceived) received.
            ledger: accepted \(accepted) = delivered \(delivered) + pending \(pending) + evicted \(evicted) \
            + quarantined \(quarantined), which \(account)
            \(verdict)
            """
    }
}
