import LinuxPlatform
import ReportedText
import Reporting
import TimeAndRandomness

/// The outbox itself, with synchronous methods that must be called on one thread. `SQLiteOutbox` calls them on a
/// dedicated thread.
///
/// Each operation computes the new counters and writes them in one transaction with the rows. Only then do they become
/// current, so `counters` is the state on the disk. `group` and `unwritten` haven't been written yet.
final class OutboxEngine {
    private let configuration: OutboxConfiguration
    private let files: StoreFiles
    private let reserve: DiskReserve
    private let opening: StoreOpening
    private var eviction: Eviction
    /// The locks on the store; `nil` once the outbox is closed.
    private var ownership: StoreOwnership?
    /// The open store; `nil` after an error that leaves the connection in doubt. The next call reopens and checks it.
    var store: OutboxStore?
    private(set) var counters = OutboxCounters()
    private var hasBeenOpen = false
    /// The accepted updates that haven't been written yet. With full durability, it is empty between calls.
    private var group = GroupCommit()
    /// The delivered updates whose acknowledgement hasn't been written yet. They are live updates, and updates whose
    /// acknowledgement couldn't be written because of a full disk or a lock.
    private(set) var unwritten: [Int64: StoredUpdate] = [:]
    /// The time of the last delivery in this run, which is written with its acknowledgement; `nil` before the first.
    private var lastDelivery: UTCTime?
    private var failedAppend = FailedAppend()
    /// The sequence numbers of the last two accepted live updates, each with the numbers of its shape points.
    private var recentAppends: [ClosedRange<Int64>] = []
    private var isClosed: Bool { ownership == nil }
    /// The error that every call throws after a failed repair, and the time until which they throw it; `nil` unless a
    /// repair has just failed. The repair isn't tried again sooner, because it writes the whole store.
    private var repairPause: (error: OutboxError, end: Duration)?

    /// The number of recent updates among which the newest is searched: they are accepted nearly in order of time.
    static let newestSearchLimit = 4096
    static let maintenanceInterval = Duration.seconds(2)
    /// The number of unwritten acknowledgements at which the outbox stops sending and accepting updates, until it has
    /// written them. The last batch may exceed this number by up to 501.
    private static let unwrittenLimit = 1000
    /// The time for which a store isn't used after it was found damaged again right after a repair.
    static let repairInterval = Duration.seconds(600)
    private static let keptDamaged = 3

    init(_ configuration: OutboxConfiguration) throws(OutboxError) {
        self.configuration = configuration
        files = try withSystem(
            configuration.path, StoreFiles(at: configuration.path, on: configuration.disk, missing: .allowed))
        reserve = DiskReserve(files, configuration)
        opening = StoreOpening(files, configuration)
        eviction = Eviction(maximumBytes: configuration.maximumBytes, maximumAge: configuration.maximumAge)
        ownership = try StoreOwnership(files, reserve)
        try openStore()
        do { try reserve.createIfMissing() } catch {}  // the first append reports a full disk instead
    }

    deinit {
        // There is no caller to report an error to. At worst, a delivery is repeated after the next start.
        do {
            try writeAll()
            try ownership?.verify()
        } catch { invalidateStore() }
        store = nil  // the store must be closed before its locks are released
    }

