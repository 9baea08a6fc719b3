import Glibc
package import LinuxPlatform
package import ReportedText
package import Reporting
package import TimeAndRandomness

/// The outbox on disk. It uses SQLite on a dedicated thread, and belongs to one process at a time.
///
/// By default, an update is accepted once SQLite has committed it to the disk. With `OutboxDurability.economy`, it is
/// accepted as soon as it is waiting for the next commit.
///
/// The acknowledgement of a live update and its shape points is written in the same commit as the next update. So each
/// live update costs one commit. After a crash in between, one delivery is repeated.
package actor SQLiteOutbox: Outbox {
    private enum State {
        case open(OutboxEngine)
        /// The last attempt to open the outbox has failed. `triedAt` is the time of that attempt, by
        /// `OutboxConfiguration.uptime`.
        case failed(OutboxError, triedAt: Duration)
        case closed
    }

    private let executor: any SerialExecutor
    private let configuration: OutboxConfiguration
    private var state = State.closed

    /// The minimum time between two attempts to open an outbox. After `damagedAgain`, `OutboxEngine.repairInterval`
    /// applies instead.
    private static let retryInterval = Duration.seconds(2)

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Opens the outbox and returns it. Creates it and its directory if they don't exist. Replaces a damaged outbox and
    /// calls `configuration.reportRecovery`.
    ///
    /// `executor` must use a dedicated thread, because calls to the outbox block.
    package static func open(
        _ configuration: OutboxConfiguration, on executor: any SerialExecutor = ThreadExecutor(named: "outbox")
    ) async throws(OutboxError) -> SQLiteOutbox {
        let outbox = SQLiteOutbox(configuration, on: executor)
        try await outbox.open()
        return outbox
    }

    /// Creates an outbox that stays closed until `open` is called.
    package init(
        _ configuration: OutboxConfiguration, on executor: any SerialExecutor = ThreadExecutor(named: "outbox")
    ) {
        self.configuration = configuration
        self.executor = executor
    }

    /// Opens the outbox, like the static function `open`. If that fails, for example because the disk is full or
    /// read-only, later calls try again. They throw the reason until the outbox can be opened.
    package func open() throws(OutboxError) {
        do throws(OutboxError) {
            let engine = try OutboxEngine(configuration)
            try configuration.checkLedger(engine.ledger())
            state = .open(engine)
        } catch {
            state = .failed(error, triedAt: configuration.uptime())
            throw error
        }
    }

    package func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate], overrulingEarlier: Bool, next: BatchRequest?
    ) async throws(OutboxError) -> AppendResult {
        let engine = try openEngine()
        let stored = try engine.append(update, with: shapePoints, overrulingEarlier: overrulingEarlier)
        // The update has been accepted, so an error of reading isn't thrown here. The caller gets it at the next call
        // of `next`.
        return AppendResult(stored, next: next.flatMap { try? engine.next($0, after: stored, with: shapePoints) })
    }

    package func nextUpload(for request: BatchRequest) async throws(OutboxError) -> NextUpload {
        try openEngine().next(request)
    }

    package func acknowledge(
        _ batch: UploadBatch, next: BatchRequest
    ) async throws(OutboxError) -> NextUpload {
        let engine = try openEngine()
        try engine.acknowledge(batch)
        if let empty = engine.nextIfNothingIsPending { return empty }
        return try engine.next(next)
    }

    package func quarantine(_ update: StoredUpdate, reason: ReportedText) async throws(OutboxError) {
        try openEngine().quarantine(update, reason: reason)
    }

    package func ledger() async throws(OutboxError) -> Ledger { try openEngine().ledger() }

    /// Returns the ledger, with the reasons for evictions and the times of updates.
    package func summary() async throws(OutboxError) -> StoreSummary { try openEngine().summary() }

    /// Returns the outbox's size on the disk, and the time of its oldest pending update.
    package func extent() async throws(OutboxError) -> StoreExtent { try openEngine().extent() }

    package static var maintenanceInterval: Duration { OutboxEngine.maintenanceInterval }

    /// Does the periodic work: writes what is due, and carries out the tools' requests. Returns a summary, and whether
    /// any update has become pending again.
    package func maintain() async throws(OutboxError) -> (summary: StoreSummary, hasRequeued: Bool) {
        let engine = try openEngine()
        let hasRequeued = try engine.maintain()
        return (try engine.summary(), hasRequeued)
    }

    /// Empties the write-ahead log, which still contains the positions of delivered updates. Returns `false` if another
    /// program is reading from the log.
    package func truncateLog() async throws(OutboxError) -> Bool { try openEngine().truncateLog() }

    /// Carries out `request`, which requeues or discards quarantined updates, and returns the answer.
    package func carryOut(_ request: QuarantineRequest) async throws(OutboxError) -> QuarantineAnswer {
        try openEngine().carryOut(request)
    }

    /// Closes the outbox and releases its lock. Does nothing if it is closed already. After that, any other call
    /// throws.
    package func close() async throws(OutboxError) {
        if case .open(let engine) = state { try engine.close() }
        state = .closed
    }

    private func openEngine() throws(OutboxError) -> OutboxEngine {
        if case .failed(let error, let triedAt) = state {
            let interval = error.code == .damagedAgain ? OutboxEngine.repairInterval : Self.retryInterval
            guard configuration.uptime() - triedAt >= interval else { throw error }
            try open()
        }
        guard case .open(let engine) = state else { throw OutboxError(.closed, path: configuration.path) }
        return engine
    }
}

