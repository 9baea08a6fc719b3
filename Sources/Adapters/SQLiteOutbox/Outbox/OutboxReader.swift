import LinuxPlatform
package import LocationReporting

/// Reads a store for the tools, whether the service runs or not; changes nothing and takes no lock from it.
///
/// Its calls block for the time of a read; for one thread. An acknowledgement that the service has not written yet
/// still shows as pending.
package final class OutboxReader {
    private let files: StoreFiles
    private let connection: SQLiteConnection
    private let rows: StoreRows

    private static let rowsAtOnce = 1000

    /// - Throws: `unusable` when there is no store yet, or it is damaged or may not be read; `newerSchema`.
    package init(path: String) throws(OutboxError) {
        guard Self.isThere(path) else {
            throw OutboxError(
                .unusable,
                "\(path): there is no outbox yet; run or replay makes it (replay --vehicles makes \(path)-1 and so on)")
        }
        do {
            files = try Self.find(path)
            let connection = try Self.open(files)
            rows = try StoreRows(connection)
            self.connection = connection
        } catch { throw Self.readerError(error) }
    }

    /// Every pending update counted.
    package func summary() throws(OutboxError) -> StoreSummary {
        do {
            let bytes = try withSystem(files.path) { () throws(SystemError) in
                try files.disk.fileSize(at: files.path) + files.disk.fileSize(at: files.log)
            }
            try connection.execute("BEGIN")
            defer { do { try connection.execute("COMMIT") } catch {} }  // it has only read
            let account = try rows.account(pendingCount: try rows.countPending(atMost: bytes / StoreFormat.shortestRow))
            return StoreSummary(account)
        } catch { throw Self.readerError(error) }
    }

    /// Pending updates after `sequence` in order of acceptance, at most 1000 of them; empty at the end.
    package func pending(after sequence: Int64) throws(OutboxError) -> [StoredUpdate] {
        do { return try rows.oldest(after: sequence, limit: Self.rowsAtOnce).map(\.stored) } catch {
            throw Self.readerError(error)
        }
    }

    /// Calls `body` for each pending update in order of acceptance, holding few in memory.
    package func forEachPending(_ body: (StoredUpdate) throws -> Void) throws {
        var last: Int64 = 0
        while true {
            let page = try pending(after: last)
            for stored in page { try body(stored) }
            guard let end = page.last else { return }
            last = end.sequence
        }
    }

    /// The last quarantined updates, in order of acceptance, with the server's words; and what is wrong, should some of
    /// them be unreadable.
    package func quarantined() throws(OutboxError) -> (updates: [QuarantinedUpdate], damage: OutboxError?) {
        do {
            let (updates, damage) = try rows.readableQuarantined()
            return (updates, damage.map(Self.readerError))
        } catch { throw Self.readerError(error) }
    }

    /// Whether there is a file; one that cannot be looked at is there, and opening it says what is wrong.
    private static func isThere(_ path: String) -> Bool {
        do throws(SystemError) { return try FileSystem.entry(at: path) != nil } catch { return true }
    }

    /// Finds a store that somebody else than its owner may read, too.
    private static func find(_ path: String) throws(StoreError) -> StoreFiles {
        try withSystem(path) { () throws(SystemError) in
            let files = try StoreFiles(at: path, for: EffectiveUser.expected(at: path))
            if let status = try FileStatus(at: files.path) {
                try FileSystem.requireOwnFile(at: files.path, for: status.owner)
            }
            return files
        }
    }

    private static func open(_ files: StoreFiles) throws(StoreError) -> SQLiteConnection {
        _ = try StoreHeader(path: files.path)
        let hasLog = try withSystem(files.path) { () throws(SystemError) in
            try files.disk.entry(at: files.log) != nil
        }
        // Without a log nobody writes; an ordinary opening would leave a log behind, owned by whoever runs the tool.
        let connection = try SQLiteConnection(path: files.path, access: hasLog ? .readOnly : .immutable)
        _ = try StoreSchema.version(of: connection)
        try connection.execute(StoreFormat.readerSettings)
        return connection
    }

    static func readerError(_ error: StoreError) -> OutboxError {
        guard error.kind == .damaged else { return outboxError(error) }
        return OutboxError(
            .unusable, "\(error.path): damaged (\(error.reason)); the service repairs it at its next start")
    }
}

/// The account of a store, with reasons and times.
package struct StoreSummary: Sendable, Hashable {
    package var ledger: Ledger
    /// What was given up, by reason.
    package var evictions: Evictions
    /// Updates that Fleet Engine refuses for good.
    package var quarantined: UpdateTally
    package var newest: StoredUpdate?

    init(_ account: OutboxAccount) {
        (ledger, evictions) = (account.ledger, account.evictions)
        (quarantined, newest) = (account.quarantined, account.newest)
    }

    /// Of a ledger of which no more is known than its words.
    package init(_ ledger: Ledger, evictions: Evictions = Evictions()) {
        (self.ledger, self.evictions) = (ledger, evictions)
        quarantined = UpdateTally(count: ledger.quarantined)
    }
}
