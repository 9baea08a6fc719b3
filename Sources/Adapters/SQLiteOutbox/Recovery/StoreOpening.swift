import LinuxPlatform
import Reporting

/// Opens a store for its owner, and checks it before anything is written.
final class StoreOpening {
    private let files: StoreFiles
    private let configuration: OutboxConfiguration
    let counterNote: StoreCount
    private var hasReportedLongLog = false
    private var hasReportedRemovedLog = false
    /// The identity of the open store's log.
    private var log: FileStatus.Identity?
    /// Whether a sync of the log has failed.
    private var isLogDistrusted = false

    /// The size in bytes up to which a store is checked completely at opening, in a few milliseconds. In a larger
    /// store, only the rows that every use depends on are checked at opening; the others are checked when they are
    /// read.
    private static let wholeCheckBytes: Int64 = 1024 * 1024
    /// The maximum span of sequence numbers whose rows are counted at opening; beyond it the ledger's count is used.
    private static let countedSpan: Int64 = 20_000
    /// The number of rows at each end whose checksums are verified.
    private static let probedRows = 64

    init(_ files: StoreFiles, _ configuration: OutboxConfiguration) {
        self.files = files
        self.configuration = configuration
        counterNote = StoreCount(files)
    }

    /// Opens an existing store, and moves its log into the database.
    ///
    /// `known` holds the counters in the owner's memory. If `completes` is true, accepts the updates that are left of a
    /// commit that a power cut interrupted.
    ///
    /// - Throws: `damaged` if quick checks show damage.
    func open(
        known: OutboxCounters, completes: Bool
    ) throws(OutboxError) -> (store: OutboxStore, counters: OutboxCounters) {
        let found = try inspect(known)
        var counters = found.counters
        let store: OutboxStore
        if let examined = found.store {
            store = examined
            isLogDistrusted = false
            store.acceptChanges()
        } else {
            store = try OutboxStore(files)
            guard try load(store) == counters else {
                throw OutboxError(.damaged, path: files.path, .unsteady)
            }
            store.acceptChanges()
            try truncateLog(of: store)
        }
        // The log may be new. SQLite synchronizes the directory with its first sync, but ignores a failure.
        try withSystem(files.path, files.synchronizeDirectory())
        if completes {
            try complete(found.cutOff, in: store, &counters)
            reportOlder(counters)
        }
        log = try withSystem(files.path, files.disk.entry(at: files.log))?.identity
        return (store, counters)
    }

    /// The state of a store whose inspection found no damage.
    private struct Inspection {
        let counters: OutboxCounters
        /// The rows of a commit that a power cut interrupted.
        let cutOff: [UpdateRecord]
        /// The inspected store; `nil` if it had a log, which was read without SQLite.
        let store: OutboxStore?
    }

    /// Inspects the store. If it has a log, the connection isn't kept: reading the files without SQLite releases all
    /// SQLite's locks of this process at the next close (POSIX), and then the next program that opens the store may
    /// remove the log.
    private func inspect(_ known: OutboxCounters) throws(OutboxError) -> Inspection {
        let header = try StoreHeader(files, at: files.path)
        let store = try OutboxStore(files)
        let logBytes = try withSystem(files.path, files.disk.fileSize(at: files.log))
        let pagesInFile = header.fileBytes / StoreFormat.pageSize
        let pagesMissing = try store.pages() - pagesInFile
        if header.fileBytes <= Self.wholeCheckBytes || pagesMissing > logBytes / StoreFormat.pageSize {
            try store.connection.checkStructure()
        }
        let counters = try load(store)
        guard !counters.isOlder(than: known) else {
            throw OutboxError(
                .damaged, path: files.path,
                .earlierCopy(accepted: counters.lastSequence, known: known.lastSequence))
        }
        if logBytes > StoreFormat.maximumLogBytes { checkLogSize() }
        var places = logBytes > 0 ? [files.log] : []
        // An old log may hide later rows of the database.
        if logBytes > 0, header.fileBytes <= Self.wholeCheckBytes { places.append(files.path) }
        let cutOff = try commitCutOff(after: counters, in: places)
        return Inspection(counters: counters, cutOff: cutOff, store: logBytes > 0 ? nil : store)
    }

    /// Reports a store that has been rolled back to an older state, and rewrites the note, so that this is reported
    /// once.
    private func reportOlder(_ counters: OutboxCounters) {
        guard let noted = counterNote.counters, counters.isOlder(than: noted) else { return }
        configuration.reportWarning(
            .olderStore(path: files.path, accepted: counters.lastSequence, previously: noted.lastSequence))
        counterNote.write(counters)
    }

    /// Reports a log that grows because another program keeps it from starting over.
    func checkLogSize() {
        let bytes = (try? files.disk.fileSize(at: files.log)) ?? 0
        let warning = OutboxWarning.longLog(path: files.log, bytes: bytes)
        let isLong = bytes > min(StoreFormat.maximumLogBytes, max(configuration.maximumBytes, 16 << 20))
        if isLong, !hasReportedLongLog { configuration.reportWarning(warning) }
        if !isLong, hasReportedLongLog { configuration.reportWarningEnd(warning) }
        hasReportedLongLog = isLong
    }

