import LinuxPlatform
import Reporting

/// The part of an outbox that opens the store. The store is checked before anything is written to it.
final class StoreOpening {
    private let files: StoreFiles
    private let configuration: OutboxConfiguration
    let counterNote: StoreCount
    private var hasReportedLongLog = false
    private var hasReportedRemovedLog = false
    /// The identity of the open store's write-ahead log; `nil` if no log is open. It shows later whether the log has
    /// been removed or replaced.
    private var log: FileStatus.Identity?
    /// Whether a sync of the log has failed, so that its content may not be on the disk.
    private var isLogDistrusted = false

    /// The maximum size in bytes at which the whole store is checked at opening, which takes a few milliseconds. In a
    /// larger store, only the rows needed for every use are checked then. The other rows are checked when they are
    /// read.
    private static let wholeCheckBytes: Int64 = 1024 * 1024
    /// The maximum range of sequence numbers in which the rows are counted at opening. If the range is larger, the
    /// ledger's count is used.
    private static let countedSpan: Int64 = 20_000
    /// The number of oldest rows whose checksums are verified at opening. The same number of last sequence numbers is
    /// searched for rows to verify.
    private static let probedRows = 64

    init(_ files: StoreFiles, _ configuration: OutboxConfiguration) {
        self.files = files
        self.configuration = configuration
        counterNote = StoreCount(files)
    }

    /// Opens an existing store, and moves the content of its log into the database. Returns the store and its counters.
    ///
    /// `known` contains the counters in the owner's memory. If `completes` is true, the remaining updates of a commit
    /// that a power cut has cut off are accepted.
    ///
    /// - Throws: `damaged` if the store is damaged, as far as quick checks show.
    func open(
        known: OutboxCounters, completes: Bool
    ) throws(OutboxError) -> (store: OutboxStore, counters: OutboxCounters) {
        let found = try inspect(known)
        var counters = found.counters
        let store: OutboxStore
        if let examined = found.store {
            store = examined
            isLogDistrusted = false
            store.checkpointsOnClose = true
        } else {
            store = try OutboxStore(files)
            let reread = try store.connection.reading { () throws(OutboxError) in try loadCounters(of: store) }
            guard reread == counters else {
                throw OutboxError(.damaged, path: files.path, .inconsistentReads)
            }
            store.checkpointsOnClose = true
            try truncateLog(of: store)
        }
        // The log may be a new file. SQLite syncs the directory when it first syncs the log, but ignores an error of
        // the directory's sync.
        try withSystem(files.path, files.synchronizeDirectory())
        if completes {
            try accept(found.cutOffRows, in: store, updating: &counters)
            reportIfOlderThanNote(counters)
        }
        log = try withSystem(files.path, files.disk.entry(at: files.log))?.identity
        return (store, counters)
    }

    /// The result of inspecting a store that isn't damaged.
    private struct Inspection {
        let counters: OutboxCounters
        /// The intact rows of a commit that a power cut has cut off.
        let cutOffRows: [UpdateRecord]
        /// The open store; `nil` if the store must be opened again because its log was read without SQLite.
        let store: OutboxStore?
    }

    /// Inspects the store. Doesn't return the connection if there is a log, because the files are then read without
    /// SQLite. When they are closed, this process loses all SQLite's locks on them (POSIX). The next program that opens
    /// the store may then remove the log.
    private func inspect(_ known: OutboxCounters) throws(OutboxError) -> Inspection {
        let header = try StoreHeader(files, at: files.path)
        let store = try OutboxStore(files)
        let logBytes = try withSystem(files.path, files.disk.fileSize(at: files.log))
        let pagesInFile = header.fileBytes / StoreFormat.pageSize
        let counters = try store.connection.reading { () throws(OutboxError) in
            let pagesMissing = try store.countPages() - pagesInFile
            if header.fileBytes <= Self.wholeCheckBytes || pagesMissing > logBytes / StoreFormat.pageSize {
                try store.connection.checkStructure()
            }
            return try loadCounters(of: store)
        }
        guard !counters.isOlder(than: known) else {
            throw OutboxError(
                .damaged, path: files.path,
                .earlierCopy(accepted: counters.lastSequence, known: known.lastSequence))
        }
        if logBytes > StoreFormat.maximumLogBytes { checkSize(ofLog: logBytes) }
        var places = logBytes > 0 ? [files.log] : []
        // Rows of a later commit may be in the database, where an older log hides them.
        if logBytes > 0, header.fileBytes <= Self.wholeCheckBytes { places.append(files.path) }
        let cutOffRows = try rowsOfCutOffCommit(after: counters, in: places)
        return Inspection(counters: counters, cutOffRows: cutOffRows, store: logBytes > 0 ? nil : store)
    }

