import LinuxPlatform
import LocationReporting

/// Opening always ends with a store that works, or says why the disk does not let it.
extension OutboxEngine {
    /// A store up to this size is checked whole at opening, in a few milliseconds; of a larger one the places are
    /// looked at that every use depends on, and the rest is checked as it is read.
    private static let wholeCheckBytes: Int64 = 1024 * 1024
    /// Rows whose span is at most this are counted at opening; with more the ledger's count is carried on.
    private static let countedSpan: Int64 = 20_000
    /// Rows at each end whose checksums are looked at.
    private static let probedRows = 64
    /// Damaged stores that are kept.
    private static let keptDamaged = 3

    func openStore() throws(StoreError) {
        try withReserve { () throws(StoreError) in
            if try needsFirstStore() {
                try StoreBuilder.build(files) { _ in OutboxAccount() }
                try withSystem(files.path) { () throws(SystemError) in try files.adoptRebuilt() }
            }
            do throws(StoreError) { try openExisting() } catch {
                guard error.kind == .damaged, configuration.repairsDamage else { throw error }
                try rescue(reason: error.reason, known: nil)
                try openExisting()
            }
        }
    }

    /// Replaces a store that turned out damaged while it was in use; the account in memory is better than any on disk.
    func rescue(reason: String) throws(StoreError) {
        let known = store == nil ? nil : account
        try withReserve { () throws(StoreError) in
            try rescue(reason: reason, known: known)
            try openExisting()
        }
    }

    private func rescue(reason: String, known: OutboxAccount?) throws(StoreError) {
        store?.refuseChanges()
        store = nil
        let result = try StoreSalvage(files: files, known: known).build()
        let setAside = try withSystem(files.path) { () throws(SystemError) in
            let name = try files.setAside(at: configuration.now())
            try files.adoptRebuilt()
            try files.removeDamaged(exceptNewest: Self.keptDamaged)
            return name
        }
        configuration.reportRecovery(
            StoreRecovery(
                path: files.path, reason: reason, setAside: setAside, salvaged: result.salvaged,
                lost: result.lost, foundLedger: result.foundLedger))
    }

    /// Whether there has never been a store here. Ends a replacement that a power cut interrupted.
    private func needsFirstStore() throws(StoreError) -> Bool {
        try withSystem(files.path) { () throws(SystemError) in
            let isMissing = try files.disk.entry(at: files.path) == nil
            guard try files.disk.entry(at: files.rebuilt) != nil else {
                guard isMissing else { return false }
                return try files.disk.fileSize(at: files.log) == 0
            }
            if isMissing, try files.disk.entry(at: files.rebuilt + "-wal") == nil {
                _ = try files.setAside(at: configuration.now())  // the log, should it still be there
                try files.adoptRebuilt()
            } else {
                // Half made: what it was made from is still in its place.
                for suffix in ["", "-wal", "-shm"] { try files.disk.removeFile(at: files.rebuilt + suffix) }
            }
            return false
        }
    }

    /// - Throws: `damaged` when the store is not what was written, as far as can be told in a short time.
    private func openExisting() throws(StoreError) {
        let header = try StoreHeader(path: files.path, on: files.disk)
        guard header.version <= StoreFormat.version else {
            throw StoreError(
                .newerSchema, path: files.path, reason: "schema \(header.version), known up to \(StoreFormat.version)")
        }
        let opened = try OutboxStore(files, pageLimit: configuration.pageLimit)
        let logBytes = try withSystem(files.path) { () throws(SystemError) in try files.disk.fileSize(at: files.log) }
        let pagesInFile = header.fileBytes / StoreFormat.pageSize
        let pagesMissing = try opened.pages() - pagesInFile
        if header.fileBytes <= Self.wholeCheckBytes || pagesMissing > logBytes / StoreFormat.pageSize {
            try opened.check()
        }
        var loaded = try Self.load(opened, files)
        if logBytes > 0 { try refuseHiddenRows(after: loaded.lastSequence) }
        opened.acceptChanges()
        try opened.migrate(&loaded)
        store = opened
        // A commit that failed may have reached the disk all the same: those are not gathered any more.
        gathered.removeFirst(Int(max(0, loaded.lastSequence - account.lastSequence)))
        account = loaded
        for sequence in unwritten.keys where sequence <= account.lastSequence {
            if try !opened.rows.isPending(sequence) { unwritten[sequence] = nil }
        }
    }

    private static func load(_ store: OutboxStore, _ files: StoreFiles) throws(StoreError) -> OutboxAccount {
        let lowest = try store.rows.lowestSequence()
        let span = try store.rows.highestSequence() - lowest
        _ = try store.rows.oldest(limit: probedRows)
        _ = try store.rows.latest(limit: probedRows)
        let account = try store.rows.account(pendingCount: span <= countedSpan ? store.rows.countPending() : nil)
        guard account.ledger.balances else {
            throw StoreError(.damaged, path: files.path, reason: "rows are missing: the ledger does not balance")
        }
        return account
    }

    /// A log with a damaged frame ends there for SQLite, silently, and so does what was accepted after it.
    private func refuseHiddenRows(after lastSequence: Int64) throws(StoreError) {
        var hidden: Int64 = 0
        try RecordScan.scan(path: files.log, on: files.disk) { found in
            if case .update(let record, _) = found { hidden = max(hidden, record.stored.sequence) }
        }
        if hidden > lastSequence {
            throw StoreError(
                .damaged, path: files.log, reason: "its write-ahead log is damaged before update \(hidden)")
        }
    }
}
