import FoundationEssentials
import ReportedText
import Reporting
import Testing
import TimeAndRandomness

@testable import SQLiteOutbox

/// A store whose schema another program has written: none of it is executed, and the rows are salvaged.
@Suite struct ForeignSchema {
    private static let endlessQuery = "WITH RECURSIVE n(id) AS (VALUES(1) UNION ALL SELECT id + 1 FROM n)"

    /// Returns SQL that replaces the table of updates with one that has `changed` instead of `original` in its
    /// definition.
    private static func sqlForUpdatesTable(replacing original: String, with changed: String) -> String {
        let definition = StoredRow.definition.replacing(original, with: changed)
        return """
            CREATE TABLE other (\(definition)); INSERT INTO other SELECT * FROM updates;
            DROP TABLE updates; ALTER TABLE other RENAME TO updates
            """
    }

    static let foreignSchemas = [
        "CREATE TRIGGER t AFTER INSERT ON updates BEGIN DELETE FROM updates WHERE sequence <= new.sequence; END",
        "CREATE TRIGGER t BEFORE DELETE ON updates BEGIN SELECT RAISE(IGNORE); END",
        "CREATE TRIGGER t AFTER UPDATE ON requests BEGIN DELETE FROM updates; END",
        "ALTER TABLE updates RENAME TO r; CREATE VIEW updates AS SELECT * FROM r WHERE sequence < 3",
        "DROP TABLE quarantine; CREATE VIEW quarantine AS \(endlessQuery) SELECT id AS sequence FROM n",
        "DROP TABLE requests; CREATE VIEW requests AS \(endlessQuery) SELECT id, NULL AS answer FROM n",
        "CREATE VIEW more AS \(endlessQuery) SELECT count(*) FROM n",
        "DROP VIEW ledger", "DROP VIEW pending; CREATE VIEW pending AS SELECT * FROM updates",
        "CREATE INDEX i ON updates(time_ms)", "CREATE INDEX i ON updates(length(note)) WHERE sequence > 0",
        "ALTER TABLE updates ADD COLUMN more AS (length(note))", "ALTER TABLE quarantine ADD COLUMN more DEFAULT 1",
        sqlForUpdatesTable(replacing: "time_ms INTEGER", with: "time_ms INTEGER CHECK(time_ms > 0)"),
        sqlForUpdatesTable(replacing: "note TEXT", with: "note TEXT COLLATE NOCASE"),
        sqlForUpdatesTable(replacing: "PRIMARY KEY", with: "PRIMARY KEY ON CONFLICT REPLACE"),
        "CREATE VIRTUAL TABLE v USING fts5(words)", "CREATE TABLE more (id)", "ANALYZE",
        (1...2000).map { "CREATE TABLE t\($0) (id)" }.joined(separator: ";"),
    ]

    @Test(arguments: foreignSchemas) func isDamage(sql: String) throws {
        let directory = try directoryWithFiveUpdates()
        try directory.execute(sql)
        for error in [
            #expect(throws: OutboxError.self) { try OutboxReader(path: directory.store) },
            #expect(throws: OutboxError.self) { try OutboxRequester(path: directory.store) },
        ] { #expect(error?.code == .damaged) }

        let outbox = try directory.open()
        #expect(directory.recoveries.count == 1)
        #expect(directory.recoveries.map(\.salvaged) == [5])
        #expect(try outbox.pendingUpdates().map(\.update) == (1...5).map(sample))
        #expect(try outbox.append(sample(6)).sequence == 6)
        #expect(try !outbox.maintain())
        while try outbox.ledger().pending > 0 { try outbox.deliverBatch() }
        #expect(try outbox.ledger() == Ledger(accepted: 6, delivered: 6))
        try outbox.close()
        #expect(try OutboxReader(path: directory.store).summary().ledger == Ledger(accepted: 6, delivered: 6))
    }

    /// The rows have another format and can't be read: they are counted as lost.
    @Test func unreadableRowsCountAsLost() throws {
        let directory = try directoryWithFiveUpdates()
        try directory.execute(
            Self.sqlForUpdatesTable(replacing: "checksum INTEGER", with: "checksum INTEGER").replacing(
                "INTEGER);", with: "INTEGER) WITHOUT ROWID;")
        )
        let outbox = try directory.open()
        #expect(directory.recoveries.count == 1)
        #expect(try outbox.ledger().balances)
        _ = try outbox.append(sample(6))
    }

    /// The foreign schema is only in the write-ahead log; the database is sound.
    @Test func isFoundInTheLog() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        for second in 1...5 { _ = try outbox.append(sample(second)) }
        try directory.execute(Self.foreignSchemas[0])
        try directory.moveStore(owner: outbox)
        let again = try directory.open()
        #expect(directory.recoveries.map(\.cause) == [.foreignObject(type: "trigger", name: "t")])
        #expect(try again.pendingUpdates().map(\.update) == (1...5).map(sample))
    }

