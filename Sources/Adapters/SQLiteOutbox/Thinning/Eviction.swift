import Reporting
import TimeAndRandomness

/// The rules for evicting updates near the size limit and at the age limit. The newest update is never evicted.
struct Eviction {
    private let maximumBytes: Int64
    private let maximumAge: Duration?
    /// The end of the range in which a step found no complete block, keyed by the step. The range isn't read again
    /// until its end changes.
    private var exhaustedEnd: [ThinningStep: Int64] = [:]

    /// The number of rows that are thinned or evicted at a time, which take about 10 KiB.
    static let blockSize = 256

    init(maximumBytes: Int64, maximumAge: Duration?) {
        self.maximumBytes = maximumBytes
        self.maximumAge = maximumAge
    }

    /// Makes room if the store is near its size limit. Thins one block of the backlog, early enough to finish before
    /// the limit is reached. If thinning frees too little, also evicts the oldest block. Returns whether any row was
    /// removed.
    ///
    /// So an append waits until at most one block has been thinned and one evicted. If the limit has been lowered, the
    /// store shrinks by one block per append.
    mutating func makeRoom(in store: OutboxStore, updating next: inout OutboxCounters) throws(OutboxError) -> Bool {
        let before = try store.bytesInUse()
        guard before > maximumBytes - max(16 * StoreFormat.pageSize, maximumBytes / 16) else { return false }
        let isThinned = try thinBlock(in: store, updating: &next)
        let after = isThinned ? try store.bytesInUse() : before
        let isFreeing = isThinned && after < before
        guard after > maximumBytes - 8 * StoreFormat.pageSize, !isFreeing else { return isThinned }
        return try evict(store.rows.oldest(limit: Self.blockSize), because: .oldest, in: store, updating: &next)
            || isThinned
    }

    /// Evicts up to one block of the updates whose time of fix is older than the configured age allows. Returns whether
    /// any were evicted.
    func evictByAge(in store: OutboxStore, updating next: inout OutboxCounters) throws(OutboxError) -> Bool {
        guard let maximumAge, let newest = next.newest else { return false }
        let earliest = newest.update.timeOfFix.advanced(by: .zero - maximumAge)
        func isTooOld(_ record: UpdateRecord) -> Bool { record.stored.update.timeOfFix < earliest }
        guard let oldest = try store.rows.oldest(limit: 1).first, isTooOld(oldest) else { return false }
        return try evict(
            store.rows.oldest(limit: Self.blockSize).prefix(while: isTooOld), because: .age, in: store, updating: &next)
    }

    private func evict(
        _ records: some Sequence<UpdateRecord>, because reason: EvictionReason, in store: OutboxStore,
        updating next: inout OutboxCounters
    ) throws(OutboxError) -> Bool {
        var hasEvicted = false
        for record in records where record.stored.sequence != next.newest?.sequence {
            guard try store.remove(record.stored.sequence) else { continue }
            next.evict(record.stored, because: reason)
            hasEvicted = true
        }
        return hasEvicted
    }

    /// Thins one block. Uses the finest step for which there is still a block to thin. Returns `false` if no step has
    /// one.
    private mutating func thinBlock(in store: OutboxStore, updating next: inout OutboxCounters) throws(OutboxError)
        -> Bool
    {
        for step in ThinningStep.allCases {
            let range = next.thinning.range(of: step)
            let end = min(range.upperBound, next.lastSequence)
            guard end - range.lowerBound >= Self.blockSize - 1, exhaustedEnd[step] != end else { continue }
            let block = try store.rows.oldest(after: range.lowerBound - 1, limit: Self.blockSize)
            guard let first = block.first?.stored.sequence, let last = block.last?.stored.sequence,
                block.count == Self.blockSize, last <= end
            else {
                exhaustedEnd[step] = end
                continue
            }
            let newest = block.indices.filter { block[$0].stored.sequence == next.newest?.sequence }
            let kept = TrackThinning.keptIndices(
                of: block.map(\.stored.update), tolerance: step.tolerance, fixed: Set(newest))
            let staying = Set(kept)
            if kept.count < block.count { try store.replace(first...last, with: kept.map { block[$0] }) }
            for index in block.indices where !staying.contains(index) {
                next.evict(block[index].stored, because: .thinned)
            }
            next.thinning.advance(step, to: last)
            return true
        }
        return false
    }
}
