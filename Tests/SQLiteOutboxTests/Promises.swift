import ReportedText
import Reporting

@testable import SQLiteOutbox

/// A contradiction between an outbox's promise and its content.
struct BrokenPromise: Error, CustomStringConvertible {
    let description: String
}

/// The promises of an outbox, and the outcomes that are possible because a call failed or the power was cut.
struct Promises {
    private(set) var accepted: Int64 = 0
    private(set) var pending: [Int64: LocationUpdate] = [:]
    private var quarantined: Set<Int64> = []
    /// The updates that are acknowledged only in memory, and will be pending again after a restart.
    private var unwritten: [Int64: LocationUpdate] = [:]
    /// The updates of a failed append, shape points first. After a power cut, any number of the first ones may be on
    /// the disk.
    private var offered: [LocationUpdate] = []
    /// The updates of a failed append whose rows are on the disk. If the append is repeated, they are accepted once.
    private var foundAgain: [LocationUpdate] = []
    /// The live update with which each update was accepted.
    private var liveOf: [Int64: Int64] = [:]
    /// The sequences of a failed acknowledgement or quarantine, which may have been carried out.
    private var unsettled: Set<Int64> = []
    /// The maximum loss in a power cut; `nil` for none.
    private let window: OutboxDurability.Window?
    /// The number of updates lost to power cuts, all within `window`.
    private(set) var lost = 0
    private var acceptedAt: [Int64: Duration] = [:]

    init(accepted: Int64 = 0, window: OutboxDurability.Window? = nil) {
        self.accepted = accepted
        self.window = window
    }

    /// Adopts the content of `outbox`.
    mutating func adopt(_ outbox: OutboxEngine) throws {
        for stored in try outbox.pendingUpdates() { pending[stored.sequence] = stored.update }
    }

    mutating func append(
        _ update: LocationUpdate, with points: [LocationUpdate] = [], to outbox: OutboxEngine, at now: Duration = .zero
    ) throws {
        offered = points + [update]
        let stored = try outbox.append(update, with: points)
        let isFoundAgain = offered == foundAgain && stored.sequence == accepted
        foundAgain = []
        if isFoundAgain { return offered = [] }
        let last = accepted + Int64(offered.count)
        try hold(stored.sequence == last, "accepted as \(stored.sequence) after \(accepted)")
        accept(at: now)
        if window == nil { unwritten = [:] }
    }

    /// Checks that the stored updates are among the offered ones, in the same order, and accepts them.
    private mutating func acceptStoredPart(
        of found: [Int64: LocationUpdate], upTo last: Int64, at now: Duration
    ) throws {
        // Losses of a window are checked together with the window.
        guard last > accepted, window == nil || last == accepted + Int64(offered.count) else { return }
        let there = try (accepted + 1...last).map { sequence in
            let update = found[sequence]
            try hold(update.map(offered.contains) ?? false, "\(sequence) was never offered")
            return update
        }.compactMap(\.self)
        try hold(there == offered.filter(there.contains), "\(there) is not the order of \(offered)")
        foundAgain = offered
        offered = there
        accept(at: now)
    }

    /// Records that all offered updates are stored.
    private mutating func accept(at now: Duration) {
        let live = accepted + Int64(offered.count)
        for update in offered {
            accepted += 1
            pending[accepted] = update
            acceptedAt[accepted] = now
            liveOf[accepted] = live
        }
        offered = []
    }

    mutating func deliver(from outbox: OutboxEngine, maximumPastLocations: Int) throws {
        guard let batch = try outbox.nextBatch(maximumPastLocations: maximumPastLocations) else { return }
        let delivered = batch.pending.map(\.sequence)
        unsettled = Set(delivered)
        try outbox.acknowledge(batch)
        unsettled = []
        for stored in batch.pending { pending[stored.sequence] = nil }
        guard !delivered.isEmpty else { return }
        let lives = Set(delivered.map { liveOf[$0] ?? $0 })
        // The updates of one append wait for the next commit; a backlog doesn't.
        if window == nil { unwritten = unwritten.filter { lives == [liveOf[$0.key] ?? $0.key] } }
        guard window != nil || lives.count == 1 else { return }
        for stored in batch.pending { unwritten[stored.sequence] = stored.update }
    }