    /// Whether the log of the open store has been removed or replaced. In that case a kill would lose the log's
    /// content.
    func isLogRemoved() -> Bool {
        guard let log else { return false }
        do throws(SystemError) { return try files.disk.entry(at: files.log)?.identity != log } catch { return false }
    }

    /// Moves the content of the removed log into the database. Returns whether that succeeded, so that `store` can be
    /// closed; until then only the open store has the content.
    func moveRemovedLog(of store: OutboxStore) -> Bool {
        let warning = OutboxWarning.removedLog(path: files.log)
        if !hasReportedRemovedLog { configuration.reportWarning(warning) }
        hasReportedRemovedLog = true
        do throws(OutboxError) { try store.truncateLog() } catch { return false }
        configuration.reportWarningEnd(warning)
        hasReportedRemovedLog = false
        return true
    }

    /// Records that a sync of the log has failed. Nothing is added to the log until it has been emptied.
    func distrustLog() { isLogDistrusted = true }

    /// Moves the log into the database before anything is added to the log.
    ///
    /// A sync of the log may have failed, now or before a restart. In that case the log's content is only in the
    /// kernel's memory, and no later sync writes it to the disk. Moving it into the database does.
    private func truncateLog(of store: OutboxStore) throws(OutboxError) {
        do throws(OutboxError) { try store.truncateLog() } catch {
            // Without space, or while another program is reading from the log, the log stays.
            guard !isLogDistrusted, error.leavesStoreSound else { throw error }
            if error.code == .busy { try store.transaction {} }  // throws if that program writes
            return
        }
        isLogDistrusted = false
        // If the log's old pages came back after a power cut, they would hide newer ones.
        try withSystem(files.path, files.disk.synchronizeFile(at: files.log))
    }

    private func load(_ store: OutboxStore) throws(OutboxError) -> OutboxCounters {
        let lowest = try store.rows.lowestSequence()
        let span = try store.rows.highestSequence() - lowest
        _ = try store.rows.oldest(limit: Self.probedRows)
        _ = try store.rows.latest(limit: Self.probedRows)
        let counters = try store.rows.counters(
            pendingCount: span <= Self.countedSpan ? store.rows.countPending(atMost: span + 1) : nil)
        guard counters.isPlausible(upTo: OutboxCounters.Limit.opening) else {
            throw OutboxError(.damaged, path: files.path, .ledgerImpossible)
        }
        guard counters.ledger.balances else { throw OutboxError(.damaged, path: files.path, .ledgerMismatch) }
        try store.rows.checkQuarantine(counters)
        return counters
    }

    /// Returns the intact rows of a commit whose end didn't reach the log because of a power cut.
    ///
    /// - Throws: `damaged` if there are rows or a ledger of a later commit. To SQLite a log silently ends at its first
    ///   damaged frame, and everything accepted or delivered later would be lost.
    private func commitCutOff(
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

    /// Accepts the rows of an interrupted commit. If it was the disk that damaged the end of the log, these rows had
    /// already been accepted.
    ///
    /// The rows get consecutive new sequence numbers: updates that never reached the log, or were delivered before they
    /// were written, leave no gap.
    private func complete(
        _ records: [UpdateRecord], in store: OutboxStore, _ counters: inout OutboxCounters
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

    /// The files that may be left after a stop at any moment.
    enum Remains {
        case store
        /// A store that was being built, and nothing else.
        case rebuilt
        /// No files: there has never been a store.
        case nothing
    }

    /// Returns the files that exist. Removes a store that was being built and is incomplete: the store that it should
    /// have replaced is still at its path, or there was none.
    func remains() throws(OutboxError) -> Remains {
        let isMissing = try !exists(files.path)
        let logBytes = try withSystem(files.path, files.disk.fileSize(at: files.log))
        if try exists(files.rebuilt) {
            if isMissing, try withSystem(files.path, files.ownsRebuilt()), try !exists(files.rebuilt + "-wal"),
                // Without a log the rebuilt store is all that is left, sound or not.
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

    /// Whether the rebuilt store is complete and has updates.
    private func isRebuiltSound() throws(OutboxError) -> Bool {
        do throws(OutboxError) { return try retryingDamage(rebuiltLastSequence() > 0) } catch {
            guard error.code == .damaged || error.code == .newerSchema else { throw error }
            return false
        }
    }

    /// Returns the last sequence in the rebuilt store. An empty store is rebuilt again, because it may never have been
    /// synchronized.
    private func rebuiltLastSequence() throws(OutboxError) -> Int64 {
        _ = try StoreHeader(files, at: files.rebuilt)
        let connection = try SQLiteConnection(path: files.rebuilt, access: .immutable, on: files.disk)
        try StoreSchema.check(connection)
        try connection.checkStructure()
        return try StoreRows(connection).counters().lastSequence
    }

    /// Whether the readable part of the rebuilt store has any update.
    private func rebuiltHoldsRecords() throws(OutboxError) -> Bool {
        // The scan skips unreadable blocks. If even the first byte is unreadable, this throws, and opening is tried
        // again later.
        _ = try withSystem(files.path, files.disk.read(1, at: 0, of: files.rebuilt))
        var isAny = false
        try RowScan.scan(path: files.rebuilt, on: files.disk) { row in
            isAny = isAny || LedgerRecord(row).map { $0.counters.lastSequence > 0 } ?? (row.sequence > 0)
        }
        return isAny
    }
}