    func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate] = [], overrulingEarlier: Bool = false
    ) throws(OutboxError) -> StoredUpdate {
        try perform { store throws(OutboxError) in
            var all = shapePoints.map {
                GroupCommit.Element(update: $0, overrulesEarlier: false, isShapePoint: true)
            }
            all.append(
                GroupCommit.Element(update: update, overrulesEarlier: overrulingEarlier, isShapePoint: false))
            let found = failedAppend.storedUpdates(among: all.map(\.update))
            let new = Array(all.dropFirst(found.count))
            group.append(new, at: configuration.uptime())
            let next = counters.lastSequence + Int64(group.count)
            let sequence = new.isEmpty ? found.last?.sequence ?? next : next
            let stored = StoredUpdate(sequence: sequence, update: update)
            do throws(OutboxError) {
                if isCommitDue {
                    try reserve.createIfMissing()
                    try commit(store)
                }
            } catch {
                group.removeLast(new.count)  // earlier updates in the group stay accepted
                failedAppend.updates = new.map(\.update)
                throw error
            }
            failedAppend = FailedAppend()
            recentAppends = recentAppends.suffix(1) + [stored.sequence - Int64(shapePoints.count)...stored.sequence]
            return stored
        }
    }

    func acknowledge(_ batch: UploadBatch) throws(OutboxError) {
        try perform { store throws(OutboxError) in
            try store.connection.reading { () throws(OutboxError) in
                for one in batch.pending where try isPending(one.sequence, in: store) { unwritten[one.sequence] = one }
            }
            lastDelivery = configuration.now()
            // The acknowledgement of a live update and its shape points is written by the next commit. The
            // acknowledgement of a backlog is written at once, because that frees space.
            let onDisk = unwritten.keys.filter { $0 <= counters.lastSequence }
            if onDisk.count <= 1 || recentAppends.contains(where: { onDisk.allSatisfy($0.contains) }) { return }
            do throws(OutboxError) {
                try reserve.useIfNeeded(for: commit(store))
                try store.compactIfNearlyEmpty()
            } catch {
                // The acknowledgements stay in memory, too, because the commit may not have reached the disk.
                if !error.leavesStoreSound { throw error }
            }
        }
    }

    func quarantine(_ update: StoredUpdate, reason: ReportedText) throws(OutboxError) {
        try perform { store throws(OutboxError) in
            guard unwritten[update.sequence] == nil else { return }
            try commitChanges(to: store) { next throws(OutboxError) in
                guard let record = try store.rows.pending(update.sequence) else { return }
                let stored = record.stored
                _ = try store.remove(stored.sequence)
                next.quarantine(stored)
                if next.newest?.sequence == stored.sequence {
                    next.newest = try store.rows.latest(limit: Self.newestSearchLimit)
                        .reduce(next.newestDelivered) { OutboxCounters.newer($0, $1.stored) }
                }
                try store.insert(
                    QuarantinedUpdate(stored: stored, reason: reason, isShapePoint: record.isShapePoint))
                try store.write(&next)
            }
        }
    }

    /// Does the work that is due every `maintenanceInterval`. Returns whether any update has become pending again.
    func maintain() throws(OutboxError) -> Bool {
        let isLogMoved = try perform { store throws(OutboxError) in
            if opening.checkLog() { return false }
            try ownership?.verify()
            return opening.moveRemovedLog(of: store)
        }
        // The next call opens the store again, with a new log.
        if isLogMoved { store = nil }
        return try perform { store throws(OutboxError) in
            if isCommitDue { try reserve.useIfNeeded(for: commit(store)) }
            opening.counterNote.writeOncePerLog(counters)
            return try handleRequests(store)
        }
    }

    /// Writes all unwritten updates and acknowledgements. Then empties the write-ahead log, which still contains the
    /// positions of delivered updates. Returns `false` if another program is reading from the log.
    func truncateLog() throws(OutboxError) -> Bool {
        try perform { store throws(OutboxError) in
            try writeAll()
            try ownership?.verify()
            do throws(OutboxError) { try store.truncateLog() } catch {
                guard error.code == .busy else { throw error }
                return false
            }
            return true
        }
    }

    /// Closes the outbox. Does nothing if it is closed already.
    func close() throws(OutboxError) {
        if isClosed { return }
        try perform { _ throws(OutboxError) in
            try writeAll()
            try ownership?.verify()  // because closing moves the log into the database and removes the log file
        }
        store = nil
        opening.counterNote.write(counters)
        ownership = nil
    }

    /// Runs a transaction, after checking that this process still owns the store.
    private func transaction(
        on store: OutboxStore, _ body: () throws(OutboxError) -> Void
    ) throws(OutboxError) {
        try ownership?.verify()
        try store.transaction(body)
    }

    /// Writes the accepted updates. Then changes rows and counters in one transaction.
    func commitChanges(
        to store: OutboxStore, _ body: (inout OutboxCounters) throws(OutboxError) -> Void
    ) throws(OutboxError) {
        func attempt() throws(OutboxError) {
            if !group.isEmpty { try commit(store) }
            var next = counters
            try transaction(on: store) { () throws(OutboxError) in try body(&next) }
            counters = next
        }
        try reserve.useIfNeeded(for: attempt())
    }

    /// Runs `body` on the open store, and returns its result. If `body` reports damage in two attempts, repairs the
    /// store and runs `body` again. If the repaired store is damaged too, it isn't used for `repairInterval`.
    func perform<Result>(
        _ body: (OutboxStore) throws(OutboxError) -> Result
    ) throws(OutboxError) -> Result {
        guard !isClosed else { throw OutboxError(.closed, path: files.path) }
        if let repairPause, configuration.uptime() < repairPause.end { throw repairPause.error }
        do throws(OutboxError) {
            do throws(OutboxError) { return try retryingDamage(attempt(body)) } catch {
                guard error.code == .damaged, configuration.repairsDamage else { throw error }
                try repair(error.cause)
                return try afterRepair(attempt(body))
            }
        } catch {
            if error.isFailedSync { opening.distrustLog() }
            if !error.leavesStoreSound { invalidateStore() }
            if error.code == .damagedAgain { repairPause = (error, configuration.uptime() + Self.repairInterval) }
            throw error
        }
    }

    /// Opens the store if necessary, runs `body` on it, and returns the result. If `body` reports damage, closes the
    /// store.
    private func attempt<Result>(
        _ body: (OutboxStore) throws(OutboxError) -> Result
    ) throws(OutboxError) -> Result {
        if store == nil { try openStore() }
        guard let store else { throw OutboxError(.unusable, path: files.path) }
        do throws(OutboxError) { return try body(store) } catch {
            if error.code == .damaged { invalidateStore() }
            throw error
        }
    }
}

