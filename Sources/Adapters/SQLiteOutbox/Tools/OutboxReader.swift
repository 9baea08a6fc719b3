import LinuxPlatform
package import Reporting
package import TimeAndRandomness

/// A reader of an outbox for tools, which works whether or not the service is running. It changes nothing, and doesn't
/// affect the service's locks.
///
/// Calls block, and must all come from one thread. A delivered update still counts as pending if the service hasn't
/// written its acknowledgement yet.
package final class OutboxReader {
    private let files: StoreFiles
    private let connection: SQLiteConnection
    private let rows: StoreRows

    private static let rowsAtOnce = 1000

    /// Opens the outbox at `path` for reading.
    ///
    /// - Throws: `missing`, `damaged`, `forbidden`, `newerSchema`, or another reason why the outbox can't be read.
    package init(path: String) throws(OutboxError) {
        guard Self.exists(path) else { throw OutboxError(.missing, path: path) }
        let files = try withSystem(path, StoreFiles(at: path, for: EffectiveUser.expectedOwner(ofFileAt: path)))
        // The user who reads the outbox need not be its owner.
        if let status = try withSystem(path, FileStatus(at: files.path)) {
            try withSystem(path, FileSystem.requireOwnFile(at: files.path, for: status.owner))
        }
        let connection = try Self.open(files)
        rows = try StoreRows(connection)
        self.files = files
        self.connection = connection
    }

    /// Returns the ledger, with the reasons for evictions and the times of updates. Counts the pending updates one by
    /// one.
    package func summary() throws(OutboxError) -> StoreSummary {
        let bytes = try withSystem(
            files.path, files.disk.fileSize(at: files.path) + files.disk.fileSize(at: files.log))
        return try connection.reading { () throws(OutboxError) in
            let pending = try rows.countPending(atMost: bytes / StoreFormat.minimumRowBytes)
            return StoreSummary(try rows.counters(pendingCount: pending))
        }
    }

    /// Returns up to 1000 pending updates whose sequence numbers are higher than `sequence`, in order of acceptance. An
    /// empty array marks the end.
    package func pending(after sequence: Int64) throws(OutboxError) -> [StoredUpdate] {
        try rows.oldest(after: sequence, limit: Self.rowsAtOnce).map(\.stored)
    }

    /// Calls `body` for each pending update, in order of acceptance. Keeps at most 1000 in memory at a time.
    package func forEachPending(_ body: (StoredUpdate) throws -> Void) throws {
        var last: Int64 = 0
        while true {
            let page = try pending(after: last)
            for stored in page { try body(stored) }
            guard let end = page.last else { return }
            last = end.sequence
        }
    }

    /// Returns the latest quarantined updates, in order of acceptance. If some of them can't be read, also returns the
    /// error.
    package func quarantined() throws(OutboxError) -> (updates: [QuarantinedUpdate], damage: OutboxError?) {
        try rows.readableQuarantined()
    }

    /// Whether there is a file at `path`; `true` also if the answer is unknown, because opening the file then reports
    /// the reason.
    private static func exists(_ path: String) -> Bool {
        do throws(SystemError) { return try FileSystem.entry(at: path) != nil } catch { return true }
    }

    private static func open(_ files: StoreFiles) throws(OutboxError) -> SQLiteConnection {
        try files.requireOutbox()
        _ = try StoreHeader(files, at: files.path)
        let hasLog = try withSystem(files.path, files.disk.entry(at: files.log)) != nil
        // Without a log, no process is writing. Opening the database in the normal way would create a log that belongs
        // to the tool's user.
        let connection = try SQLiteConnection(path: files.path, access: hasLog ? .readOnly : .immutable)
        try StoreSchema.check(connection)
        try connection.execute(StoreFormat.readerSettings)
        return connection
    }
}

/// The ledger of an outbox, with the reasons for evictions and the times of updates.
package struct StoreSummary: Sendable, Hashable {
    package var ledger: Ledger
    package var evictions: Evictions
    /// The updates that Fleet Engine has permanently rejected.
    package var quarantined: UpdateTally
    package var newest: StoredUpdate?
    /// The delivered update with the latest time of fix; `nil` if nothing has been delivered.
    package var newestDelivered: StoredUpdate?
    /// The time of the last delivery, according to the host's clock; `nil` if it isn't known.
    package var lastDelivery: UTCTime?

    init(_ counters: OutboxCounters) {
        ledger = counters.ledger
        evictions = counters.evictions
        quarantined = counters.quarantined
        newest = counters.newest
        newestDelivered = counters.newestDelivered
        lastDelivery = counters.lastDelivery
    }

    /// Creates a summary from a ledger, without any times.
    package init(_ ledger: Ledger, evictions: Evictions = Evictions()) {
        self.ledger = ledger
        self.evictions = evictions
        quarantined = UpdateTally(count: ledger.quarantined)
    }
}
