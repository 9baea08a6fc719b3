import ReportedText
import Reporting
import Testing

@testable import SQLiteOutbox

/// Stores whose schema has a higher version number.
@Suite struct NewerSchema {
    private let directory: StoreDirectory

    init() throws {
        directory = try StoreDirectory()
        let outbox = try directory.open()
        _ = try outbox.append(sample(1))
        try outbox.close()
    }

    /// A newer release's store is rejected, and no byte of it changes. Its schema differs, if only by a comment.
    @Test(
        arguments: [2, 1000],
        [
            "CREATE TABLE tracks (id INTEGER PRIMARY KEY)", "DROP TABLE quarantine", "DROP VIEW ledger",
            "DROP VIEW ledger; CREATE VIEW ledger AS SELECT note /* 2 */ FROM updates WHERE sequence = 0",
        ])
    func isRejectedAndLeftUnchanged(version: Int, change: String) throws {
        try directory.execute("\(change); PRAGMA user_version = \(version)")
        let before = try directory.read("outbox.sqlite")
        let names = try directory.names
        let errors = [
            #expect(throws: OutboxError.self) { try directory.open() },
            #expect(throws: OutboxError.self) { try OutboxReader(path: directory.store) },
            #expect(throws: OutboxError.self) { try OutboxRequester(path: directory.store) },
        ]
        for error in errors {
            let cause = OutboxError.Cause.schema(found: Int64(version), known: 1)
            #expect(error == OutboxError(.newerSchema, path: directory.store, cause))
        }
        #expect(try directory.read("outbox.sqlite") == before)
        #expect(try directory.names == names)
    }

    /// A higher version number with the known schema is a flipped bit, because each release has its own schema.
    @Test(arguments: 1..<10) func isDamageIfTheTablesAreTheKnownOnes(bit: Int) throws {
        try directory.execute("PRAGMA user_version = \(Int(try directory.version) ^ 1 << bit)")
        for error in [
            #expect(throws: OutboxError.self) { try OutboxReader(path: directory.store) },
            #expect(throws: OutboxError.self) { try OutboxRequester(path: directory.store) },
        ] { #expect(error?.code == .damaged) }
        let outbox = try directory.open()
        #expect(directory.recoveries.count == 1)
        #expect(try outbox.ledger() == Ledger(accepted: 1, pending: 1))
        try outbox.close()
        #expect(try directory.version == StoreSchema.version)
    }
}