/// Methods that open and repair the store, or throw the reason why the disk doesn't allow it.
extension OutboxEngine {
    private func openStore() throws(OutboxError) {
        try files.requireOwnFiles(for: EffectiveUser.current)
        try reserve.useIfNeeded(for: openOrCreateStore())
    }

    private func openOrCreateStore() throws(OutboxError) {
        try ownership?.lockStores()
        switch try opening.findRemains() {
        case .store: break
        case .rebuilt:
            // The log of the damaged store may still be there.
            _ = try withSystem(files.path, files.renameDamaged(at: configuration.now()))
            try adoptRebuilt()
        case .nothing:
            try StoreBuilder.build(files, for: ownership) { _ in OutboxCounters() }
            try adoptRebuilt()
        }
        do throws(OutboxError) { try retryingDamage(openExisting()) } catch {
            guard error.code == .damaged, configuration.repairsDamage else { throw error }
            try repair(error.cause)
        }
    }

    private func openExisting() throws(OutboxError) {
        // A commit that was cut off is completed only at the first opening. Later, its remaining updates are still in
        // memory, or weren't accepted.
        let (opened, found) = try opening.open(known: counters, completes: !hasBeenOpen)
        try dropStoredFromMemory(in: opened, upTo: found.lastSequence)
        counters = found
        hasBeenOpen = true
        for sequence in unwritten.keys where sequence <= counters.lastSequence {
            if try !opened.rows.isPending(sequence) { unwritten[sequence] = nil }
        }
        store = opened
    }

    /// Removes from memory the updates that a failed commit has written after all. They are identified by their rows.
    /// The last sequence number doesn't identify them, because a repair may raise it for other reasons.
    private func dropStoredFromMemory(in opened: OutboxStore, upTo last: Int64) throws(OutboxError) {
        let before = counters.lastSequence
        let waiting = group.storedUpdates(after: before)
        guard last > before, !waiting.isEmpty || !failedAppend.updates.isEmpty else {
            return failedAppend.resolve(in: [])
        }
        let rows = try opened.rows.oldest(after: before, limit: Self.newestSearchLimit).map(\.stored)
        let isStored: (StoredUpdate) -> Bool = { one in
            rows.contains { $0.update.place == one.update.place }
                // An update that has been delivered has no row.
                || one.sequence <= last && self.unwritten[one.sequence] != nil
        }
        let stored = waiting.prefix(while: isStored).count
        failedAppend.resolve(in: stored == waiting.count ? rows : [])
        group.removeFirst(stored)
        // The remaining updates get the numbers that follow the numbers on the disk. The last update is renumbered
        // first, so that no update gets a number that another update still has.
        for one in waiting.dropFirst(stored).reversed() where unwritten.removeValue(forKey: one.sequence) != nil {
            let sequence = last - before - Int64(stored) + one.sequence
            unwritten[sequence] = StoredUpdate(sequence: sequence, update: one.update)
        }
    }

    /// Closes a store in which an error has occurred. It will be checked before it is used again.
    func invalidateStore() {
        store?.checkpointsOnClose = false
        store = nil
    }

    private func repair(_ cause: OutboxError.Cause?) throws(OutboxError) {
        try rebuild(cause)
        try afterRepair(reserve.useIfNeeded(for: retryingDamage(openExisting())))
    }

    /// Evaluates `work` on a store that has just been repaired, and returns the result.
    ///
    /// - Throws: `damagedAgain` if `work` reports damage, because another repair wouldn't help.
    private func afterRepair<Result>(
        _ work: @autoclosure () throws(OutboxError) -> Result
    ) throws(OutboxError) -> Result {
        do throws(OutboxError) { return try work() } catch {
            guard error.code == .damaged else { throw error }
            throw OutboxError(.damagedAgain, path: error.path, error.cause)
        }
    }

