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

    /// Updates that one commit can hold.
    private var longestCommit: Int { configuration.durability.window?.updates ?? 1 }

    func openStore() throws(StoreError) {
        try withSystem(files.path) { () throws(SystemError) in try files.requireOwn(for: EffectiveUser.current) }
        try withReserve { () throws(StoreError) in
            try ownership?.hold()
            if try needsFirstStore() {
                try StoreBuilder.build(files, for: ownership) { _ in OutboxAccount() }
                try adoptRebuilt()
            }
            do throws(StoreError) { try lookTwice(openExisting) } catch {
                guard error.kind == .damaged, configuration.repairsDamage else { throw error }
                try rescue(reason: error.reason)
            }
        }
    }

    /// Replaces a damaged store.
    func rescue(reason: String) throws(StoreError) {
        try rescueFiles(reason: reason)
        try afterRepair { () throws(StoreError) in
            try withReserve { () throws(StoreError) in try lookTwice(openExisting) }
        }
    }

    /// Runs `body` on a store that has just been repaired: once more would not help if it is damaged again.
    func afterRepair<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        do throws(StoreError) { return try body() } catch {
            guard error.kind == .damaged else { throw error }
            throw StoreError(.damagedAgain, path: error.path, reason: error.reason)
        }
    }

    /// Runs `body` once more when it meets damage: what is read wrongly may be read rightly the next time.
    func lookTwice<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        do throws(StoreError) { return try body() } catch {
            guard error.kind == .damaged else { throw error }
            distrustStore()
            return try body()
        }
    }

    /// Step by step: on a disk that is full then, none is done again that was done.
    private func rescueFiles(reason: String) throws(StoreError) {
        distrustStore()
        try ownership?.hold()
        // What the store has said once, and is in memory since, is better than any account on the disk.
        let isBelieved = StoreSalvage.believes(account)
        let known = account.lastSequence > 0 && isBelieved ? account : nil
        let salvage = StoreSalvage(
            files: files, ownership: ownership, known: known,
            delivered: Set(unwritten.keys.filter { $0 <= account.lastSequence }),
            longestCommit: longestCommit)
        let result = try withReserve { () throws(StoreError) in try lookTwice(salvage.build) }
        let setAside = try withReserve { () throws(StoreError) in
            try withSystem(files.path) { () throws(SystemError) in try files.setAside(at: configuration.now()) }
        }
        try withReserve { () throws(StoreError) in
            try adoptRebuilt()
            try withSystem(files.path) { () throws(SystemError) in
                try files.removeDamaged(exceptNewest: Self.keptDamaged)
            }
        }
        // No number of before means anything any more: what was acknowledged under one is sent again.
        if !isBelieved { (account, unwritten) = (result.account, [:]) }
        configuration.reportRecovery(
            StoreRecovery(
                path: files.path, reason: reason, setAside: setAside, salvaged: result.salvaged,
                lost: result.lost, foundLedger: result.foundLedger))
    }

    private func adoptRebuilt() throws(StoreError) {
        try withSystem(files.path) { () throws(SystemError) in try files.adoptRebuilt() }
        ownership?.adoptRebuilt()
    }

    /// Whether there has never been a store here. Ends a replacement that a power cut interrupted.
    private func needsFirstStore() throws(StoreError) -> Bool {
        func bytes(_ path: String) throws(StoreError) -> Int64? {
            try withSystem(files.path) { () throws(SystemError) in
                try files.disk.entry(at: path) == nil ? nil : files.disk.fileSize(at: path)
            }
        }
        let isMissing = try bytes(files.path) == nil
        let logBytes = try bytes(files.log) ?? 0
        if try bytes(files.rebuilt) != nil {
            var isToBeKept = false
            let isFile = try withSystem(files.path) { () throws(SystemError) in try files.isRebuiltThere() }
            if isMissing, isFile, try bytes(files.rebuilt + "-wal") == nil {
                // Without a log, what the rebuilt store holds is all that is left, sound or not.
                isToBeKept = logBytes == 0 ? try holdsRecords() : try isRebuiltSound()
            }
            if isToBeKept {
                try withSystem(files.path) { () throws(SystemError) in
                    _ = try files.setAside(at: configuration.now())  // the log, should it still be there
                }
                try adoptRebuilt()
                return false
            }
            try withSystem(files.path) { () throws(SystemError) in
                // Half made: what it was made from is still in its place, or there was nothing.
                for suffix in ["", "-wal", "-shm"] { try files.disk.removeFile(at: files.rebuilt + suffix) }
            }
        }
        return isMissing && logBytes == 0
    }

    /// Whether the store that was being made is whole; one that was made from a damaged store and stands alone is.
    private func isRebuiltSound() throws(StoreError) -> Bool {
        do throws(StoreError) {
            return try lookTwice { () throws(StoreError) in
                _ = try StoreHeader(path: files.rebuilt, on: files.disk)
                let connection = try SQLiteConnection(path: files.rebuilt, access: .immutable, on: files.disk)
                _ = try StoreSchema.version(of: connection)
                guard try connection.text("PRAGMA quick_check(1)") == "ok" else {
                    throw StoreError(.damaged, path: files.rebuilt, reason: "it is not complete")
                }
                // An empty one is sooner made again than believed: it may never have been synchronized.
                return try StoreRows(connection).account().lastSequence > 0
            }
        } catch {
            guard error.kind == .damaged || error.kind == .newerSchema else { throw error }
            return false
        }
    }

    /// Whether the store that was being made knows of any update, as far as its file can be read.
    private func holdsRecords() throws(StoreError) -> Bool {
        // The scan passes over what cannot be read; where nothing can, it is too early to tell.
        _ = try withSystem(files.path) { () throws(SystemError) in try files.disk.read(1, at: 0, of: files.rebuilt) }
        var isAny = false
        try RecordScan.scan(path: files.rebuilt, on: files.disk) { found in
            switch found {
            case .update, .quarantined: isAny = true
            case .ledger(let ledger): isAny = isAny || ledger.account.lastSequence > 0
            }
        }
        return isAny
    }

    /// - Throws: `damaged` as `examine` does.
    private func openExisting() throws(StoreError) {
        var found = try examine()
        let opened = try OutboxStore(files, pageLimit: configuration.pageLimit)
        guard try Self.load(opened, files) == found.account else {
            throw StoreError(.damaged, path: files.path, reason: "it is read differently each time")
        }
        opened.acceptChanges()
        if found.hasLog { try emptyLog(of: opened) }
        // The log may be new. SQLite synchronizes the folder with its first sync, and does not mind when that fails.
        try withSystem(files.path) { () throws(SystemError) in
            try files.disk.synchronizeFolder(at: FileSystem.parent(of: files.path))
        }
        try opened.migrate(&found.account)
        // Where the process has gone on, they are in memory still.
        if gathered.isEmpty { try complete(found.cutOff, in: opened, &found.account) }
        // A commit that failed may have reached the disk all the same: those are not gathered any more.
        gathered.removeFirst(Int(max(0, found.account.lastSequence - account.lastSequence)))
        account = found.account
        for sequence in unwritten.keys where sequence <= account.lastSequence {
            if try !opened.rows.isPending(sequence) { unwritten[sequence] = nil }
        }
        store = opened
    }

    /// What the files of a store say, and whether they are sound.
    private struct Examined {
        var account: OutboxAccount
        /// Rows of a commit that the power cut off.
        let cutOff: [UpdateRecord]
        let hasLog: Bool
    }

    /// Looks at the store through a connection of its own, which goes before the one that stays is opened: whoever
    /// reads the file beside SQLite, takes all locks of the process from it when it is closed (POSIX), and the log can
    /// be removed by the next program that opens the store.
    ///
    /// - Throws: `damaged` when the store is not what was written, as far as can be told in a short time.
    private func examine() throws(StoreError) -> Examined {
        let header = try StoreHeader(path: files.path, on: files.disk)
        let opened = try OutboxStore(files, pageLimit: configuration.pageLimit)
        let logBytes = try withSystem(files.path) { () throws(SystemError) in try files.disk.fileSize(at: files.log) }
        let pagesInFile = header.fileBytes / StoreFormat.pageSize
        let pagesMissing = try opened.pages() - pagesInFile
        if header.fileBytes <= Self.wholeCheckBytes || pagesMissing > logBytes / StoreFormat.pageSize {
            try opened.check()
        }
        let loaded = try Self.load(opened, files)
        guard !loaded.isOlder(than: account) else {
            throw StoreError(
                .damaged, path: files.path,
                reason: "it is of an earlier time: update \(loaded.lastSequence), after update \(account.lastSequence)")
        }
        if logBytes > StoreFormat.longestLog { tellLongLog(logBytes) }
        var places = logBytes > 0 ? [files.log] : []
        // The log may be of an earlier time than the database, and lie over what came later.
        if logBytes > 0, header.fileBytes <= Self.wholeCheckBytes { places.append(files.path) }
        let cutOff = try commitCutOff(after: loaded.lastSequence, in: places)
        return Examined(account: loaded, cutOff: cutOff, hasLog: logBytes > 0)
    }

    /// Once: the next opening finds it emptied, unless a program that reads it keeps it as it is.
    private func tellLongLog(_ bytes: Int64) {
        if !isLongLogTold {
            configuration.reportWarning(
                "\(files.log) has \(bytes) bytes, far more than the outbox writes; what lies beyond the first "
                    + "\(StoreFormat.longestLog >> 20) MiB is not searched for updates")
        }
        isLongLogTold = true
    }

    /// Puts what a log holds into the database before anything is added to it.
    ///
    /// The log may be one whose sync has failed, now or before a restart: then it is read from memory, is not on the
    /// disk, and no sync will bring it there. Written to another place it is.
    private func emptyLog(of opened: OutboxStore) throws(StoreError) {
        do throws(StoreError) { try opened.emptyLog() } catch {
            // There is no room to move it: it stays where it is.
            guard error.kind == .full, !error.isFailedSync else { throw error }
            return
        }
        // Should its old pages come back after a power cut, they would lie over newer ones.
        try withSystem(files.path) { () throws(SystemError) in try files.disk.synchronizeFile(at: files.log) }
    }

    /// Lets go of a store that has failed: what it holds is looked at again before it is used.
    func distrustStore() {
        store?.refuseChanges()
        store = nil
    }

    private static func load(_ store: OutboxStore, _ files: StoreFiles) throws(StoreError) -> OutboxAccount {
        let lowest = try store.rows.lowestSequence()
        let span = try store.rows.highestSequence() - lowest
        _ = try store.rows.oldest(limit: probedRows)
        _ = try store.rows.latest(limit: probedRows)
        let account = try store.rows.account(
            pendingCount: span <= countedSpan ? store.rows.countPending(atMost: span + 1) : nil)
        guard account.isPlausible(upTo: OutboxAccount.Limit.opening) else {
            throw StoreError(.damaged, path: files.path, reason: "its ledger has numbers that no vehicle comes to")
        }
        guard account.ledger.balances else {
            throw StoreError(.damaged, path: files.path, reason: "rows are missing: the ledger does not balance")
        }
        try store.rows.checkQuarantine(account)
        return account
    }

    /// The rows of the commit during which the power went that reached the log in one piece, when its end did not.
    ///
    /// - Throws: `damaged` when there are rows of a later one: a log with a damaged frame ends there for SQLite,
    ///   silently, and so does what was accepted after it.
    private func commitCutOff(
        after lastSequence: Int64, in places: [String]
    ) throws(StoreError) -> [UpdateRecord] {
        var hidden: [Int64: UpdateRecord] = [:]
        var last = lastSequence
        for path in places {
            try RecordScan.scan(path: path, on: files.disk, upTo: StoreFormat.longestLog) { found in
                guard case .update(let record, _) = found, record.stored.sequence > lastSequence else { return }
                last = max(last, record.stored.sequence)
                if last <= lastSequence + Int64(longestCommit) { hidden[record.stored.sequence] = record }
            }
        }
        if last > lastSequence + Int64(longestCommit) {
            throw StoreError(.damaged, path: files.log, reason: "its write-ahead log does not lead to update \(last)")
        }
        return hidden.values.sorted { $0.stored.sequence < $1.stored.sequence }
    }

    /// Accepts them after all: should they be promised ones, on a disk that damaged the end of the log, they are safe.
    ///
    /// They move up over those between them that did not reach the log, or were delivered before they cost a row.
    private func complete(
        _ records: [UpdateRecord], in store: OutboxStore, _ account: inout OutboxAccount
    ) throws(StoreError) {
        guard !records.isEmpty else { return }
        var next = account
        try store.transaction { () throws(StoreError) in
            for record in records {
                let isNewest = record.newestSequence == record.stored.sequence
                let accepted = next.accept(record.stored.update, overrulingEarlier: isNewest)
                let newest = next.newest?.sequence ?? accepted.sequence
                try store.insert(UpdateRecord(accepted, newestSequence: newest))
            }
        }
        account = next
    }
}
