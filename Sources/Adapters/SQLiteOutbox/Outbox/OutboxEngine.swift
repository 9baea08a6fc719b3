import LinuxPlatform
import ReportedText
import Reporting

/// The outbox itself, synchronous and for one thread; `SQLiteOutbox` puts it on a thread of its own.
///
/// Every operation computes the new counters, writes them together with the rows in one transaction, and only then
/// makes them the current ones. `counters` is what the disk says; `group` and `unwritten` come on top.
final class OutboxEngine {
    private let configuration: OutboxConfiguration
    private let files: StoreFiles
    private let reserve: DiskReserve
    private let opening: StoreOpening
    private let count: StoreCount
    private var eviction: Eviction
    /// Until closed.
    private var ownership: StoreOwnership?
    /// `nil` after an error that leaves the connection in doubt; the next call reopens and checks it.
    var store: OutboxStore?
    private(set) var counters = OutboxCounters()
    private var hasBeenOpen = false
    /// Accepted, and not written yet; none between calls with full durability.
    private var group = GroupCommit()
    /// Acknowledged, and not written yet: live updates, or those that a full disk or a lock kept back.
    private(set) var unwritten: [Int64: StoredUpdate] = [:]
    private var failedAppend = FailedAppend()
    /// The sequences of a live update with its shape points, of the last two that were accepted.
    private var appended: [ClosedRange<Int64>] = []
    private var isClosed: Bool { ownership == nil }
    /// What every call throws after a repair that did not help, and until when: a repair writes the whole store.
    private var holdingOff: (error: OutboxError, end: Duration)?

    /// Updates are accepted nearly in the order of time: where the newest has to be found again, it is looked for among
    /// so many of the last ones.
    static let newestSearchLimit = 4096
    static let maintenanceInterval = Duration.seconds(2)
    /// From so many acknowledgements on that a full disk keeps in memory, nothing more goes out or is accepted until
    /// they are written. The batch that reaches the limit comes on top: up to 501.
    private static let unwrittenLimit = 1000
    /// How long a store that was damaged again after its repair is not tried.
    static let repairInterval = Duration.seconds(600)
    private static let keptDamaged = 3

    init(_ configuration: OutboxConfiguration) throws(OutboxError) {
        self.configuration = configuration
        do throws(StoreError) {
            files = try withSystem(
                configuration.path, StoreFiles(at: configuration.path, on: configuration.disk, missing: .allowed))
            reserve = DiskReserve(files, configuration)
            count = StoreCount(files)
            opening = StoreOpening(files, configuration, count)
            eviction = Eviction(maximumBytes: configuration.maximumBytes, maximumAge: configuration.maximumAge)
            ownership = try StoreOwnership(files, reserve)
        } catch { throw OutboxError(error) }
        do throws(StoreError) { try openStore() } catch {
            throw OutboxError(error, repairsDamage: configuration.repairsDamage)
        }
        do { try reserve.fill() } catch {}  // the first append reports a full disk
    }

    deinit {
        // There is no caller left to report to: at worst a delivery is repeated after the restart.
        do {
            try writeAll()
            try ownership?.verify()
        } catch { invalidateStore() }
        store = nil  // before its locks go
    }

