import LocationReporting
import StrictJSON
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

    var json: String { (try? JSONValue(encoding: self).text) ?? "{}" }  // numbers always encode

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

/// What the replay of a recorded run came to.
struct FlightSummary {
    private let log: FlightLog
    private let comparison: FlightComparison

    /// A page has room for so many of a kind.
    private static let longestList = 20

    init(_ log: FlightLog, _ comparison: FlightComparison) { (self.log, self.comparison) = (log, comparison) }

    /// For people.
    var text: String {
        var lines = ["run of \(log.header.run ?? "an unknown time"), \(log.length.spoken) recorded"]
        for kind in comparison.kinds {
            let verdict = kind.differences.isEmpty ? "as recorded" : "\(kind.differences.count) differ"
            lines.append("\(kind.name): \(kind.recorded) recorded, \(kind.replayed) replayed, \(verdict)")
            for difference in kind.differences.prefix(Self.longestList) {
                lines.append(
                    "  \(difference.number): recorded \(difference.recorded ?? "none"), "
                        + "now \(difference.replayed ?? "none")")
            }
        }
        for repair in log.entries.compactMap(\.repair) { lines.append("a stage stood still then: \(repair)") }
        let lost = log.entries.compactMap(\.lost).reduce(0, +)
        if lost > 0 { lines.append("\(lost) entries are missing: the disk was too slow") }
        if log.brokenLines > 0 { lines.append("\(log.brokenLines) lines are cut off") }
        return lines.joined(separator: "\n")
    }

    /// For machines.
    var json: String {
        get throws {
            struct Difference: Encodable { let number: Int, recorded, replayed: String? }
            struct Kind: Encodable { let name: String, recorded, replayed: Int, differences: [Difference] }
            struct Page: Encodable { let run: String?, seconds: Double, brokenLines: Int, decisions: [Kind] }
            let kinds = comparison.kinds.map { kind in
                Kind(
                    name: kind.name, recorded: kind.recorded, replayed: kind.replayed,
                    differences: kind.differences.map {
                        Difference(number: $0.number, recorded: $0.recorded, replayed: $0.replayed)
                    })
            }
            let page = Page(
                run: log.header.run, seconds: log.length / .seconds(1), brokenLines: log.brokenLines, decisions: kinds)
            return try JSONValue(encoding: page).text
        }
    }
}
