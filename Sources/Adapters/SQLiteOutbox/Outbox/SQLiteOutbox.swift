import Glibc
package import LinuxPlatform
package import ReportedText
package import Reporting
package import TimeAndChance

/// The outbox on disk: SQLite on a thread of its own, one process at a time.
///
/// An update counts when SQLite has put its commit on the disk, or with economic durability when it waits for the
/// commit of a stated window. Acknowledgements of live updates and their shape points are written by the commit of the
/// next append, so that one commit a live update is all; a crash in between repeats one delivery.
/// `docs/architecture.md` has the whole; `StoreSchema` the form of the file.
package actor SQLiteOutbox: Outbox {
    private enum State {
        case open(OutboxEngine)
        /// It could not be opened yet, and was last tried then, on the clock of `OutboxConfiguration.uptime`.
        case failed(OutboxError, triedAt: Duration)
        case closed
    }

    private let executor: any SerialExecutor
    private let configuration: OutboxConfiguration
    private var state = State.closed

    /// An outbox that cannot be opened is tried again at the first call after this time; one that is damaged again
    /// after its repair, after the engine's interval.
    private static let retryInterval = Duration.seconds(2)

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Opens the outbox, creates it with its folder when there is none, replaces it when it is damaged (which
    /// `configuration.reportRecovery` reports).
    ///
    /// Its calls block, so that `executor` needs a thread of its own.
    ///
    /// - Throws: `locked`, `full`, `newerSchema`, or `unusable`.
    package static func open(
        _ configuration: OutboxConfiguration, on executor: any SerialExecutor = ThreadExecutor(named: "outbox")
    ) async throws(OutboxError) -> SQLiteOutbox {
        let outbox = SQLiteOutbox(configuration, on: executor)
        try await outbox.open()
        return outbox
    }

    /// An outbox that is closed until `open` is called.
    package init(
        _ configuration: OutboxConfiguration, on executor: any SerialExecutor = ThreadExecutor(named: "outbox")
    ) {
        self.configuration = configuration
        self.executor = executor
    }

    /// Opens the outbox, as the static function does. When that fails (the disk is full, read-only or failing), the
    /// other calls throw the reason, and open it as soon as they can.
    package func open() throws(OutboxError) {
        do throws(OutboxError) {
            let engine = try OutboxEngine(configuration)
            try configuration.admit(engine.ledger())
            state = .open(engine)
        } catch {
            state = .failed(error, triedAt: configuration.uptime())
            throw error
        }
    }

    package func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate], overrulingEarlier: Bool, next: BatchRequest?
    ) async throws(OutboxError) -> AppendedUpdate {
        let engine = try opened()
        let stored = try engine.append(update, with: shapePoints, overrulingEarlier: overrulingEarlier)
        // The update is accepted, whatever reading says; the caller meets that again when it asks.
        return AppendedUpdate(stored, next: next.flatMap { try? engine.next($0, after: stored, with: shapePoints) })
    }

    package func next(_ request: BatchRequest) async throws(OutboxError) -> NextUpload { try opened().next(request) }

    package func acknowledge(
        _ batch: UploadBatch, next: BatchRequest
    ) async throws(OutboxError) -> NextUpload {
        let engine = try opened()
        try engine.acknowledge(batch)
        if let empty = engine.nextIfNothingIsPending { return empty }
        return try engine.next(next)
    }

    package func quarantine(_ update: StoredUpdate, reason: ReportedText) async throws(OutboxError) {
        try opened().quarantine(update, reason: reason)
    }

    package func ledger() async throws(OutboxError) -> Ledger { try opened().ledger() }

    /// The ledger with reasons and times.
    package func summary() async throws(OutboxError) -> StoreSummary { try opened().summary() }

    /// What it takes on the disk, and since when something waits in it.
    package func extent() async throws(OutboxError) -> StoreExtent { try opened().extent() }

    package static var maintenanceInterval: Duration { OutboxEngine.maintenanceInterval }

    /// Writes what has waited long enough, carries out what tools have asked for; whether anything is pending again.
    package func maintain() async throws(OutboxError) -> Bool { try opened().maintain() }

    /// Empties the write-ahead log, in which updates outlive their delivery. Returns whether that was possible: not
    /// while another program reads from the log.
    package func emptyLog() async throws(OutboxError) -> Bool { try opened().emptyLog() }

    /// Does with quarantined updates what an operator wants.
    package func carryOut(_ request: QuarantineRequest) async throws(OutboxError) -> QuarantineAnswer {
        try opened().carryOut(request)
    }

    /// Releases the lock as well; closing twice is no error, every other call afterwards is.
    package func close() async throws(OutboxError) {
        if case .open(let engine) = state { try engine.close() }
        state = .closed
    }

    private func opened() throws(OutboxError) -> OutboxEngine {
        if case .failed(let error, let triedAt) = state {
            let interval = error.code == .damaged ? OutboxEngine.repairInterval : Self.retryInterval
            guard configuration.uptime() - triedAt >= interval else { throw error }
            try open()
        }
        guard case .open(let engine) = state else {
            throw OutboxError(.closed, "the outbox has been closed; nothing is accepted any more")
        }
        return engine
    }
}