/// The size of an outbox on the disk, and the time of its oldest pending update.
package struct StoreExtent: Sendable, Hashable {
    /// The size of the database, its log and the reserve, in bytes.
    package let bytes: Int64
    /// The number of bytes of the database that are in use. `maximumBytes` limits this number.
    package let usedBytes: Int64
    package let maximumBytes: Int64
    /// The number of bytes that this user can still write to the file system of the outbox; `nil` if unknown.
    package let freeDiskBytes: Int64?
    /// The time of fix of the first accepted update that is still pending; `nil` if none is pending.
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

package struct OutboxConfiguration: Sendable {
    /// The path of the database. The paths of all other files begin with it.
    package var path: String
    /// The limit on the database's bytes in use, near which pending updates are evicted. It is at least 64 KiB.
    package var maximumBytes: Int64
    /// The maximum difference between the newest time of fix and that of a pending update; `nil` for no limit. Older
    /// updates are evicted.
    package var maximumAge: Duration?
    package var durability = OutboxDurability.full
    /// Whether a damaged outbox is replaced. A tool must leave the replacement to the service, which owns the files.
    package var repairsDamage = true
    /// A function that returns the time since a fixed moment. It is used to time commits and attempts to reopen the
    /// store.
    package var uptime: @Sendable () -> Duration = { MonotonicTime.now }
    /// A function that returns the current time of day, which is used for the time of the last delivery
    /// and in the names of damaged files.
    package var now: @Sendable () -> UTCTime = { .system }
    /// A function that is called on the outbox's thread after a damaged outbox has been replaced.
    package var reportRecovery: @Sendable (OutboxRecovery) -> Void = { _ in }
    /// A function that is called on the outbox's thread once when a warning begins.
    package var reportWarning: @Sendable (OutboxWarning) -> Void = { _ in }
    /// A function that is called on the outbox's thread when a warning ends. Only the case of the warning matters, not
    /// its values.
    package var reportWarningEnd: @Sendable (OutboxWarning) -> Void = { _ in }
    /// A function that is called on the outbox's thread whenever the outbox is opened, with its ledger. If it throws,
    /// the outbox stays closed.
    package var checkLedger: @Sendable (Ledger) throws(OutboxError) -> Void = { _ in }
    /// The disk on which all files of the outbox are stored.
    package var disk: any StoreDisk = SystemDisk()

    /// The suffixes that are added to the database's path to form the paths of the outbox's files.
    package static let fileSuffixes = [
        "", "-wal", "-shm", "-journal", ".lock", ".reserve", ".count", ".rebuilt", ".rebuilt-wal", ".rebuilt-shm",
    ]

    package init(path: String, maximumBytes: Int64) {
        self.path = path
        self.maximumBytes = max(maximumBytes, 64 * 1024)
    }

    /// Makes sure that `user` can own the outbox, and that no unrelated file is at its path. Checks only what the
    /// directory and the files show, and changes nothing.
    package func requireOwnFiles(for user: UInt32) throws(OutboxError) {
        let files = try withSystem(path, StoreFiles(at: path, on: disk, for: user))
        try files.requireOwnFiles(for: user)
        try files.requireOutbox()
    }

    /// Returns the process that owns the outbox at `path`. Returns `nil` if there is none, or if this user isn't
    /// allowed to see it. May block.
    package static func owner(ofOutboxAt path: String) -> HoldingProcess? {
        FileLock.holder(at: lockPath(forOutbox: path))
    }

    /// Returns the directory or lock file that this user can't read, although finding the owner of the outbox at `path`
    /// requires it. Returns `nil` if there is none.
    package static func accessObstacle(toOwnerOfOutboxAt path: String) -> String? {
        let lock = lockPath(forOutbox: path)
        do throws(SystemError) {
            guard let entry = try FileStatus(at: lock), entry.kind == .file, !FileSystem.isAllowed(.read, at: lock)
            else {
                return nil
            }
        } catch { return error.number == EACCES ? FileSystem.closedDirectory(above: lock) : nil }
        return lock
    }

    private static func lockPath(forOutbox path: String) -> String { FileSystem.destination(of: path) + ".lock" }
}