    /// Reports that the store is in an older state than its note. Then rewrites the note, so that this is reported only
    /// once.
    private func reportIfOlderThanNote(_ counters: OutboxCounters) {
        guard let noted = counterNote.counters, counters.isOlder(than: noted) else { return }
        configuration.reportWarning(
            .olderStore(path: files.path, accepted: counters.lastSequence, previously: noted.lastSequence))
        counterNote.write(counters)
    }

    /// Reports a log that has grown too long, because another program keeps it from starting over. Also reports when
    /// the log is short enough again.
    private func checkSize(ofLog bytes: Int64) {
        let warning = OutboxWarning.longLog(path: files.log, bytes: bytes)
        let isLong = bytes > min(StoreFormat.maximumLogBytes, max(configuration.maximumBytes, 16 << 20))
        if isLong, !hasReportedLongLog { configuration.reportWarning(warning) }
        if !isLong, hasReportedLongLog { configuration.reportWarningEnd(warning) }
        hasReportedLongLog = isLong
    }

    /// Checks the size of the open store's log, and reports a log that is too long. Returns `false` if the log has been
    /// removed or replaced; if the process were killed then, the log's content would be lost.
    func checkLog() -> Bool {
        let status: FileStatus?
        do throws(SystemError) { status = try files.disk.entry(at: files.log) } catch { return true }
        if let log, status?.identity != log { return false }
        checkSize(ofLog: status?.bytes ?? 0)
        return true
    }

    /// Moves the content of the removed log into the database. Returns whether the move succeeded. Until it does,
    /// `store` must stay open, because only its connection still has the content.
    func moveRemovedLog(of store: OutboxStore) -> Bool {
        var isMoved = true
        do throws(OutboxError) { try store.truncateLog() } catch { isMoved = false }
        if isMoved || !hasReportedRemovedLog {
            configuration.reportWarning(.removedLog(path: files.log, isRescued: isMoved))
        }
        hasReportedRemovedLog = !isMoved
        return isMoved
    }

    /// Records that a sync of the log has failed. From now on, nothing is added to the log until it has been emptied.
    func distrustLog() { isLogDistrusted = true }

    /// Moves the log's content into the database, before anything is added to the log.
    ///
    /// A sync of the log may have failed, now or before a restart. In that case the content is only in the kernel's
    /// memory, and later syncs of the log don't write it to the disk. It reaches the disk when it is moved into the
    /// database.
    private func truncateLog(of store: OutboxStore) throws(OutboxError) {
        do throws(OutboxError) { try store.truncateLog() } catch {
            // The log may stay if there is no space, or while another program is reading from it. It must not stay if a
            // sync of it has failed.
            guard !isLogDistrusted, error.leavesStoreSound else { throw error }
            if error.code == .busy { try store.transaction {} }  // throws if the other program is writing
            return
        }
        isLogDistrusted = false
        // The emptied log must be synchronised. Otherwise its old pages might come back after a power cut, and hide
        // newer ones in the database.
        try withSystem(files.path, files.disk.synchronizeFile(at: files.log))
    }

    private func loadCounters(of store: OutboxStore) throws(OutboxError) -> OutboxCounters {
        let lowest = try store.rows.lowestSequence()
        let highest = try store.rows.highestSequence()
        let span = highest - lowest
        _ = try store.rows.oldest(limit: Self.probedRows)
        _ = try store.rows.oldest(after: highest - Int64(Self.probedRows), limit: Self.probedRows)
        let counters = try store.rows.counters(
            pendingCount: span <= Self.countedSpan ? store.rows.countPending(atMost: span + 1) : nil)
        guard counters.isPlausible(upTo: OutboxCounters.Limit.opening) else {
            throw OutboxError(.damaged, path: files.path, .ledgerImpossible)
        }
        guard counters.ledger.balances else { throw OutboxError(.damaged, path: files.path, .ledgerMismatch) }
        try store.rows.checkQuarantine(counters)
        return counters
    }

