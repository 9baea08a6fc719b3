import LocationReporting

/// What a damaged store's own tables still say, when SQLite finds their structure sound and the count agrees.
struct SoundTree {
    let ledger: LedgerRecord
    /// The last sequence that the tables know of.
    let lastSequence: Int64
    /// Rows there are, readable or not.
    let pending: Int64
    /// Rows whose bodies fail their checksum.
    let unreadable: Set<Int64>

    /// Takes the readable rows over into `builder`; `nil` when the tables cannot be trusted.
    ///
    /// - Throws: when `builder` cannot write.
    init?(_ files: StoreFiles, known: OutboxAccount?, into builder: StoreBuilder) throws(StoreError) {
        guard let rows = Self.openSound(files) else { return nil }
        var (pending, last, unreadable) = (Int64(0), Int64(0), Set<Int64>())
        var stored: LedgerRecord?
        while true {
            let more: Bool
            // What cannot be read here is looked for as loose records.
            do throws(StoreError) { more = try rows.statement.step() } catch { return nil }
            guard more else { break }
            let (id, bytes) = (rows.statement.integer(0), rows.statement.blob(1))
            if id == LedgerRecord.id {
                stored = LedgerRecord(bytes[...])
                continue
            }
            (pending, last) = (pending + 1, id)
            if UpdateRecord(bytes[...], sequence: id) == nil {
                unreadable.insert(id)
            } else {
                try builder.insertPending(bytes, sequence: id)
            }
        }
        if let known, var account = stored?.account {
            account.lastSequence = max(account.lastSequence, last)
            // The count may be right all the same: one delivered, one accepted.
            if account.isOlder(than: known) { return nil }
        }
        guard let ledger = known.map({ LedgerRecord($0, oldestPending: 0) }) ?? stored else { return nil }
        let lastSequence = max(last, ledger.account.lastSequence)
        let expected = ledger.account.pending + lastSequence - ledger.account.lastSequence
        guard pending == expected else { return nil }
        (self.ledger, self.lastSequence, self.pending, self.unreadable) = (ledger, lastSequence, pending, unreadable)
    }

    /// A statement over all rows, with the connection it runs on.
    private final class Rows {
        let connection: SQLiteConnection
        let statement: SQLiteStatement

        init(_ files: StoreFiles) throws(StoreError) {
            let connection = try SQLiteConnection(path: files.path, access: .readOnly, on: files.disk)
            connection.setCheckpointOnClose(false)
            try connection.execute(StoreFormat.readerSettings)
            guard try connection.text("PRAGMA quick_check(1)") == "ok" else {
                throw StoreError(.damaged, path: files.path, reason: "its structure is damaged")
            }
            statement = try SQLiteStatement(connection, "SELECT id, body FROM records ORDER BY id")
            self.connection = connection
        }
    }

    /// `nil` for whatever reason: then there is no tree to go by.
    private static func openSound(_ files: StoreFiles) -> Rows? {
        do {
            _ = try StoreHeader(path: files.path, on: files.disk)  // SQLite removes the log of an empty database
            return try Rows(files)
        } catch { return nil }
    }
}
