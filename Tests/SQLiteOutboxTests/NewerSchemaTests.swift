import ReportedText
import Reporting
import Testing

@testable import SQLiteOutbox

/// Stores of other versions of the schema.
@Suite struct NewerSchema {
    private let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
        let outbox = try folder.open()
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
    func isUntouched(version: Int, change: String) throws {
        try folder.execute("\(change); PRAGMA user_version = \(version)")
        let before = try folder.read("outbox.sqlite")
        let names = try folder.names
        let errors = [
            #expect(throws: OutboxError.self) { try folder.open() },
            #expect(throws: OutboxError.self) { try OutboxReader(path: folder.store) },
            #expect(throws: OutboxError.self) { try OutboxRequester(path: folder.store) },
        ]
        for error in errors {
            let cause = OutboxError.Cause.schema(found: Int64(version), known: 1)
            #expect(error == OutboxError(.newerSchema, path: folder.store, cause))
        }
        #expect(try folder.read("outbox.sqlite") == before)
        #expect(try folder.names == names)
    }

    /// A higher version number over the known schema is a flipped bit, because each release has its own schema.
    @Test(arguments: 1..<10) func isDamageOverTheKnownTables(bit: Int) throws {
        try folder.execute("PRAGMA user_version = \(Int(try folder.version) ^ 1 << bit)")
        for error in [
            #expect(throws: OutboxError.self) { try OutboxReader(path: folder.store) },
            #expect(throws: OutboxError.self) { try OutboxRequester(path: folder.store) },
        ] { #expect(error?.code == .damaged) }
        let outbox = try folder.open()
        #expect(folder.recoveries.count == 1)
        #expect(try outbox.ledger() == Ledger(accepted: 1, pending: 1))
        try outbox.close()
        #expect(try folder.version == StoreSchema.version)
    }
}