    /// Replaces the store with a new one that contains everything that can be salvaged. If the disk is full at one
    /// step, only that step is repeated.
    private func rebuild(_ cause: OutboxError.Cause?) throws(OutboxError) {
        invalidateStore()
        try ownership?.lockStores()
        // Unless they are implausible, the counters in memory are more reliable than any ledger on the disk.
        let isTrusted = StoreSalvage.trusts(counters)
        let salvage = StoreSalvage(
            files: files, ownership: ownership, known: counters.lastSequence > 0 && isTrusted ? counters : nil,
            delivered: Set(unwritten.keys.filter { $0 <= counters.lastSequence }),
            maximumCommit: configuration.durability.maximumCommit)
        let result = try reserve.useIfNeeded(for: retryingDamage(salvage.build()))
        let renamedTo = try reserve.useIfNeeded(
            for: withSystem(files.path, files.renameDamaged(at: configuration.now())))
        try reserve.useIfNeeded(for: adoptRebuilt())
        try reserve.useIfNeeded(for: withSystem(files.path, files.removeDamaged(exceptNewest: Self.keptDamaged)))
        // The old sequence numbers mean nothing now, so updates acknowledged only in memory are sent again.
        if !isTrusted {
            counters = result.counters
            unwritten = [:]
        }
        configuration.reportRecovery(
            OutboxRecovery(
                path: files.path, cause: cause, renamedTo: renamedTo, salvaged: result.salvaged,
                lost: result.lost, foundLedger: result.foundLedger, repeated: result.repeated))
    }

    private func adoptRebuilt() throws(OutboxError) {
        try withSystem(files.path, files.adoptRebuilt())
        ownership?.adoptRebuilt()
    }
}

/// Methods that write to the disk.
extension OutboxEngine {
    /// Whether the updates and acknowledgements in memory must be written now.
    private var isCommitDue: Bool {
        isUnwrittenFull
            || group.isDue(
                configuration.durability, at: configuration.uptime(), nextMaintenanceAfter: Self.maintenanceInterval)
    }

    /// Whether there are so many unwritten acknowledgements that they must be written before anything else happens.
    private var isUnwrittenFull: Bool { unwritten.count >= Self.unwrittenLimit }

    /// Writes the updates and acknowledgements that are only in memory.
    private func writeAll() throws(OutboxError) {
        guard let store, !unwritten.isEmpty || !group.isEmpty else { return }
        try reserve.useIfNeeded(for: commit(store))
        try store.compactIfNearlyEmpty()
    }

    /// Writes the accepted updates and the acknowledgements in one transaction. Also evicts updates if there is no room
    /// for the new ones, and updates that are too old.
    ///
    /// An update that has been delivered before it was written is only counted, and gets no row.
    private func commit(_ store: OutboxStore) throws(OutboxError) {
        var next = counters
        try transaction(on: store) { () throws(OutboxError) in
            var isLedgerChanged = try removeDelivered(from: store, updating: &next)
            if !group.isEmpty, try eviction.makeRoom(in: store, updating: &next) { isLedgerChanged = true }
            for one in group.elements {
                let accepted = next.accept(one.update, overrulingEarlier: one.overrulesEarlier)
                if unwritten[accepted.sequence] != nil {
                    next.deliver(accepted, at: lastDelivery)
                    isLedgerChanged = true
                } else {
                    try store.insert(UpdateRecord(accepted, isShapePoint: one.isShapePoint))
                }
            }
            if !group.isEmpty, try eviction.evictByAge(in: store, updating: &next) { isLedgerChanged = true }
            if !group.isEmpty, !next.isLastNewest { isLedgerChanged = true }
            if isLedgerChanged { try store.write(&next) }
        }
        counters = next
        unwritten.removeAll(keepingCapacity: true)
        group = GroupCommit()
    }

    /// Removes the rows of the delivered updates. Returns whether any row was removed.
    private func removeDelivered(
        from store: OutboxStore, updating next: inout OutboxCounters
    ) throws(OutboxError) -> Bool {
        var hasRemoved = false
        // Sorting makes sure that the same work always writes the same pages.
        for sequence in unwritten.keys.sorted() {
            guard let stored = unwritten[sequence], try store.remove(sequence) else { continue }
            next.deliver(stored, at: lastDelivery)
            hasRemoved = true
        }
        return hasRemoved
    }
}

