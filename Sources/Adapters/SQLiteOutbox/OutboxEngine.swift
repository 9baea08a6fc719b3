import LinuxPlatform
import LocationReporting

/// The outbox itself, synchronous and for one thread; `SQLiteOutbox` puts it on a thread of its own.
///
/// Every operation computes the account that will be, writes it together with the rows in one transaction, and only
/// then makes it the account that is.
final class OutboxEngine {
    let configuration: OutboxSettings
    let files: StoreFiles
    /// Until closed.
    private var lock: FileLock?
    /// `nil` after an error that leaves the connection in doubt; the next call opens it anew and looks at it again.
    var store: OutboxStore?
    var account = OutboxAccount()
    /// Acknowledged, and not written yet: one live update, or on a full disk those that found no space.
    var unwritten: [Int64: StoredUpdate] = [:]
    private var isClosed = false

    /// Updates are accepted nearly in the order of time: where the newest has to be found again, it is looked for among
    /// so many of the last ones.
    static let newestSearchLimit = 4096
    /// Rows that give way at once near the cap: about 10 KiB.
    static let evictionBlock = 256
    /// Acknowledgements that a full disk may keep in memory.
    static let unwrittenLimit = 1000
    /// What is given back when the disk is full: room for the log between two checkpoints, and for one checkpoint.
    static let reserveBytes: Int64 = 512 * 1024

    init(_ configuration: OutboxSettings) throws(OutboxError) {
        self.configuration = configuration
        files = StoreFiles(path: configuration.path, disk: configuration.disk)
        lock = try Self.takeLock(files)
        do { try openStore() } catch { throw outboxError(error) }
        do { try reserveSpace() } catch {}  // a full disk is told by the first append
    }

    deinit {
        // Nobody is left to be told: at worst a delivery is repeated after the restart.
        do { if !isClosed { try writeAcknowledgements() } } catch {}
    }

    // MARK: The port

    func append(_ update: LocationUpdate, overrulingEarlier: Bool = false) throws(OutboxError) -> StoredUpdate {
        try perform { store throws(StoreError) in
            try reserveSpace()
            var next = account
            var stored: StoredUpdate?
            try store.transaction { () throws(StoreError) in
                var isLedgerChanged = try deliver(unwritten.values, in: store, &next)
                if try evictNearCap(store, &next) { isLedgerChanged = true }
                let accepted = next.accept(update, overrulingEarlier: overrulingEarlier)
                try store.insert(UpdateRecord(accepted, newestSequence: next.newest?.sequence ?? accepted.sequence))
                if isLedgerChanged { try store.write(next) }
                stored = accepted
            }
            account = next
            unwritten = [:]
            guard let stored else { throw StoreError(.unusable, path: files.path, reason: "no transaction ran") }
            return stored
        }
    }

    func nextBatch(maximumPastLocations: Int) throws(OutboxError) -> UploadBatch? {
        try perform { store throws(StoreError) in
            guard account.pending > Int64(unwritten.count), let last = account.newest else { return nil }
            let isOnDisk = try store.rows.isPending(last.sequence)
            let lastIsPending = isOnDisk && unwritten[last.sequence] == nil
            let limit = max(0, maximumPastLocations)
            let past = try store.rows.oldest(limit: limit + unwritten.count + 1).lazy.map(\.stored)
                .filter { $0.sequence != last.sequence && self.unwritten[$0.sequence] == nil }
                .prefix(limit)
            let inOrder = past.sorted { one, other in
                (one.update.timeOfFix, one.sequence) < (other.update.timeOfFix, other.sequence)
            }
            return UploadBatch(last: last, lastIsPending: lastIsPending, past: inOrder)
        }
    }

    func acknowledge(_ batch: UploadBatch) throws(OutboxError) {
        try perform { store throws(StoreError) in
            var delivered = unwritten
            for stored in batch.pending where try store.rows.isPending(stored.sequence) {
                delivered[stored.sequence] = stored
            }
            if delivered.count == unwritten.count { return }
            // A single live update waits for the next append; what frees a backlog is written at once.
            if delivered.count == 1 { return unwritten = delivered }
            do throws(StoreError) {
                try withReserve { () throws(StoreError) in try write(delivered, to: store) }
            } catch {
                guard error.kind == .full, !error.isFailedSync, delivered.count <= Self.unwrittenLimit else {
                    throw error
                }
                unwritten = delivered
            }
        }
    }

    func quarantine(_ update: StoredUpdate, reason: String) throws(OutboxError) {
        try perform { store throws(StoreError) in
            guard unwritten[update.sequence] == nil else { return }
            try withReserve { () throws(StoreError) in
                var next = account
                try store.transaction { () throws(StoreError) in
                    guard let stored = try store.rows.pending(update.sequence)?.stored else { return }
                    _ = try store.remove(stored.sequence)
                    next.quarantine()
                    if next.newest?.sequence == stored.sequence { next.newest = try newest(in: store, next) }
                    try store.insert(QuarantinedUpdate(stored: stored, reason: reason))
                    try store.write(next)
                }
                account = next
            }
        }
    }

    func newest() throws(OutboxError) -> StoredUpdate? {
        try perform { _ throws(StoreError) in account.newest }
    }

    func ledger() throws(OutboxError) -> Ledger {
        try perform { _ throws(StoreError) in
            var ledger = account.ledger
            ledger.pending -= Int64(unwritten.count)
            ledger.delivered += Int64(unwritten.count)
            return ledger
        }
    }

    /// Closing twice is no error.
    func close() throws(OutboxError) {
        if isClosed { return }
        try perform { _ throws(StoreError) in try writeAcknowledgements() }
        isClosed = true
        store = nil
        lock = nil
    }

    // MARK: Parts of operations

    private func writeAcknowledgements() throws(StoreError) {
        guard let store, !unwritten.isEmpty else { return }
        try withReserve { () throws(StoreError) in try write(unwritten, to: store) }
    }

    /// Counts `delivered` as delivered, on the disk.
    private func write(_ delivered: [Int64: StoredUpdate], to store: OutboxStore) throws(StoreError) {
        var next = account
        try store.transaction { () throws(StoreError) in
            if try deliver(delivered.values, in: store, &next) { try store.write(next) }
        }
        account = next
        unwritten = [:]
        try store.compactIfNearlyEmpty()
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

    /// The newest update that is left once the newest of all is set aside.
    private func newest(in store: OutboxStore, _ next: OutboxAccount) throws(StoreError) -> StoredUpdate? {
        try store.rows.latest(limit: Self.newestSearchLimit).reduce(next.newestDelivered) {
            OutboxAccount.newer($0, $1.stored)
        }
    }

    // MARK: Errors

    /// Runs `body` on the open store; damage met on the way is repaired, and `body` run once more.
    private func perform<Result>(
        _ body: (OutboxStore) throws(StoreError) -> Result
    ) throws(OutboxError) -> Result {
        guard !isClosed else {
            throw OutboxError(.closed, "\(files.path): the outbox has been closed; nothing is accepted any more")
        }
        do throws(StoreError) {
            do throws(StoreError) { return try body(try openedStore()) } catch {
                guard error.kind == .damaged else { throw error }
                try rescue(reason: error.reason)
                return try body(try openedStore())
            }
        } catch {
            if error.kind != .full || error.isFailedSync { distrustStore() }
            throw outboxError(error)
        }
    }

    private func openedStore() throws(StoreError) -> OutboxStore {
        if let store { return store }
        try openStore()
        guard let store else { throw StoreError(.unusable, path: files.path, reason: "it cannot be opened") }
        return store
    }
}
