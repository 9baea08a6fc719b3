import LocationReporting

@testable import SQLiteOutbox

/// What an outbox said, and is not so.
struct BrokenPromise: Error, CustomStringConvertible {
    let description: String
}

/// What an outbox has promised, beside what may be true as well because a call failed or the power went during it.
struct Promises {
    private(set) var accepted: Int64 = 0
    private(set) var pending: [Int64: LocationUpdate] = [:]
    private var quarantined: Set<Int64> = []
    /// Acknowledged in memory only: pending again after a restart.
    private var unwritten: [Int64: LocationUpdate] = [:]
    /// An append that failed: there, or not.
    private var offered: LocationUpdate?
    /// An acknowledgement or a quarantine that failed: done, or not.
    private var unsettled: Set<Int64> = []

    init(accepted: Int64 = 0) { self.accepted = accepted }

    /// Takes over what is there.
    mutating func adopt(_ outbox: OutboxEngine) throws {
        for stored in try outbox.pendingUpdates() { pending[stored.sequence] = stored.update }
    }

    mutating func append(_ update: LocationUpdate, to outbox: OutboxEngine) throws {
        offered = update
        let stored = try outbox.append(update)
        try hold(stored.sequence == accepted + 1, "accepted as \(stored.sequence) after \(accepted)")
        (accepted, offered, unwritten) = (stored.sequence, nil, [:])
        pending[stored.sequence] = update
    }

    mutating func deliver(from outbox: OutboxEngine, maximumPastLocations: Int) throws {
        guard let batch = try outbox.nextBatch(maximumPastLocations: maximumPastLocations) else { return }
        let delivered = batch.pending.map(\.sequence)
        unsettled = Set(delivered)
        try outbox.acknowledge(batch)
        unsettled = []
        for stored in batch.pending { pending[stored.sequence] = nil }
        guard let live = batch.pending.first else { return }
        unwritten = delivered.count == 1 ? [live.sequence: live.update] : [:]
    }

    mutating func quarantine(_ sequence: Int64, in outbox: OutboxEngine) throws {
        guard let update = pending[sequence] else { return }
        unsettled = [sequence]
        try outbox.quarantine(StoredUpdate(sequence: sequence, update: update), reason: "400")
        unsettled = []
        pending[sequence] = nil
        quarantined.insert(sequence)
    }

    /// Compares with what is there and goes on from that; how many acknowledged updates are pending again.
    ///
    /// `isReopened`: what was in memory only is gone.
    @discardableResult
    mutating func check(_ outbox: OutboxEngine, isReopened: Bool) throws -> Int {
        let found = Dictionary(uniqueKeysWithValues: try outbox.pendingUpdates().map { ($0.sequence, $0.update) })
        let ledger = try outbox.ledger()
        try hold(ledger.balances && ledger.pending == Int64(found.count), "\(found.count) are pending, \(ledger)")
        try hold(ledger.evicted == 0, "nothing had to go, \(ledger)")

        let lost = pending.keys.filter { found[$0] == nil && !unsettled.contains($0) }.sorted()
        try hold(lost.isEmpty, "accepted and lost: \(lost)")
        var repeated = 0
        for (sequence, update) in found where pending[sequence] != update {
            if sequence == accepted + 1, update == offered {
                accepted = sequence
            } else {
                try hold(unwritten[sequence] == update, "\(sequence) was never accepted, or settled long ago")
                repeated += 1
            }
        }
        try hold(ledger.accepted == accepted, "\(accepted) were accepted, \(ledger)")
        let listed = Set(try outbox.store?.rows.quarantined().map(\.stored.sequence) ?? [])
        let isListed = quarantined.isSubset(of: listed) || quarantined.count > OutboxStore.quarantineLimit
        try hold(isListed, "in quarantine and gone: \(quarantined.subtracting(listed))")
        quarantined = listed
        // Acknowledged on a disk that failed then: in memory, if it is not in the way of the others.
        for sequence in unsettled where found[sequence] == nil { unwritten[sequence] = pending[sequence] }
        if isReopened { unwritten = [:] }
        (pending, offered, unsettled) = (found, nil, [])
        return repeated
    }

    private func hold(_ isTrue: Bool, _ words: @autoclosure () -> String) throws(BrokenPromise) {
        if !isTrue { throw BrokenPromise(description: words()) }
    }
}
