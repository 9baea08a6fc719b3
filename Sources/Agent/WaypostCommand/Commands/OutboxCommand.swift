import FoundationEssentials
import GNSS
import LinuxPlatform
import LocationReporting
import SQLiteOutbox
import Waypost

/// `waypost outbox list|export`: the ledger and what waits, while the service runs and while it is stopped.
struct OutboxCommand {
    private let exports: Bool
    private let asJSON: Bool
    private let path: String

    init(_ arguments: Arguments) throws {
        exports = arguments.operands.first == "export"
        asJSON = arguments.has("--json")
        path = try Configuration(file: arguments.value("--config") ?? "").outbox.path
    }

    func run() async throws -> ExitStatus {
        do {
            let reader = try OutboxReader(path: path)
            if exports { try export(reader) } else { try list(reader) }
        } catch let error as OutboxError {
            throw AgentError(.unavailable, error.description)
        }
        return .done
    }

    private func list(_ reader: OutboxReader) throws {
        let summary = try reader.summary()
        let quarantined = try reader.quarantined()
        if asJSON {
            let listing = OutboxListing(
                path: path, ledger: summary.ledger, evictedForSpace: summary.evictedForSpace.count,
                lostToDamage: summary.lostToDamage.count,
                oldestPending: try reader.pending(after: 0).first, newest: summary.newest,
                quarantined: quarantined.map(OutboxRow.init))
            return try StandardOutput.write(line: Self.encoded(listing))
        }
        let ledger = summary.ledger
        var lines = [
            "\(path)",
            "accepted \(ledger.accepted) = delivered \(ledger.delivered) + pending \(ledger.pending) "
                + "+ evicted \(ledger.evicted) + quarantined \(ledger.quarantined)"
                + (ledger.balances ? "" : "   DOES NOT BALANCE"),
        ]
        if let first = try reader.pending(after: 0).first {
            lines.append("oldest pending: \(first.update.timeOfFix)")
        }
        if let newest = summary.newest { lines.append("newest update:  \(newest.update.timeOfFix)") }
        for row in quarantined { lines.append("quarantined \(row.stored.sequence): \(row.reason)") }
        try StandardOutput.write(line: lines.joined(separator: "\n"))
    }

    private func export(_ reader: OutboxReader) throws {
        try reader.forEachPending { try StandardOutput.write(line: Self.encoded(OutboxRow($0))) }
        for row in try reader.quarantined() { try StandardOutput.write(line: Self.encoded(OutboxRow(row))) }
    }

    private static func encoded(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
