import LinuxPlatform
package import Reporting

/// Reads an outbox for the tools, whether the service runs or not; changes nothing and takes no lock from it.
///
/// Its calls block for the time of a read; for one thread. An acknowledgement that the service has not written yet
/// still shows as pending.
package final class OutboxReader {
    private let files: StoreFiles
    private let connection: SQLiteConnection
    private let rows: StoreRows

    private static let rowsAtOnce = 1000

    /// - Throws: `unusable` when there is no outbox yet, or it is damaged or may not be read; `newerSchema`.
    package init(path: String) throws(OutboxError) {
        guard Self.isThere(path) else {
            throw OutboxError(
                .unusable,
                "\(path): there is no outbox yet; waypost run makes it, and so does replay with --outbox \(path)")
        }
        do throws(StoreError) {
            let files = try withSystem(path, StoreFiles(at: path, for: EffectiveUser.expected(at: path)))
            // Users other than its owner may read it, too.
            if let status = try withSystem(path, FileStatus(at: files.path)) {
                try withSystem(path, FileSystem.requireOwnFile(at: files.path, for: status.owner))
            }
            let connection = try Self.open(files)
            rows = try StoreRows(connection)
            self.files = files
            self.connection = connection
        } catch { throw OutboxError(error, repairsDamage: false) }
    }

    /// Every pending update counted.
    package func summary() throws(OutboxError) -> StoreSummary {
        let bytes = try forTools(
            withSystem(files.path, files.disk.fileSize(at: files.path) + files.disk.fileSize(at: files.log)))
        try forTools(connection.execute("BEGIN"))
        defer { do { try connection.execute("COMMIT") } catch {} }  // it has only read
        let pending = try forTools(rows.countPending(atMost: bytes / StoreFormat.shortestRow))
        return StoreSummary(try forTools(rows.counters(pendingCount: pending)))
    }

    /// Pending updates after `sequence` in order of acceptance, at most 1000 of them; empty at the end.
    package func pending(after sequence: Int64) throws(OutboxError) -> [StoredUpdate] {
        try forTools(rows.oldest(after: sequence, limit: Self.rowsAtOnce)).map(\.stored)
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
        let (updates, damage) = try forTools(rows.readableQuarantined())
        return (updates, damage.map { OutboxError($0, repairsDamage: false) })
    }

    /// Whether there is a file; one that cannot be looked at is there, and opening it says what is wrong.
    private static func isThere(_ path: String) -> Bool {
        do throws(SystemError) { return try FileSystem.entry(at: path) != nil } catch { return true }
    }

    private static func open(_ files: StoreFiles) throws(StoreError) -> SQLiteConnection {
        try withSystem(files.path, files.requireOutbox())
        _ = try StoreHeader(files, at: files.path)
        let hasLog = try withSystem(files.path, files.disk.entry(at: files.log)) != nil
        // Without a log there is no writer; an ordinary opening would leave a log behind, owned by the tool's user.
        let connection = try SQLiteConnection(path: files.path, access: hasLog ? .readOnly : .immutable)
        try StoreSchema.check(connection)
        try connection.execute(StoreFormat.readerSettings)
        return connection
    }
}

/// The ledger of an outbox, with reasons and times.
package struct StoreSummary: Sendable, Hashable {
    package var ledger: Ledger
    package var evictions: Evictions
    /// Updates that Fleet Engine has rejected for good.
    package var quarantined: UpdateTally
    package var newest: StoredUpdate?
    /// The newest update that was delivered.
    package var newestDelivered: StoredUpdate?

    init(_ counters: OutboxCounters) {
        ledger = counters.ledger
        evictions = counters.evictions
        quarantined = counters.quarantined
        newest = counters.newest
        newestDelivered = counters.newestDelivered
    }

    /// Of a ledger of which no more is known than its words.
    package init(_ ledger: Ledger, evictions: Evictions = Evictions()) {
        self.ledger = ledger
        self.evictions = evictions
        quarantined = UpdateTally(count: ledger.quarantined)
    }
}
