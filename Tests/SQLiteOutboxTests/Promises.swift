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
    private var storedByFailedAppend: [LocationUpdate] = []
    /// The sequence of the live update with which each update was accepted, by sequence.
    private var liveSequences: [Int64: Int64] = [:]
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
        let isRepetition = offered == storedByFailedAppend && stored.sequence == accepted
        storedByFailedAppend = []
        if isRepetition { return offered = [] }
        let last = accepted + Int64(offered.count)
        try require(stored.sequence == last, "accepted as \(stored.sequence) after \(accepted)")
        accept(at: now)
        if window == nil { unwritten = [:] }
    }

    /// Checks that the stored updates are among the offered ones, in the same order, and accepts them.
    private mutating func acceptStoredPart(
        of found: [Int64: LocationUpdate], upTo last: Int64, at now: Duration
    ) throws {
        // Losses of a window are checked together with the window.
        guard last > accepted, window == nil || last == accepted + Int64(offered.count) else { return }
        let storedPart = try (accepted + 1...last).map { sequence in
            let update = found[sequence]
            try require(update.map(offered.contains) ?? false, "\(sequence) was never offered")
            return update
        }.compactMap(\.self)
        try require(storedPart == offered.filter(storedPart.contains), "\(storedPart) is not the order of \(offered)")
        storedByFailedAppend = offered
        offered = storedPart
        accept(at: now)
    }

    /// Records that all offered updates are stored.
    private mutating func accept(at now: Duration) {
        let live = accepted + Int64(offered.count)
        for update in offered {
            accepted += 1
            pending[accepted] = update
            acceptedAt[accepted] = now
            liveSequences[accepted] = live
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
        let lives = Set(delivered.map { liveSequences[$0] ?? $0 })
        // The updates of one append wait for the next commit; a backlog doesn't.
        if window == nil { unwritten = unwritten.filter { lives == [liveSequences[$0.key] ?? $0.key] } }
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
        try require(ledger.balances && ledger.pending == Int64(found.count), "\(found.count) are pending, \(ledger)")
        try require(ledger.evicted == 0, "nothing had to be evicted, \(ledger)")

        try acceptStoredPart(of: found, upTo: ledger.accepted, at: now)
        var repeated = 0
        if isReopened, let window { repeated = try dropLostUpdates(within: window, found: found, ledger, at: now) }
        let lost = pending.keys.filter { found[$0] == nil && !unsettled.contains($0) }.sorted()
        try require(lost.isEmpty, "accepted and lost: \(lost)")
        for (sequence, update) in found where pending[sequence] != update {
            try require(unwritten[sequence] == update, "\(sequence) was never accepted, or settled long ago")
            repeated += 1
        }
        try require(ledger.accepted == accepted, "\(accepted) were accepted, \(ledger)")
        let listed = Set(try outbox.quarantinedSequences())
        // A new row may replace the oldest one, even if the call to quarantine reported a failure.
        let mayBeListed = quarantined.union(unsettled).count
        let isListed = quarantined.isSubset(of: listed) || mayBeListed > OutboxStore.quarantineLimit
        try require(isListed, "missing from quarantine: \(quarantined.subtracting(listed)) of \(quarantined.count)")
        quarantined = listed
        // An acknowledgement on a failing disk stays in memory, unless it blocks the others.
        for sequence in unsettled where found[sequence] == nil { unwritten[sequence] = pending[sequence] }
        if isReopened { unwritten = [:] }
        pending = found
        offered = []
        unsettled = []
        return repeated
    }

    /// Drops the updates that a power cut may have lost. The rest of the interrupted commit has new sequences. Returns
    /// the number of acknowledged updates that are pending again.
    private mutating func dropLostUpdates(
        within window: OutboxDurability.Window, found: [Int64: LocationUpdate], _ ledger: Ledger, at now: Duration
    ) throws -> Int {
        let safe = accepted - Int64(window.updates - 1)
        let possible = safe...accepted + Int64(offered.count)
        try require(possible.contains(ledger.accepted), "\(accepted) were accepted, \(ledger)")
        let kept = found.filter { $0.key > safe }
        let last = pending.filter { $0.key > safe }
        let again = Set(kept.values).subtracting(last.values).subtracting(offered)
        try require(again.isSubset(of: unwritten.values), "never accepted, or settled long ago: \(again)")
        let settled = last.filter { unsettled.contains($0.key) }.values
        let lostUpdates = Set(last.values).subtracting(settled).subtracting(kept.values)
        lost += lostUpdates.count
        for (sequence, update) in last where lostUpdates.contains(update) {
            let age = now - (acceptedAt[sequence] ?? .zero)
            try require(age <= window.span, "\(sequence) was accepted \(age) ago, and is lost")
        }
        pending = pending.filter { $0.key <= safe }.merging(kept) { $1 }
        accepted = ledger.accepted
        offered = []
        acceptedAt = acceptedAt.filter { kept[$0.key] != nil }
        return again.count
    }

    private func require(_ condition: Bool, _ message: @autoclosure () -> String) throws(BrokenPromise) {
        if !condition { throw BrokenPromise(description: message()) }
    }
}
