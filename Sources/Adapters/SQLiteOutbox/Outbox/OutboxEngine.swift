import LinuxPlatform
import LocationReporting
import ReportedText

/// The outbox itself, synchronous and for one thread; `SQLiteOutbox` puts it on a thread of its own.
///
/// Every operation computes the account that will be, writes it together with the rows in one transaction, and only
/// then makes it the account that is. `account` is what the disk says; what is `gathered` or `unwritten` comes on top.
final class OutboxEngine {
    let configuration: OutboxSettings
    let files: StoreFiles
    /// Until closed.
    private(set) var ownership: StoreOwnership?
    /// `nil` after an error that leaves the connection in doubt; the next call opens it anew and looks at it again.
    var store: OutboxStore?
    var account = OutboxAccount()
    /// Accepted, and not written yet; none between calls with full durability.
    var gathered = GatheredUpdates()
    /// By step, the end of a part of the backlog that had no whole block: it is not looked at again.
    var barrenEnd: [ThinningStep: Int64] = [:]
    /// Acknowledged, and not written yet: live updates, or on a full disk those that found no space.
    var unwritten: [Int64: StoredUpdate] = [:]
    private var isClosed = false
    /// Whether it was told that there is no reserve.
    var isReserveMissed = false
    /// Whether it was told that the log is longer than any of its own.
    var isLongLogTold = false
    /// What every call says after a repair that did not help, and until when: a repair writes the whole store.
    private var holdingOff: (error: OutboxError, end: Duration)?

    /// Updates are accepted nearly in the order of time: where the newest has to be found again, it is looked for among
    /// so many of the last ones.
    static let newestSearchLimit = 4096
    /// How often `attend` is called.
    static let attendanceInterval = Duration.seconds(2)
    /// Rows that are thinned or give way at once: about 10 KiB.
    static let evictionBlock = 256
    /// From so many acknowledgements on that a full disk keeps in memory, nothing more goes out or is accepted until
    /// they are written. The batch that reaches the limit comes on top: up to 501.
    static let unwrittenLimit = 1000
    /// How long a store is left alone that was damaged again after its repair.
    static let repairInterval = Duration.seconds(600)
    /// What is given back when the disk is full: room for the log between two checkpoints, and for one checkpoint.
    static let reserveBytes: Int64 = 512 * 1024

    init(_ configuration: OutboxSettings) throws(OutboxError) {
        self.configuration = configuration
        do throws(SystemError) {
            files = try StoreFiles(at: configuration.path, on: configuration.disk, missing: .allowed)
        } catch {
            throw outboxError(StoreError(error, path: configuration.path))
        }
        ownership = try StoreOwnership(files)
        do { try openStore() } catch { throw portError(error) }
        do { try reserveSpace() } catch {}  // a full disk is told by the first append
    }

    deinit {
        // Nobody is left to be told: at worst a delivery is repeated after the restart.
        do {
            if !isClosed {
                try writeAll()
                try ownership?.verify()
            }
        } catch { distrustStore() }
        store = nil  // before its locks go
    }

    func append(_ update: LocationUpdate, overrulingEarlier: Bool = false) throws(OutboxError) -> StoredUpdate {
        try perform { store throws(StoreError) in
            gathered.append(
                GatheredUpdates.Element(update: update, overrulesEarlier: overrulingEarlier),
                at: configuration.uptime())
            let stored = StoredUpdate(sequence: account.lastSequence + Int64(gathered.count), update: update)
            do throws(StoreError) {
                if isCommitDue {
                    try reserveSpace()
                    try commit(store)
                }
            } catch {
                gathered.removeLast()  // it is not accepted; those before it are
                throw error
            }
            return stored
        }
    }

    func acknowledge(_ batch: UploadBatch) throws(OutboxError) {
        try perform { store throws(StoreError) in
            let before = unwritten
            for stored in batch.pending where try isPending(stored.sequence, store) {
                unwritten[stored.sequence] = stored
            }
            // A single live update waits for the next commit; what frees a backlog is written at once.
            let onDisk = unwritten.keys.count { $0 <= account.lastSequence }
            if unwritten.count == before.count || onDisk <= 1 { return }
            do throws(StoreError) {
                try withReserve { () throws(StoreError) in try commit(store) }
                try store.compactIfNearlyEmpty()
            } catch {
                guard error.kind == .full, !error.isFailedSync else {
                    unwritten = before
                    throw error
                }
            }
        }
    }

    func quarantine(_ update: StoredUpdate, reason: ReportedText) throws(OutboxError) {
        try perform { store throws(StoreError) in
            guard unwritten[update.sequence] == nil else { return }
            try withReserve { () throws(StoreError) in
                try writeGathered(store)
                var next = account
                try transaction(on: store) { () throws(StoreError) in
                    guard let stored = try store.rows.pending(update.sequence)?.stored else { return }
                    _ = try store.remove(stored.sequence)
                    next.quarantine(stored)
                    if next.newest?.sequence == stored.sequence { next.newest = try newest(in: store, next) }
                    try store.insert(QuarantinedUpdate(stored: stored, reason: reason))
                    try store.write(&next)
                }
                account = next
            }
        }
    }