/// Methods that read the next upload and the ledger.
extension OutboxEngine {
    /// Returns the batch to send next; `nil` if nothing is pending.
    ///
    /// - Throws: any error of reading, and also `full` while the disk has no space for the unwritten acknowledgements.
    func nextBatch(maximumPastLocations: Int, withBacklog: Bool = true) throws(OutboxError) -> UploadBatch? {
        try perform { store throws(OutboxError) in
            if isUnwrittenFull { try reserve.useIfNeeded(for: commit(store)) }
            let limit = max(0, maximumPastLocations)
            let onDisk = try oldest(limit: limit + unwritten.count + 1, in: store)
            let current = current
            guard current.pending > Int64(unwritten.count), let last = current.newest else { return nil }
            let isKept = try isPending(last.sequence, in: store)
            let lastIsPending = isKept && unwritten[last.sequence] == nil
            let shape = try lastIsPending ? shapePoints(of: last, in: store).prefix(limit) : []
            let sent = Set(shape.map(\.sequence) + [last.sequence])
            let backlog = (onDisk + group.storedUpdates(after: counters.lastSequence)).lazy
                .filter { !sent.contains($0.sequence) && self.unwritten[$0.sequence] == nil }
                .prefix(withBacklog ? limit - shape.count : 0)
            let inOrder = (shape + backlog).sorted { one, other in
                (one.update.timeOfFix, one.sequence) < (other.update.timeOfFix, other.sequence)
            }
            return UploadBatch(last: last, lastIsPending: lastIsPending, past: inOrder)
        }
    }

    /// Returns the ledger, reasons for evictions and times of updates, including updates not written yet.
    func summary() throws(OutboxError) -> StoreSummary {
        try perform { _ throws(OutboxError) in
            var summary = StoreSummary(current)
            summary.lastDelivery = lastDelivery ?? summary.lastDelivery
            summary.ledger.pending -= Int64(unwritten.count)
            summary.ledger.delivered += Int64(unwritten.count)
            return summary
        }
    }

    /// Returns the store's size on the disk, and the time of its oldest pending update.
    func extent() throws(OutboxError) -> StoreExtent {
        let first = try perform { store throws(OutboxError) in
            try store.rows.oldest(limit: unwritten.count + 1).map(\.stored).first { unwritten[$0.sequence] == nil }
                ?? group.storedUpdates(after: counters.lastSequence).first { unwritten[$0.sequence] == nil }
        }
        // A size that can't be read counts as 0, because the calls that need the file report its errors.
        let names = [files.path, files.log, files.index, files.path + "-journal", files.reserve]
        let bytes = names.reduce(into: Int64(0)) { $0 += (try? files.disk.fileSize(at: $1)) ?? 0 }
        return StoreExtent(
            bytes: bytes, usedBytes: try perform { store throws(OutboxError) in try store.bytesInUse() },
            maximumBytes: configuration.maximumBytes,
            freeDiskBytes: FileSystem.freeBytes(at: FileSystem.parent(of: files.path)),
            oldestPending: first?.update.timeOfFix)
    }

    /// Returns the oldest rows, after checking their number against the ledger. If the ledger's number were wrong, the
    /// outbox might never finish sending its backlog, or never begin to send it.
    private func oldest(limit: Int, in store: OutboxStore) throws(OutboxError) -> [StoredUpdate] {
        let rows = try store.rows.oldest(limit: limit).map(\.stored)
        guard rows.count < limit ? rows.count == counters.pending : rows.count <= counters.pending else {
            throw OutboxError(.damaged, path: files.path, .ledgerMismatch)
        }
        return rows
    }

    /// Returns the pending shape points accepted together with `update`; none if another update has followed it.
    private func shapePoints(of update: StoredUpdate, in store: OutboxStore) throws(OutboxError) -> [StoredUpdate] {
        guard let range = recentAppends.last, range.count > 1, range.upperBound == update.sequence else { return [] }
        let onDisk = try store.rows.oldest(after: range.lowerBound - 1, limit: range.count).map(\.stored)
        return (onDisk + group.storedUpdates(after: counters.lastSequence)).filter { stored in
            range.dropLast().contains(stored.sequence) && unwritten[stored.sequence] == nil
        }
    }

    /// Whether the update is pending, or has been delivered but its acknowledgement hasn't been written.
    private func isPending(_ sequence: Int64, in store: OutboxStore) throws(OutboxError) -> Bool {
        sequence > counters.lastSequence
            ? sequence <= counters.lastSequence + Int64(group.count) : try store.rows.isPending(sequence)
    }

    /// The counters, with the updates that haven't been committed yet counted as accepted.
    var current: OutboxCounters { group.countersAfterCommit(from: counters) }
}