    mutating func quarantine(_ sequence: Int64, in outbox: OutboxEngine) throws {
        guard let update = pending[sequence] else { return }
        unsettled = [sequence]
        try outbox.quarantine(StoredUpdate(sequence: sequence, update: update), reason: "400")
        unsettled = []
        pending[sequence] = nil
        quarantined.insert(sequence)
    }

    /// Compares the promises with the content of `outbox`, and adopts that content. Returns the number of acknowledged
    /// updates that are pending again. If the outbox `isReopened`, everything in memory was lost.
    @discardableResult
    mutating func check(_ outbox: OutboxEngine, isReopened: Bool, at now: Duration = .zero) throws -> Int {
        let found = Dictionary(uniqueKeysWithValues: try outbox.pendingUpdates().map { ($0.sequence, $0.update) })
        let ledger = try outbox.ledger()
        try hold(ledger.balances && ledger.pending == Int64(found.count), "\(found.count) are pending, \(ledger)")
        try hold(ledger.evicted == 0, "nothing had to be evicted, \(ledger)")

        try acceptStoredPart(of: found, upTo: ledger.accepted, at: now)
        var repeated = 0
        if isReopened, let window { repeated = try forget(window, found, ledger, at: now) }
        let lost = pending.keys.filter { found[$0] == nil && !unsettled.contains($0) }.sorted()
        try hold(lost.isEmpty, "accepted and lost: \(lost)")
        for (sequence, update) in found where pending[sequence] != update {
            try hold(unwritten[sequence] == update, "\(sequence) was never accepted, or settled long ago")
            repeated += 1
        }
        try hold(ledger.accepted == accepted, "\(accepted) were accepted, \(ledger)")
        let listed = Set(try outbox.quarantinedSequences())
        // A new row may replace the oldest one, even if the call to quarantine reported a failure.
        let mayBeListed = quarantined.union(unsettled).count
        let isListed = quarantined.isSubset(of: listed) || mayBeListed > OutboxStore.quarantineLimit
        try hold(isListed, "missing from quarantine: \(quarantined.subtracting(listed)) of \(quarantined.count)")
        quarantined = listed
        // An acknowledgement on a failing disk stays in memory, unless it blocks the others.
        for sequence in unsettled where found[sequence] == nil { unwritten[sequence] = pending[sequence] }
        if isReopened { unwritten = [:] }
        pending = found
        offered = []
        unsettled = []
        return repeated
    }

    /// Drops the updates that a power cut may have lost. The rest of the interrupted commit has new sequences.
    private mutating func forget(
        _ window: OutboxDurability.Window, _ found: [Int64: LocationUpdate], _ ledger: Ledger, at now: Duration
    ) throws -> Int {
        let safe = accepted - Int64(window.updates - 1)
        let possible = safe...accepted + Int64(offered.count)
        try hold(possible.contains(ledger.accepted), "\(accepted) were accepted, \(ledger)")
        let kept = found.filter { $0.key > safe }
        let last = pending.filter { $0.key > safe }
        let again = Set(kept.values).subtracting(last.values).subtracting(offered)
        try hold(again.isSubset(of: unwritten.values), "never accepted, or settled long ago: \(again)")
        let settled = last.filter { unsettled.contains($0.key) }.values
        let gone = Set(last.values).subtracting(settled).subtracting(kept.values)
        lost += gone.count
        for (sequence, update) in last where gone.contains(update) {
            let age = now - (acceptedAt[sequence] ?? .zero)
            try hold(age <= window.span, "\(sequence) was accepted \(age) ago, and is lost")
        }
        pending = pending.filter { $0.key <= safe }.merging(kept) { $1 }
        accepted = ledger.accepted
        offered = []
        acceptedAt = acceptedAt.filter { kept[$0.key] != nil }
        return again.count
    }

    private func hold(_ isTrue: Bool, _ words: @autoclosure () -> String) throws(BrokenPromise) {
        if !isTrue { throw BrokenPromise(description: words()) }
    }
}