    /// What is due without anybody's call: writes what has waited long enough, and takes up what tools have asked for;
    /// whether anything is pending again because of it. To be called each `attendanceInterval`.
    func attend() throws(OutboxError) -> Bool {
        try perform { store throws(StoreError) in
            if isCommitDue { try withReserve { () throws(StoreError) in try commit(store) } }
            return try takeUpRequests(store)
        }
    }

    /// Does with quarantined updates what an operator wants.
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
        isClosed = true
        store = nil
        ownership = nil
    }

    /// A transaction of the store that is this process's own.
    func transaction(
        on store: OutboxStore, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        try ownership?.verify()
        try store.transaction(body)
    }

    /// The newest update that is left once the newest of all is set aside.
    private func newest(in store: OutboxStore, _ next: OutboxAccount) throws(StoreError) -> StoredUpdate? {
        try store.rows.latest(limit: Self.newestSearchLimit).reduce(next.newestDelivered) {
            OutboxAccount.newer($0, $1.stored)
        }
    }

    /// Runs `body` on the open store; damage met on the way is looked at twice, repaired, and `body` run once more.
    /// Where that does not help, nothing more is tried for a while.
    func perform<Result>(
        _ body: (OutboxStore) throws(StoreError) -> Result
    ) throws(OutboxError) -> Result {
        guard !isClosed else {
            throw OutboxError(.closed, "\(files.path): the outbox has been closed; nothing is accepted any more")
        }
        if let holdingOff, configuration.uptime() < holdingOff.end { throw holdingOff.error }
        do throws(StoreError) {
            do throws(StoreError) {
                return try lookTwice { () throws(StoreError) in try body(try openedStore()) }
            } catch {
                guard error.kind == .damaged, configuration.repairsDamage else { throw error }
                try rescue(reason: error.reason)
                return try afterRepair { () throws(StoreError) in try body(try openedStore()) }
            }
        } catch {
            if error.kind != .full || error.isFailedSync { distrustStore() }
            let told = portError(error)
            if error.kind == .damagedAgain { holdingOff = (told, configuration.uptime() + Self.repairInterval) }
            throw told
        }
    }

    private func portError(_ error: StoreError) -> OutboxError {
        configuration.repairsDamage ? outboxError(error) : OutboxReader.readerError(error)
    }

    private func openedStore() throws(StoreError) -> OutboxStore {
        if let store { return store }
        try openStore()
        guard let store else { throw StoreError(.unusable, path: files.path, reason: "it cannot be opened") }
        return store
    }
}

/// What reaches the disk, and when.
extension OutboxEngine {
    /// Whether what is only in memory is to be written now.
    var isCommitDue: Bool {
        isUnwrittenFull
            || gathered.isCommitDue(
                configuration.durability, at: configuration.uptime(), nextLookAfter: Self.attendanceInterval)
    }

    /// Whether so many acknowledgements wait for space that another batch could only be sent to be forgotten.
    var isUnwrittenFull: Bool { unwritten.count >= Self.unwrittenLimit }

    /// What is only in memory.
    func writeAll() throws(StoreError) {
        guard let store, !unwritten.isEmpty || !gathered.isEmpty else { return }
        try withReserve { () throws(StoreError) in try commit(store) }
        try store.compactIfNearlyEmpty()
    }

    /// What needs every update in its row.
    func writeGathered(_ store: OutboxStore) throws(StoreError) {
        if !gathered.isEmpty { try commit(store) }
    }

    /// Writes what is gathered and acknowledged, and gives up what there is no room for, in one transaction.
    ///
    /// What was delivered before it was ever written costs no row.
    func commit(_ store: OutboxStore) throws(StoreError) {
        var next = account
        try transaction(on: store) { () throws(StoreError) in
            var isLedgerChanged = try deliver(unwritten.values, in: store, &next)
            if !gathered.isEmpty, try makeRoom(store, &next) { isLedgerChanged = true }
            for one in gathered.elements {
                let accepted = next.accept(one.update, overrulingEarlier: one.overrulesEarlier)
                if unwritten[accepted.sequence] != nil {
                    next.deliver(accepted)
                    isLedgerChanged = true
                } else {
                    try store.insert(
                        UpdateRecord(accepted, newestSequence: next.newest?.sequence ?? accepted.sequence))
                }
            }
            if !gathered.isEmpty, try evictByAge(store, &next) { isLedgerChanged = true }
            if isLedgerChanged { try store.write(&next) }
        }
        account = next
        (unwritten, gathered) = ([:], GatheredUpdates())
    }