    /// The schema changes while the service runs.
    @Test(arguments: foreignSchemas.prefix(5)) func isNotExecutedWhileRunning(sql: String) throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        for second in 1...5 { _ = try outbox.append(sample(second)) }
        try directory.execute(sql)
        for second in 6...8 {
            do { _ = try outbox.append(sample(second)) } catch { _ = try outbox.append(sample(second)) }
        }
        _ = try outbox.maintain()
        #expect(try outbox.pendingUpdates().map(\.update) == (1...8).map(sample))
        while try outbox.ledger().pending > 0 { try outbox.deliverBatch() }
        #expect(try outbox.ledger() == Ledger(accepted: 8, delivered: 8))
    }

    /// A version number that is negative, far too high, or has a flipped bit isn't a newer release's.
    @Test(arguments: [-1, Int32.min, 0, 67_108_866, 524_290]) func isDamageIfItsVersionIsImplausible(version: Int32)
        throws
    {
        let directory = try directoryWithFiveUpdates()
        try directory.execute("PRAGMA user_version = \(version)")
        let error = #expect(throws: OutboxError.self) { try OutboxReader(path: directory.store) }
        #expect(error?.code == .damaged)
        let outbox = try directory.open()
        #expect(directory.recoveries.map(\.cause) == [.notOutbox])
        #expect(try outbox.ledger() == Ledger(accepted: 5, pending: 5))
    }

    private func directoryWithFiveUpdates() throws -> StoreDirectory {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        for second in 1...5 { _ = try outbox.append(sample(second)) }
        try outbox.close()
        return directory
    }
}

/// Rows with a correct checksum and impossible numbers, whose sums must not crash the process.
@Suite struct ExtremeRows {
    static func row(_ sequence: Int64, time: Int64 = 1_767_600_000_000) -> String {
        var update = sample(1)
        update.timeOfFix = UTCTime(millisecondsSince1970: time)
        let stored = StoredUpdate(sequence: sequence, update: update)
        return UpdateRecord(stored).row.sql
    }

    static func ledger(_ change: (inout OutboxCounters) -> Void, oldestPending: Int64 = 1) -> String {
        var counters = OutboxCounters()
        counters.lastSequence = 5
        counters.pending = 5
        change(&counters)
        return LedgerRecord(counters, oldestPending: oldestPending).row.sql
    }

    static func ledger(accepted: Int64 = 5, pending: Int64 = 5, delivered: Int64 = 0) -> String {
        ledger {
            $0.lastSequence = accepted
            $0.pending = pending
            $0.delivered = delivered
        }
    }

    // The tables are separate constants, because Swift 6.2 can't infer the type of their sum.
    static let sequences: [String] = [row(.max), row(.max - 1), row(-1), row(.min)]

    static let times: [String] = [Int64.max, .min, 1 << 60, -(1 << 60), 253_402_300_800_000].flatMap {
        [row(6, time: $0), row(3, time: $0)]
    }

    static func counters(_ number: Int64) -> [String] {
        [
            ledger { $0.lastSequence = number }, ledger { $0.pending = number }, ledger { $0.delivered = number },
            ledger { $0.revision = number }, ledger { $0.quarantined.count = number },
            ledger { $0.evictions[.oldest].count = number }, ledger({ _ in }, oldestPending: number),
            ledger {
                let time = UTCTime(millisecondsSince1970: number)
                $0.evictions[.oldest].timesOfFix = time...time
            },
            ledger { $0.thinning.advance(.first, to: number) },
            "INSERT INTO requests VALUES (\(number), 'requeue', '[\(number)]', NULL)",
        ]
    }

    static let rows: [String] = [sequences, times, [Int64.max, .max - 5, .min].flatMap(counters)].flatMap { $0 }

    /// A position that no receiver can report is damage.
    @Test(arguments: [1e308, -180.1, .infinity]) func areDamageIfTheirPositionIsImpossible(number: Double) throws {
        let changes: [(inout LocationUpdate) -> Void] = [
            { $0.headingDegrees = 360 }, { $0.headingDegrees = -1 },
            { $0 = LocationUpdate(timeOfFix: $0.timeOfFix, latitude: number, longitude: 10) },
            { $0 = LocationUpdate(timeOfFix: $0.timeOfFix, latitude: 53, longitude: number) },
        ]
        for change in changes {
            var update = sample(1)
            change(&update)
            let record = UpdateRecord(StoredUpdate(sequence: 1, update: update))
            #expect(UpdateRecord(record.row) == nil)
        }
    }

    @Test(arguments: rows) func neverStopTheOutbox(sql: String) throws {
        let directory = try StoreDirectory()
        let first = try directory.open()
        for second in 1...5 { _ = try first.append(sample(second)) }
        try first.close()
        try directory.execute(sql)
        // Readers only report what they find.
        if let reader = try? OutboxReader(path: directory.store) {
            _ = try? reader.summary()
            try? reader.forEachPending { _ in }
        }
        var settings = directory.configuration()
        settings.maximumAge = .seconds(30 * 86_400)
        let outbox = try OutboxEngine(settings)
        _ = try outbox.maintain()
        _ = try outbox.append(sample(100))
        #expect(try outbox.ledger().balances)
        while try outbox.ledger().pending > 0 { try outbox.deliverBatch() }
        #expect(try outbox.ledger().balances)
        try outbox.close()
    }
}
