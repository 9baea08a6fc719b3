import Glibc
package import LinuxPlatform
package import ReportedText
package import Reporting
package import TimeAndChance

/// The outbox on disk: SQLite on a dedicated thread, used by one process at a time.
///
/// An update is accepted once SQLite has committed it to the disk; with `OutboxDurability.economy`, as soon as it is
/// waiting for the commit of its window. The acknowledgement of a live update and its shape points is written by the
/// commit of the next append, so that each live update costs one commit. After a crash in between, one delivery is
/// repeated.
package actor SQLiteOutbox: Outbox {
    private enum State {
        case open(OutboxEngine)
        /// Opening has failed; `triedAt` is the `OutboxConfiguration.uptime` of the last attempt.
        case failed(OutboxError, triedAt: Duration)
        case closed
    }

    private let executor: any SerialExecutor
    private let configuration: OutboxConfiguration
    private var state = State.closed

    /// The minimum time between two attempts to open an outbox. If the outbox was damaged again after a repair,
    /// `OutboxEngine.repairInterval` applies instead.
    private static let retryInterval = Duration.seconds(2)

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Opens the outbox. If it doesn't exist, creates it and its directory. If it is damaged, replaces it and calls
    /// `configuration.reportRecovery`.
    ///
    /// The outbox's calls block, so `executor` needs a dedicated thread.
    package static func open(
        _ configuration: OutboxConfiguration, on executor: any SerialExecutor = ThreadExecutor(named: "outbox")
    ) async throws(OutboxError) -> SQLiteOutbox {
        let outbox = SQLiteOutbox(configuration, on: executor)
        try await outbox.open()
        return outbox
    }

    /// Creates an outbox that is closed until `open` is called.
    package init(
        _ configuration: OutboxConfiguration, on executor: any SerialExecutor = ThreadExecutor(named: "outbox")
    ) {
        self.configuration = configuration
        self.executor = executor
    }

    /// Opens the outbox, as the static function does. If opening fails, for example because the disk is full or
    /// read-only, later calls throw the reason until they can open the outbox.
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
        // The update is accepted even if reading fails: the caller gets that error when it reads again.
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

    /// Returns the ledger with reasons and times.
    package func summary() async throws(OutboxError) -> StoreSummary { try opened().summary() }

    /// Returns the outbox's size on the disk, and the age of its backlog.
    package func extent() async throws(OutboxError) -> StoreExtent { try opened().extent() }

    package static var maintenanceInterval: Duration { OutboxEngine.maintenanceInterval }

    /// Does the periodic work: writes what is due, and carries out the requests of tools. Returns whether that made any
    /// update pending again.
    package func maintain() async throws(OutboxError) -> Bool { try opened().maintain() }

    /// Empties the write-ahead log, which still contains delivered updates. Returns `false` if another program is
    /// reading from the log.
    package func truncateLog() async throws(OutboxError) -> Bool { try opened().truncateLog() }

    /// Requeues or discards quarantined updates.
    package func carryOut(_ request: QuarantineRequest) async throws(OutboxError) -> QuarantineAnswer {
        try opened().carryOut(request)
    }

    /// Closes the outbox and releases its lock. Closing twice isn't an error; any other call after closing is.
    package func close() async throws(OutboxError) {
        if case .open(let engine) = state { try engine.close() }
        state = .closed
    }

    private func opened() throws(OutboxError) -> OutboxEngine {
        if case .failed(let error, let triedAt) = state {
            let interval = error.code == .damagedAgain ? OutboxEngine.repairInterval : Self.retryInterval
            guard configuration.uptime() - triedAt >= interval else { throw error }
            try open()
        }
        guard case .open(let engine) = state else { throw OutboxError(.closed, path: configuration.path) }
        return engine
    }
}

/// The size of an outbox on the disk, and the age of its backlog.
package struct StoreExtent: Sendable, Hashable {
    /// The bytes of the database, its log and the reserve.
    package let bytes: Int64
    /// The bytes of the database that are in use, which `maximumBytes` limits.
    package let usedBytes: Int64
    package let maximumBytes: Int64
    /// The number of bytes that this user can still write to the file system; `nil` if unknown.
    package let freeDiskBytes: Int64?
    /// The time of fix of the pending update that was accepted first; `nil` if none is pending.
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

/// The settings of an outbox.
package struct OutboxConfiguration: Sendable {
    /// The path of the database. The names of the other files begin with it.
    package var path: String
    /// The number of bytes in use above which pending updates are evicted; at least 64 KiB.
    package var maximumBytes: Int64
    /// The maximum age of pending updates, relative to the newest time of fix; `nil` for no limit. Older ones are
    /// evicted.
    package var maximumAge: Duration?
    package var durability = OutboxDurability.full
    /// Whether a damaged outbox is replaced. Tools leave that to the service, which owns the files.
    package var repairsDamage = true
    /// Returns the time since a fixed moment, for the window of `durability`.
    package var uptime: @Sendable () -> Duration = { MonotonicTime.now }
    /// Returns the current time, for the names of damaged files.
    package var now: @Sendable () -> UTCTime = { .system }
    /// Called on the outbox's thread after a damaged outbox has been replaced.
    package var reportRecovery: @Sendable (OutboxRecovery) -> Void = { _ in }
    /// Called on the outbox's thread once at the beginning of each warning.
    package var reportWarning: @Sendable (OutboxWarning) -> Void = { _ in }
    /// Called on the outbox's thread at the end of a warning. Only the warning's case matters.
    package var reportWarningEnd: @Sendable (OutboxWarning) -> Void = { _ in }
    /// Called on the outbox's thread at each opening. If it throws, the outbox stays closed.
    package var admit: @Sendable (Ledger) throws(OutboxError) -> Void = { _ in }
    /// The disk that contains all files.
    package var disk: any StoreDisk = SystemDisk()

    /// The suffixes of the outbox's files, which follow the name of the database.
    package static let fileSuffixes = [
        "", "-wal", "-shm", "-journal", ".lock", ".reserve", ".count", ".rebuilt", ".rebuilt-wal", ".rebuilt-shm",
    ]

    package init(path: String, maximumBytes: Int64) {
        self.path = path
        self.maximumBytes = max(maximumBytes, 64 * 1024)
    }

    /// Makes sure that `user` can own the outbox, as far as its directory shows, and that no unrelated file is at its
    /// path. Changes nothing.
    package func requireOwnFiles(for user: UInt32) throws(OutboxError) {
        let files = try withSystem(path, StoreFiles(at: path, on: disk, for: user))
        try files.requireOwn(for: user)
        try files.requireOutbox()
    }

    /// Returns the process that owns the outbox at `path`; `nil` if there is none, or if this user can't see it. May
    /// block.
    package static func owner(ofOutboxAt path: String) -> HoldingProcess? {
        FileLock.holder(at: lockPath(forOutbox: path))
    }

    /// Returns the directory or lock that keeps this user from seeing which process owns the outbox at `path`; `nil` if
    /// nothing does.
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