/// What an outbox takes on the disk, and since when something waits in it.
package struct StoreExtent: Sendable, Hashable {
    /// The database, its log and the reserve.
    package let bytes: Int64
    /// The part of the database in use, which `maximumBytes` limits.
    package let usedBytes: Int64
    package let maximumBytes: Int64
    /// What this user may still write there; `nil` where the file system does not say.
    package let freeDiskBytes: Int64?
    /// The time of fix of the pending update that was accepted first; `nil` while none is pending.
    package let oldestPending: UTCTime?

    package init(
        bytes: Int64, usedBytes: Int64, maximumBytes: Int64, freeDiskBytes: Int64?, oldestPending: UTCTime?
    ) {
        self.bytes = bytes
        self.usedBytes = usedBytes
        self.maximumBytes = maximumBytes
        self.freeDiskBytes = freeDiskBytes
        self.oldestPending = oldestPending
    }
}

/// What an outbox is set up to do.
package struct OutboxConfiguration: Sendable {
    /// The database; other files lie beside it under names that begin with this one.
    package var path: String
    /// Bytes of the database in use above which pending updates give way; at least 64 KiB.
    package var maximumBytes: Int64
    /// Pending updates so much older than the newest, by their times of fix, are evicted; `nil`: none is too old.
    package var maximumAge: Duration?
    package var durability = OutboxDurability.full
    /// Whether a damaged outbox is replaced. A tool leaves that to the service, whose files these are.
    package var repairsDamage = true
    /// Time since any moment, for the window of `durability`.
    package var uptime: @Sendable () -> Duration = { MonotonicTime.now }
    /// Names damaged files that are renamed.
    package var now: @Sendable () -> UTCTime = { .system }
    /// Called on the outbox's thread when a damaged outbox has been replaced, at opening or later.
    package var reportRecovery: @Sendable (StoreRecovery) -> Void = { _ in }
    /// Called on the outbox's thread, once, with what an operator should know although updates are stored.
    package var reportWarning: @Sendable (OutboxWarning, String) -> Void = { _, _ in }
    /// Called on the outbox's thread when that is over.
    package var reportWarningEnd: @Sendable (OutboxWarning, String) -> Void = { _, _ in }
    /// Asked on the outbox's thread at each opening, with what is in it; what it throws keeps the outbox closed.
    package var admit: @Sendable (Ledger) throws(OutboxError) -> Void = { _ in }
    /// Where all of it lies.
    package var disk: any StoreDisk = SystemDisk()

    /// What follows the name of the database in those of the files beside it.
    package static let companions = [
        "", "-wal", "-shm", "-journal", ".lock", ".reserve", ".count", ".rebuilt", ".rebuilt-wal", ".rebuilt-shm",
    ]

    package init(path: String, maximumBytes: Int64) {
        self.path = path
        self.maximumBytes = max(maximumBytes, 64 * 1024)
    }

    /// Makes sure that `user` can own the outbox, as far as can be seen from its folder, and that nothing else lies in
    /// its place; touches nothing.
    package func requireOwnFiles(for user: UInt32) throws(SystemError) {
        let files = try StoreFiles(at: path, on: disk, for: user)
        try files.requireOwn(for: user)
        try files.requireOutbox()
    }

    /// The process that has the outbox at `path`, as far as this user is shown it. May block.
    package static func owner(ofOutboxAt path: String) -> HoldingProcess? {
        FileLock.holder(at: lock(besideOutbox: path))
    }

    /// What keeps this user from seeing who has the outbox at `path`: a folder or the lock that is closed to him.
    package static func veil(overOwnerOfOutboxAt path: String) -> String? {
        let lock = lock(besideOutbox: path)
        do throws(SystemError) {
            guard let entry = try FileStatus(at: lock), entry.kind == .file, !FileSystem.isAllowed(.read, at: lock)
            else {
                return nil
            }
        } catch { return error.number == EACCES ? FileSystem.closedFolder(above: lock) : nil }
        return lock
    }

    private static func lock(besideOutbox path: String) -> String { FileSystem.destination(of: path) + ".lock" }
}