    /// Returns the intact rows of a commit that a power cut has cut off, because its end never reached the log.
    ///
    /// - Throws: `damaged` if there are rows or a ledger of an even later commit. SQLite ends the log silently at the
    ///   first damaged frame, so everything accepted or delivered after that would be lost.
    private func rowsOfCutOffCommit(
        after counters: OutboxCounters, in places: [String]
    ) throws(OutboxError) -> [UpdateRecord] {
        let lastSequence = counters.lastSequence
        let end = lastSequence + Int64(configuration.durability.maximumCommit)
        var hidden: [Int64: UpdateRecord] = [:]
        var last = lastSequence
        var revision = counters.revision
        for path in places {
            try RowScan.scan(path: path, on: files.disk, upTo: StoreFormat.maximumLogBytes) { row in
                if let copy = LedgerRecord(row), StoreSalvage.trusts(copy.counters) {
                    revision = max(revision, copy.counters.revision)
                }
                guard let record = UpdateRecord(row), row.sequence > lastSequence else { return }
                last = max(last, row.sequence)
                if last <= end { hidden[row.sequence] = record }
            }
        }
        if revision > counters.revision + 1 {
            throw OutboxError(.damaged, path: files.log, .logEndsBeforeRevision(revision))
        }
        if last > end { throw OutboxError(.damaged, path: files.log, .logEndsBeforeUpdate(last)) }
        return hidden.values.sorted { $0.stored.sequence < $1.stored.sequence }
    }

    /// Accepts the rows of a commit that was cut off. The power cut may have come before the updates were accepted. If
    /// the disk damaged the end of the log instead, they had been accepted already.
    ///
    /// The rows get new, consecutive sequence numbers. So there are no gaps for updates that never reached the log, or
    /// that were delivered before they were written.
    private func accept(
        _ records: [UpdateRecord], in store: OutboxStore, updating counters: inout OutboxCounters
    ) throws(OutboxError) {
        guard !records.isEmpty else { return }
        var next = counters
        try store.transaction { () throws(OutboxError) in
            for record in records {
                let accepted = next.accept(record.stored.update)
                try store.insert(UpdateRecord(accepted, isShapePoint: record.isShapePoint))
            }
            if !next.isLastNewest { try store.write(&next) }
        }
        counters = next
    }

    /// The files that a process may leave behind, whenever it stops.
    enum Remains {
        case store
        /// A rebuilt store that can take the place of the missing one.
        case rebuilt
        /// No files, because there has never been a store.
        case nothing
    }

    /// Returns which files were left behind. Removes a rebuilt store that is incomplete. The store that it was meant to
    /// replace is still at its path, or there was none.
    func findRemains() throws(OutboxError) -> Remains {
        let isMissing = try !exists(files.path)
        let logBytes = try withSystem(files.path, files.disk.fileSize(at: files.log))
        if try exists(files.rebuilt) {
            if isMissing, try withSystem(files.path, files.ownsRebuilt()), try !exists(files.rebuilt + "-wal"),
                // If the damaged store's log is gone too, only the rebuilt store is left. So it is used even if it is
                // damaged.
                try logBytes == 0 ? rebuiltHoldsRecords() : isRebuiltSound()
            {
                return .rebuilt
            }
            try withSystem(files.path, files.removeRebuilt())
        }
        return isMissing && logBytes == 0 ? .nothing : .store
    }

    private func exists(_ path: String) throws(OutboxError) -> Bool {
        try withSystem(files.path, files.disk.entry(at: path)) != nil
    }

    /// Whether the rebuilt store is undamaged and has accepted at least one update.
    private func isRebuiltSound() throws(OutboxError) -> Bool {
        do throws(OutboxError) { return try retryingDamage(rebuiltLastSequence() > 0) } catch {
            guard error.code == .damaged || error.code == .newerSchema else { throw error }
            return false
        }
    }

    /// Returns the last sequence number in the rebuilt store. The caller builds the store again if it is 0, because an
    /// empty store may never have been synchronised.
    private func rebuiltLastSequence() throws(OutboxError) -> Int64 {
        _ = try StoreHeader(files, at: files.rebuilt)
        let connection = try SQLiteConnection(path: files.rebuilt, access: .immutable, on: files.disk)
        try StoreSchema.check(connection)
        try connection.checkStructure()
        return try StoreRows(connection).counters().lastSequence
    }

    /// Whether there is any trace of an update in the readable part of the rebuilt store.
    private func rebuiltHoldsRecords() throws(OutboxError) -> Bool {
        // The scan skips blocks that can't be read. If even the first byte can't be read, this read throws, and the
        // store is opened later.
        _ = try withSystem(files.path, files.disk.read(1, at: 0, of: files.rebuilt))
        var hasRecords = false
        try RowScan.scan(path: files.rebuilt, on: files.disk) { row in
            hasRecords = hasRecords || LedgerRecord(row).map { $0.counters.lastSequence > 0 } ?? (row.sequence > 0)
        }
        return hasRecords
    }
}
