import LinuxPlatform
import Reporting

/// Opens the store for its owner, and checks it before anything is written.
final class StoreOpening {
    private let files: StoreFiles
    private let configuration: OutboxConfiguration
    private let count: StoreCount
    private var hasReportedLongLog = false
    private var hasReportedRemovedLog = false
    /// The log that the open store writes to.
    private var log: FileStatus.Identity?
    /// Whether a sync of the log has failed.
    private var isLogDistrusted = false

    /// A store up to this size is checked whole at opening, in a few milliseconds; of a larger one the places
    /// are checked that every use depends on, and the rest as it is read.
    private static let wholeCheckBytes: Int64 = 1024 * 1024
    /// Rows whose span is at most this are counted at opening; with more the ledger's count is carried on.
    private static let countedSpan: Int64 = 20_000
    /// Rows at each end whose checksums are verified.
    private static let probedRows = 64

    init(_ files: StoreFiles, _ configuration: OutboxConfiguration, _ count: StoreCount) {
        self.files = files
        self.configuration = configuration
        self.count = count
    }

    /// Opens a store that exists, and puts what its log holds into the database. `known` is what the owner has in
    /// memory; with `completes`, what a power cut has left of the last commit is accepted after all.
    ///
    /// - Throws: `damaged` when the store is not what was written, as far as can be told in a short time.
    func open(
        known: OutboxCounters, completes: Bool
    ) throws(OutboxError) -> (store: OutboxStore, counters: OutboxCounters) {
        let found = try examine(known)
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
            try emptyLog(of: store)
        }
        // The log may be new. SQLite synchronizes the folder with its first sync, and does not mind when that fails.
        try withSystem(files.path, files.synchronizeFolder())
        if completes {
            try complete(found.cutOff, in: store, &counters)
            reportOlder(counters)
        }
        log = try withSystem(files.path, files.disk.entry(at: files.log))?.identity
        return (store, counters)
    }

    /// What the files of a store say, and whether they are sound.
    private struct Examined {
        let counters: OutboxCounters
        /// Rows of a commit that the power cut off.
        let cutOff: [UpdateRecord]
        /// The store that was looked at; `nil` when there was a log, which was read beside SQLite.
        let store: OutboxStore?
    }

    /// Looks at the store. With a log this is done through a connection of its own, which goes before the one that
    /// stays is opened: whoever reads the file beside SQLite takes all locks of the process from it when it is closed
    /// (POSIX), and the log can be removed by the next program that opens the store.
    private func examine(_ known: OutboxCounters) throws(OutboxError) -> Examined {
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
        var places = logBytes > 0 ? [files.log] : []
        // The log may be of an earlier time than the database, and lie over what came later.
        if logBytes > 0, header.fileBytes <= Self.wholeCheckBytes { places.append(files.path) }
        let cutOff = try commitCutOff(after: counters, in: places)
        return Examined(counters: counters, cutOff: cutOff, store: logBytes > 0 ? nil : store)
    }

    /// Reports a store that is older than it was, once: the note is written again.
    private func reportOlder(_ counters: OutboxCounters) {
        guard let noted = count.counters, counters.isOlder(than: noted) else { return }
        configuration.reportWarning(
            .olderStore(path: files.path, accepted: counters.lastSequence, previously: noted.lastSequence))
        count.note(counters)
    }

    /// Reports a log that another program keeps from starting over, and so from being bounded.
    func watchLog() {
        let bytes = (try? files.disk.fileSize(at: files.log)) ?? 0
        let warning = OutboxWarning.longLog(path: files.log, bytes: bytes)
        let isLong = bytes > min(StoreFormat.maximumLogBytes, max(configuration.maximumBytes, 16 << 20))
        if isLong, !hasReportedLongLog { configuration.reportWarning(warning) }
        if !isLong, hasReportedLongLog { configuration.reportWarningEnd(warning) }
        hasReportedLongLog = isLong
    }

    /// Whether the log of the open store is no longer at its path: a kill would lose what SQLite has written to it.
    func isLogRemoved() -> Bool {
        guard let log else { return false }
        do throws(SystemError) { return try files.disk.entry(at: files.log)?.identity != log } catch { return false }
    }

    /// Puts the content of the removed log into the database. Returns whether that is complete and `store` can be
    /// closed; if not, only the open store has it.
    func moveRemovedLog(of store: OutboxStore) -> Bool {
        let warning = OutboxWarning.removedLog(path: files.log)
        if !hasReportedRemovedLog { configuration.reportWarning(warning) }
        hasReportedRemovedLog = true
        do throws(OutboxError) { try store.emptyLog() } catch { return false }
        configuration.reportWarningEnd(warning)
        hasReportedRemovedLog = false
        return true
    }

    /// Notes that a sync of the log may have failed: nothing is added to it until it has been emptied.
    func distrustLog() { isLogDistrusted = true }

    /// Puts what a log holds into the database before anything is added to it.
    ///
    /// The log may be one whose sync has failed, now or before a restart: then it is read from memory, is not on the
    /// disk, and no sync will bring it there. Written to another place it is.
    private func emptyLog(of store: OutboxStore) throws(OutboxError) {
        do throws(OutboxError) { try store.emptyLog() } catch {
            // There is no room to move it, or another program reads it: it stays where it is.
            guard !isLogDistrusted, error.leavesStoreSound else { throw error }
            if error.code == .busy { try store.transaction {} }  // throws if that program writes
            return
        }
        isLogDistrusted = false
        // Should its old pages come back after a power cut, they would lie over newer ones.
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

    /// The rows of the commit during which the power went that reached the log in one piece, when its end did not.
    ///
    /// - Throws: `damaged` when there are rows or a ledger of a later one: a log with a damaged frame ends there for
    ///   SQLite, silently, and so does what was accepted or delivered after it.
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

    /// Accepts them after all: should they be promised ones, on a disk that damaged the end of the log, they are safe.
    ///
    /// They move up over those between them that did not reach the log, or were delivered before they cost a row.
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

    /// What a stop at any moment may have left.
    enum Remains {
        case store
        /// A store in the making, which is all that is left.
        case rebuilt
        /// There has never been a store here.
        case nothing
    }

    /// What there is to be opened. Removes a store that is only half made: what it was made from is still in its place,
    /// or there was nothing.
    func remains() throws(OutboxError) -> Remains {
        let isMissing = try !isThere(files.path)
        let logBytes = try withSystem(files.path, files.disk.fileSize(at: files.log))
        if try isThere(files.rebuilt) {
            if isMissing, try withSystem(files.path, files.isRebuiltThere()), try !isThere(files.rebuilt + "-wal"),
                // Without a log, what the rebuilt store holds is all that is left, sound or not.
                try logBytes == 0 ? rebuiltHoldsRecords() : isRebuiltSound()
            {
                return .rebuilt
            }
            try withSystem(files.path, files.removeRebuilt())
        }
        return isMissing && logBytes == 0 ? .nothing : .store
    }

    private func isThere(_ path: String) throws(OutboxError) -> Bool {
        try withSystem(files.path, files.disk.entry(at: path)) != nil
    }

    /// Whether the store that was being made is whole; one that was made from a damaged store and stands alone is.
    private func isRebuiltSound() throws(OutboxError) -> Bool {
        do throws(OutboxError) { return try retryingDamage(rebuiltLastSequence() > 0) } catch {
            guard error.code == .damaged || error.code == .newerSchema else { throw error }
            return false
        }
    }

    /// An empty one is sooner made again than trusted: it may never have been synchronized.
    private func rebuiltLastSequence() throws(OutboxError) -> Int64 {
        _ = try StoreHeader(files, at: files.rebuilt)
        let connection = try SQLiteConnection(path: files.rebuilt, access: .immutable, on: files.disk)
        try StoreSchema.check(connection)
        try connection.checkStructure()
        return try StoreRows(connection).counters().lastSequence
    }

    /// Whether the store that was being made knows of any update, as far as its file can be read.
    private func rebuiltHoldsRecords() throws(OutboxError) -> Bool {
        // The scan passes over what cannot be read; where nothing can, it is too early to tell.
        _ = try withSystem(files.path, files.disk.read(1, at: 0, of: files.rebuilt))
        var isAny = false
        try RowScan.scan(path: files.rebuilt, on: files.disk) { row in
            isAny = isAny || LedgerRecord(row).map { $0.counters.lastSequence > 0 } ?? (row.sequence > 0)
        }
        return isAny
    }
}