    func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate] = [], overrulingEarlier: Bool = false
    ) throws(OutboxError) -> StoredUpdate {
        try perform { store throws(StoreError) in
            var all = shapePoints.map {
                GroupCommit.Element(update: $0, overrulesEarlier: false, isShapePoint: true)
            }
            all.append(
                GroupCommit.Element(update: update, overrulesEarlier: overrulingEarlier, isShapePoint: false))
            let found = failedAppend.found(among: all.map(\.update))
            let new = Array(all.dropFirst(found.count))
            group.append(new, at: configuration.uptime())
            let next = counters.lastSequence + Int64(group.count)
            let sequence = new.isEmpty ? found.last?.sequence ?? next : next
            let stored = StoredUpdate(sequence: sequence, update: update)
            do throws(StoreError) {
                if isCommitDue {
                    try reserve.fill()
                    try commit(store)
                }
            } catch {
                group.removeLast(new.count)  // they are not accepted; those before them are
                failedAppend.updates = new.map(\.update)
                throw error
            }
            failedAppend = FailedAppend()
            appended = appended.suffix(1) + [stored.sequence - Int64(shapePoints.count)...stored.sequence]
            return stored
        }
    }

    func acknowledge(_ batch: UploadBatch) throws(OutboxError) {
        try perform { store throws(StoreError) in
            for stored in batch.pending where try isPending(stored.sequence, store) {
                unwritten[stored.sequence] = stored
            }
            // A live update waits for the next commit with its shape points; what frees a backlog is written at once.
            let onDisk = unwritten.keys.filter { $0 <= counters.lastSequence }
            let isOfOneAppend = onDisk.count <= 1 || appended.contains { onDisk.allSatisfy($0.contains) }
            if isOfOneAppend { return }
            do throws(StoreError) {
                try reserve.lending(commit(store))
                try store.compactIfNearlyEmpty()
            } catch {
                // They stay in memory: delivered they are, and the commit may have reached the disk.
                if !error.leavesStoreSound { throw error }
            }
        }
    }

    func quarantine(_ update: StoredUpdate, reason: ReportedText) throws(OutboxError) {
        try perform { store throws(StoreError) in
            guard unwritten[update.sequence] == nil else { return }
            try change(store) { next throws(StoreError) in
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

    /// Periodic work, for each `maintenanceInterval`; whether anything is pending again because of it.
    func maintain() throws(OutboxError) -> Bool {
        let isLogMoved = try perform { store throws(StoreError) in
            guard opening.isLogRemoved() else { return false }
            try ownership?.verify()
            return opening.moveRemovedLog(of: store)
        }
        // The next use opens it with a new log.
        if isLogMoved { store = nil }
        return try perform { store throws(StoreError) in
            opening.watchLog()
            if isCommitDue { try reserve.lending(commit(store)) }
            count.noteOncePerLog(counters)
            return try handleRequests(store)
        }
    }

    /// Writes what is only in memory, and empties the write-ahead log, in which updates outlive their delivery. Returns
    /// whether that was possible: not while another program reads from the log.
    func emptyLog() throws(OutboxError) -> Bool {
        try perform { store throws(StoreError) in
            try writeAll()
            try ownership?.verify()
            do throws(StoreError) { try store.emptyLog() } catch {
                guard error.kind == .busy else { throw error }
                return false
            }
            return true
        }
    }

    func carryOut(_ request: QuarantineRequest) throws(OutboxError) -> QuarantineAnswer {
        try perform { store throws(StoreError) in try carryOut(request, store) }
    }

    /// Closing twice is no error.
    func close() throws(OutboxError) {
        if isClosed { return }
        try perform { _ throws(StoreError) in
            try writeAll()
            try ownership?.verify()  // closing moves the log into the database, and removes it
        }
        store = nil
        count.note(counters)
        ownership = nil
    }

    /// A transaction of the store that is this process's own.
    private func transaction(
        on store: OutboxStore, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        try ownership?.verify()
        try store.transaction(body)
    }

    /// Changes rows and counters in one transaction, with every update in its row.
    func change(
        _ store: OutboxStore, _ body: (inout OutboxCounters) throws(StoreError) -> Void
    ) throws(StoreError) {
        func attempt() throws(StoreError) {
            if !group.isEmpty { try commit(store) }
            var next = counters
            try transaction(on: store) { () throws(StoreError) in try body(&next) }
            counters = next
        }
        try reserve.lending(attempt())
    }

    /// Runs `body` on the open store; damage found meanwhile is read twice, repaired, and `body` run once more.
    /// Where that does not help, nothing more is tried for a while.
    func perform<Result>(
        _ body: (OutboxStore) throws(StoreError) -> Result
    ) throws(OutboxError) -> Result {
        guard !isClosed else {
            throw OutboxError(.closed, "\(files.path): the outbox has been closed; nothing is accepted any more")
        }
        if let holdingOff, configuration.uptime() < holdingOff.end { throw holdingOff.error }
        do throws(StoreError) {
            do throws(StoreError) { return try retryingDamage(attempt(body)) } catch {
                guard error.kind == .damaged, configuration.repairsDamage else { throw error }
                try repair(reason: error.reason)
                return try afterRepair(attempt(body))
            }
        } catch {
            if error.isFailedSync { opening.distrustLog() }
            if !error.leavesStoreSound { invalidateStore() }
            let told = OutboxError(error, repairsDamage: configuration.repairsDamage)
            if error.kind == .damagedAgain { holdingOff = (told, configuration.uptime() + Self.repairInterval) }
            throw told
        }
    }

    /// Runs `body` on the open store; one that turns out to be damaged is not used again.
    private func attempt<Result>(
        _ body: (OutboxStore) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        if store == nil { try openStore() }
        guard let store else { throw StoreError(.unusable, path: files.path, reason: "it cannot be opened") }
        do throws(StoreError) { return try body(store) } catch {
            if error.kind == .damaged { invalidateStore() }
            throw error
        }
    }
}

/// How the store is opened and repaired: opening ends with a store that works, or says why the disk does not let it.
extension OutboxEngine {
    private func openStore() throws(StoreError) {
        try withSystem(files.path, files.requireOwn(for: EffectiveUser.current))
        try reserve.lending(openOrCreateStore())
    }

    private func openOrCreateStore() throws(StoreError) {
        try ownership?.hold()
        switch try opening.remains() {
        case .store: break
        case .rebuilt:
            // The log, should it still be there.
            _ = try withSystem(files.path, files.renameDamaged(at: configuration.now()))
            try adoptRebuilt()
        case .nothing:
            try StoreBuilder.build(files, for: ownership) { _ in OutboxCounters() }
            try adoptRebuilt()
        }
        do throws(StoreError) { try retryingDamage(openExisting()) } catch {
            guard error.kind == .damaged, configuration.repairsDamage else { throw error }
            try repair(reason: error.reason)
        }
    }

    private func openExisting() throws(StoreError) {
        // Where the process has gone on, what a commit that failed has left was not accepted, or is in memory still.
        let (opened, found) = try opening.open(known: counters, completes: !hasBeenOpen)
        try forgetStored(in: opened, upTo: found.lastSequence)
        counters = found
        hasBeenOpen = true
        for sequence in unwritten.keys where sequence <= counters.lastSequence {
            if try !opened.rows.isPending(sequence) { unwritten[sequence] = nil }
        }
        store = opened
    }

    /// Removes from memory what a failed commit has put on the disk anyway. The rows decide, because a repair may raise
    /// the last sequence for other reasons.
    private func forgetStored(in opened: OutboxStore, upTo last: Int64) throws(StoreError) {
        let before = counters.lastSequence
        let waiting = group.stored(after: before)
        guard last > before, !waiting.isEmpty || !failedAppend.updates.isEmpty else {
            return failedAppend.resolve(in: [])
        }
        let rows = try opened.rows.oldest(after: before, limit: Self.newestSearchLimit).map(\.stored)
        let isStored: (StoredUpdate) -> Bool = { one in
            rows.contains { $0.update.place == one.update.place }
                // A delivered one has no row.
                || one.sequence <= last && self.unwritten[one.sequence] != nil
        }
        let stored = waiting.prefix(while: isStored).count
        failedAppend.resolve(in: stored == waiting.count ? rows : [])
        group.removeFirst(stored)
        // The others follow whatever is on the disk; last first, so that none takes the number of another.
        for one in waiting.dropFirst(stored).reversed() where unwritten.removeValue(forKey: one.sequence) != nil {
            let sequence = last - before - Int64(stored) + one.sequence
            unwritten[sequence] = StoredUpdate(sequence: sequence, update: one.update)
        }
    }

    /// Closes a store that has failed: it is checked again before it is used.
    func invalidateStore() {
        store?.refuseChanges()
        store = nil
    }

    private func repair(reason: String) throws(StoreError) {
        try rebuild(reason: reason)
        try afterRepair(reserve.lending(retryingDamage(openExisting())))
    }

    /// Evaluates `work` on a store that has just been repaired: once more would not help if it is damaged again.
    private func afterRepair<Result>(
        _ work: @autoclosure () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        do throws(StoreError) { return try work() } catch {
            guard error.kind == .damaged else { throw error }
            throw StoreError(.damagedAgain, path: error.path, reason: error.reason)
        }
    }

    /// Step by step: if the disk is full then, no completed step is repeated.
    private func rebuild(reason: String) throws(StoreError) {
        invalidateStore()
        try ownership?.hold()
        // What the store has said once, and is in memory since, is better than any ledger on the disk.
        let isTrusted = StoreSalvage.trusts(counters)
        let salvage = StoreSalvage(
            files: files, ownership: ownership, known: counters.lastSequence > 0 && isTrusted ? counters : nil,
            delivered: Set(unwritten.keys.filter { $0 <= counters.lastSequence }),
            longestCommit: configuration.durability.longestCommit)
        let result = try reserve.lending(retryingDamage(salvage.build()))
        let renamedTo = try reserve.lending(withSystem(files.path, files.renameDamaged(at: configuration.now())))
        try reserve.lending(adoptRebuilt())
        try reserve.lending(withSystem(files.path, files.removeDamaged(exceptNewest: Self.keptDamaged)))
        // Earlier sequences mean nothing any more: what was acknowledged under one is sent again.
        if !isTrusted {
            counters = result.counters
            unwritten = [:]
        }
        configuration.reportRecovery(
            StoreRecovery(
                path: files.path, reason: reason, renamedTo: renamedTo, salvaged: result.salvaged,
                lost: result.lost, foundLedger: result.foundLedger, repeated: result.repeated))
    }

    private func adoptRebuilt() throws(StoreError) {
        try withSystem(files.path, files.adoptRebuilt())
        ownership?.adoptRebuilt()
    }
}

/// What reaches the disk, and when.
extension OutboxEngine {
    /// Whether what is only in memory is to be written now.
    private var isCommitDue: Bool {
        isUnwrittenFull
            || group.isDue(
                configuration.durability, at: configuration.uptime(), nextMaintenanceAfter: Self.maintenanceInterval)
    }

    /// Whether so many acknowledgements wait for space that another batch could only be sent to be forgotten.
    private var isUnwrittenFull: Bool { unwritten.count >= Self.unwrittenLimit }

    /// What is only in memory.
    private func writeAll() throws(StoreError) {
        guard let store, !unwritten.isEmpty || !group.isEmpty else { return }
        try reserve.lending(commit(store))
        try store.compactIfNearlyEmpty()
    }

    /// Writes what is accepted and acknowledged, and evicts what there is no room for, in one transaction.
    ///
    /// What was delivered before it was ever written costs no row.
    private func commit(_ store: OutboxStore) throws(StoreError) {
        var next = counters
        try transaction(on: store) { () throws(StoreError) in
            var isLedgerChanged = try deliver(unwritten.values, in: store, &next)
            if !group.isEmpty, try eviction.makeRoom(store, &next) { isLedgerChanged = true }
            for one in group.elements {
                let accepted = next.accept(one.update, overrulingEarlier: one.overrulesEarlier)
                if unwritten[accepted.sequence] != nil {
                    next.deliver(accepted)
                    isLedgerChanged = true
                } else {
                    try store.insert(UpdateRecord(accepted, isShapePoint: one.isShapePoint))
                }
            }
            if !group.isEmpty, try eviction.evictByAge(store, &next) { isLedgerChanged = true }
            if !group.isEmpty, !next.isLastNewest { isLedgerChanged = true }
            if isLedgerChanged { try store.write(&next) }
        }
        counters = next
        unwritten = [:]
        group = GroupCommit()
    }

    /// Whether any row was still there.
    private func deliver(
        _ updates: some Collection<StoredUpdate>, in store: OutboxStore, _ next: inout OutboxCounters
    ) throws(StoreError) -> Bool {
        var isAny = false
        // In one order always, so that the same work writes the same pages.
        for stored in updates.sorted(by: { $0.sequence < $1.sequence }) where try store.remove(stored.sequence) {
            next.deliver(stored)
            isAny = true
        }
        return isAny
    }
}

/// What there is to send, and the ledger.
extension OutboxEngine {
    /// - Throws: `full`, too, while more acknowledgements wait for space than memory is to hold.
    func nextBatch(maximumPastLocations: Int, withBacklog: Bool = true) throws(OutboxError) -> UploadBatch? {
        try perform { store throws(StoreError) in
            if isUnwrittenFull { try reserve.lending(commit(store)) }
            let limit = max(0, maximumPastLocations)
            let onDisk = try oldest(limit + unwritten.count + 1, store)
            let current = current
            guard current.pending > Int64(unwritten.count), let last = current.newest else { return nil }
            let isKept = try isPending(last.sequence, store)
            let lastIsPending = isKept && unwritten[last.sequence] == nil
            let shape = try lastIsPending ? shapePoints(of: last, store).prefix(limit) : []
            let sent = Set(shape.map(\.sequence) + [last.sequence])
            let backlog = (onDisk + group.stored(after: counters.lastSequence)).lazy
                .filter { !sent.contains($0.sequence) && self.unwritten[$0.sequence] == nil }
                .prefix(withBacklog ? limit - shape.count : 0)
            let inOrder = (shape + backlog).sorted { one, other in
                (one.update.timeOfFix, one.sequence) < (other.update.timeOfFix, other.sequence)
            }
            return UploadBatch(last: last, lastIsPending: lastIsPending, past: inOrder)
        }
    }

    func newest() throws(OutboxError) -> StoredUpdate? { try perform { _ throws(StoreError) in current.newest } }

    func ledger() throws(OutboxError) -> Ledger { try summary().ledger }

    /// The counters as they stand, with what is not written yet.
    func summary() throws(OutboxError) -> StoreSummary {
        try perform { _ throws(StoreError) in
            var summary = StoreSummary(current)
            summary.ledger.pending -= Int64(unwritten.count)
            summary.ledger.delivered += Int64(unwritten.count)
            return summary
        }
    }

    /// What the store takes on the disk, and since when something waits in it.
    func extent() throws(OutboxError) -> StoreExtent {
        let first = try perform { store throws(StoreError) in
            try store.rows.oldest(limit: unwritten.count + 1).map(\.stored).first { unwritten[$0.sequence] == nil }
                ?? group.stored(after: counters.lastSequence).first { unwritten[$0.sequence] == nil }
        }
        // A figure that the disk does not tell is absent; what keeps the store from working is told by its work.
        let names = [files.path, files.log, files.index, files.path + "-journal", files.reserve]
        let bytes = names.reduce(into: Int64(0)) { $0 += (try? files.disk.fileSize(at: $1)) ?? 0 }
        return StoreExtent(
            bytes: bytes, usedBytes: try perform { store throws(StoreError) in try store.bytesInUse() },
            maximumBytes: configuration.maximumBytes,
            freeDiskBytes: FileSystem.freeBytes(at: FileSystem.parent(of: files.path)),
            oldestPending: first?.update.timeOfFix)
    }

    /// The oldest rows; there are as many as the ledger says, or a backlog would never end, or never begin.
    private func oldest(_ limit: Int, _ store: OutboxStore) throws(StoreError) -> [StoredUpdate] {
        let rows = try store.rows.oldest(limit: limit).map(\.stored)
        guard rows.count < limit ? rows.count == counters.pending : rows.count <= counters.pending else {
            throw StoreError(.damaged, path: files.path, reason: "its ledger does not match its rows")
        }
        return rows
    }

    /// Those that were accepted with `update`, while no other was since, and wait.
    private func shapePoints(of update: StoredUpdate, _ store: OutboxStore) throws(StoreError) -> [StoredUpdate] {
        guard let range = appended.last, range.count > 1, range.upperBound == update.sequence else { return [] }
        let onDisk = try store.rows.oldest(after: range.lowerBound - 1, limit: range.count).map(\.stored)
        return (onDisk + group.stored(after: counters.lastSequence)).filter { stored in
            range.dropLast().contains(stored.sequence) && unwritten[stored.sequence] == nil
        }
    }

    /// Whether an update waits, or has been acknowledged and is not written yet.
    private func isPending(_ sequence: Int64, _ store: OutboxStore) throws(StoreError) -> Bool {
        sequence > counters.lastSequence
            ? sequence <= counters.lastSequence + Int64(group.count) : try store.rows.isPending(sequence)
    }

    /// The counters with what waits for its commit.
    var current: OutboxCounters { group.added(to: counters) }
}