    /// Whether any row was still there.
    private func deliver(
        _ updates: some Collection<StoredUpdate>, in store: OutboxStore, _ next: inout OutboxAccount
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

/// What there is to send, and the account.
extension OutboxEngine {
    /// - Throws: `full`, too, while more acknowledgements wait for space than memory is to hold.
    func nextBatch(maximumPastLocations: Int) throws(OutboxError) -> UploadBatch? {
        try perform { store throws(StoreError) in
            if isUnwrittenFull { try withReserve { () throws(StoreError) in try commit(store) } }
            let limit = max(0, maximumPastLocations)
            let onDisk = try oldest(limit + unwritten.count + 1, store)
            let current = current
            guard current.pending > Int64(unwritten.count), let last = current.newest else { return nil }
            let isKept = try isPending(last.sequence, store)
            let lastIsPending = isKept && unwritten[last.sequence] == nil
            let past = (onDisk + gathered.stored(after: account.lastSequence)).lazy
                .filter { $0.sequence != last.sequence && self.unwritten[$0.sequence] == nil }
                .prefix(limit)
            let inOrder = past.sorted { one, other in
                (one.update.timeOfFix, one.sequence) < (other.update.timeOfFix, other.sequence)
            }
            return UploadBatch(last: last, lastIsPending: lastIsPending, past: inOrder)
        }
    }

    func newest() throws(OutboxError) -> StoredUpdate? {
        try perform { _ throws(StoreError) in current.newest }
    }

    func ledger() throws(OutboxError) -> Ledger { try summary().ledger }

    /// The account as it stands, with what is not written yet.
    func summary() throws(OutboxError) -> StoreSummary {
        try perform { _ throws(StoreError) in
            var summary = StoreSummary(current)
            summary.ledger.pending -= Int64(unwritten.count)
            summary.ledger.delivered += Int64(unwritten.count)
            return summary
        }
    }

    /// The oldest rows; there are as many as the ledger says, or a backlog would never end, or never begin.
    private func oldest(_ limit: Int, _ store: OutboxStore) throws(StoreError) -> [StoredUpdate] {
        let rows = try store.rows.oldest(limit: limit).map(\.stored)
        guard rows.count < limit ? rows.count == account.pending : rows.count <= account.pending else {
            throw StoreError(.damaged, path: files.path, reason: "its ledger counts other rows than there are")
        }
        return rows
    }

    /// Whether an update waits, or has been acknowledged and is not written yet.
    func isPending(_ sequence: Int64, _ store: OutboxStore) throws(StoreError) -> Bool {
        sequence > account.lastSequence
            ? sequence <= account.lastSequence + Int64(gathered.count) : try store.rows.isPending(sequence)
    }

    /// The account with what is gathered.
    private var current: OutboxAccount { gathered.added(to: account) }
}

/// What tools ask for, carried out by the owner of the store.
extension OutboxEngine {
    /// Takes up what tools have left in the store; whether anything is pending again because of it.
    func takeUpRequests(_ store: OutboxStore) throws(StoreError) -> Bool {
        guard let change = try store.foreignChange(), let table = store.requests else { return false }
        var isAnyRequeued = false
        let requests = try table.open()
        for (id, request) in requests {
            let answer = try carryOut(request, store) { answer throws(StoreError) in
                try table.answer(id, answer)
            }
            if case .done(let count, _) = answer, request?.action == .requeue, count > 0 { isAnyRequeued = true }
        }
        if requests.count < RequestTable.atOnce { store.settle(change) }
        return isAnyRequeued
    }

    /// Carries `request` out with `note` in the same transaction, so that both are known or neither.
    func carryOut(
        _ request: QuarantineRequest?, _ store: OutboxStore,
        note: (QuarantineAnswer) throws(StoreError) -> Void = { _ in }
    ) throws(StoreError) -> QuarantineAnswer {
        var answer = QuarantineAnswer.notUnderstood
        try withReserve { () throws(StoreError) in
            try writeGathered(store)
            var next = account
            try transaction(on: store) { () throws(StoreError) in
                if let request { answer = try change(request, store, &next) }
                try note(answer)
            }
            account = next
        }
        return answer
    }

    private func change(
        _ request: QuarantineRequest, _ store: OutboxStore, _ next: inout OutboxAccount
    ) throws(StoreError) -> QuarantineAnswer {
        let kept = try store.rows.quarantined().map(\.stored)
        let chosen = kept.filter { request.sequences?.contains($0.sequence) ?? true }
        if let sequences = request.sequences, chosen.count < sequences.count {
            return .unknown(sequences.subtracting(chosen.map(\.sequence)).sorted())
        }
        let notKept = request.sequences == nil ? max(0, next.quarantined.count - Int64(kept.count)) : 0
        for stored in chosen { try store.removeQuarantined(stored.sequence) }
        switch request.action {
        case .requeue:
            for stored in chosen {
                next.requeue(stored)
                try store.insert(UpdateRecord(stored, newestSequence: next.newest?.sequence ?? stored.sequence))
            }
        case .discard:
            // Those that are not kept any more go with all the others.
            var tally = UpdateTally(count: notKept, timesOfFix: notKept > 0 ? next.quarantined.timesOfFix : nil)
            for stored in chosen { tally.add(stored.update.timeOfFix) }
            next.discard(tally)
        }
        next.narrowQuarantine(to: kept.filter { !chosen.contains($0) })
        try store.write(&next)
        let count = Int64(chosen.count)
        return request.action == .discard
            ? .done(count: count + notKept, notKept: 0) : .done(count: count, notKept: notKept)
    }
}
