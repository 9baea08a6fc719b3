import Reporting
import ReportedText
import Testing

@testable import SQLiteOutbox

/// The views for users of the `sqlite3` command.
@Suite struct Views {
    private let directory: StoreDirectory

    init() throws { directory = try StoreDirectory() }

    /// Runs the query of a view, because Waypost's connections can't read views.
    private func rows(of view: String) throws -> [[String]] {
        let connection = try SQLiteConnection(path: directory.store, access: .readOnly)
        let text = try connection.text("SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = '\(view)'") ?? ""
        let prefix = "CREATE VIEW \(view) AS "
        try #require(text.hasPrefix(prefix))
        let statement = try SQLiteStatement(connection, String(text.dropFirst(prefix.count)))
        var rows: [[String]] = []
        while try statement.step() { rows.append((0..<statement.columnCount).map { statement.text($0) ?? "" }) }
        return rows
    }

    @Test func showUpdatesInColumns() throws {
        let outbox = try directory.open()
        let point = LocationUpdate(timeOfFix: sample(1).timeOfFix, latitude: 48.25, longitude: 11.5)
        _ = try outbox.append(sample(2), with: [point])
        try outbox.quarantine(try outbox.append(sample(3)), reason: "400: no such field")
        #expect(
            try rows(of: "pending") == [
                ["1", "2026-01-05T00:00:01.000Z", "48.25", "11.5", "", "", "", "", "shape point"],
                [
                    "2", "2026-01-05T00:00:02.000Z", "48.1175", "11.5166667", "545.4", "12.34", "2", "2.5",
                    "update",
                ],
            ])
        #expect(
            try rows(of: "quarantined") == [
                [
                    "3", "2026-01-05T00:00:03.000Z", "48.1176", "11.5166667", "", "12.34", "3", "2.5", "update",
                    "400: no such field",
                ]
            ])
    }

    /// Row 0 has the counts as of the last removal of a row; updates accepted later are counted from the rows.
    @Test func showTheCurrentLedger() throws {
        let outbox = try OutboxEngine(directory.configuration(maximumBytes: 64 * 1024))
        #expect(try rows(of: "ledger") == [["0", "0", "0", "0", "0"]])
        for second in 1...3000 { _ = try outbox.append(zigzag(second)) }
        try outbox.quarantine(try outbox.append(sample(4000)), reason: "400")
        try outbox.deliverBatch(maximumPastLocations: 10)
        _ = try outbox.append(sample(5000))
        let ledger = try outbox.ledger()
        #expect(ledger.evicted > 0 && ledger.quarantined == 1 && ledger.delivered == 11)
        #expect(
            try rows(of: "ledger") == [
                [ledger.accepted, ledger.delivered, ledger.pending, ledger.evicted, ledger.quarantined].map { "\($0)" }
            ])
    }
}
