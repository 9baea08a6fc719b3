import GNSS
import LinuxPlatform
import LocationReporting
import TimeAndChance

/// Room: what gives way near the cap and at the age limit, and the reserve for a full disk.
extension OutboxEngine {
    /// From so many bytes in use on the backlog is thinned, a block an append: early enough to be done before the cap.
    private var thinningBytes: Int64 {
        configuration.maximumBytes - max(16 * StoreFormat.pageSize, configuration.maximumBytes / 16)
    }

    /// Makes room near the cap: thins one block of the backlog, and drops the oldest one where that frees too little.
    /// Never the newest update; whether any row went.
    ///
    /// One block of each is all that an append has to wait for. A store that is over the cap because the cap was
    /// lowered comes down block by block.
    func makeRoom(_ store: OutboxStore, _ next: inout OutboxAccount) throws(StoreError) -> Bool {
        let before = try store.bytesInUse()
        guard before > thinningBytes else { return false }
        let isThinned = try thinBlock(store, &next)
        let after = isThinned ? try store.bytesInUse() : before
        let isFreeing = isThinned && after < before
        guard after > configuration.maximumBytes - 8 * StoreFormat.pageSize, !isFreeing else { return isThinned }
        let oldest = try store.rows.oldest(limit: Self.evictionBlock)
        return try evict(oldest, .oldest, store, &next) || isThinned
    }

    /// Gives up a block of the oldest updates that are older than the configured age, by times of fix; whether any was.
    func evictByAge(_ store: OutboxStore, _ next: inout OutboxAccount) throws(StoreError) -> Bool {
        guard let maximumAge = configuration.maximumAge, let newest = next.newest else { return false }
        let earliest = newest.update.timeOfFix.advanced(by: .zero - maximumAge)
        func isTooOld(_ record: UpdateRecord) -> Bool { record.stored.update.timeOfFix < earliest }
        guard let oldest = try store.rows.oldest(limit: 1).first, isTooOld(oldest) else { return false }
        let block = try store.rows.oldest(limit: Self.evictionBlock).prefix(while: isTooOld)
        return try evict(block, .age, store, &next)
    }

    private func evict(
        _ records: some Sequence<UpdateRecord>, _ reason: EvictionReason, _ store: OutboxStore,
        _ next: inout OutboxAccount
    ) throws(StoreError) -> Bool {
        var isAny = false
        for record in records where record.stored.sequence != next.newest?.sequence {
            guard try store.remove(record.stored.sequence) else { continue }
            next.evict(record.stored, reason)
            isAny = true
        }
        return isAny
    }

    /// Thins the next block of the finest step that has one; `false` when the coarsest has come through all of them.
    private func thinBlock(_ store: OutboxStore, _ next: inout OutboxAccount) throws(StoreError) -> Bool {
        for step in ThinningStep.allCases {
            let range = next.thinning.range(of: step)
            let end = min(range.upperBound, next.lastSequence)
            guard end - range.lowerBound >= Self.evictionBlock - 1, barrenEnd[step] != end else { continue }
            let block = try store.rows.oldest(after: range.lowerBound - 1, limit: Self.evictionBlock)
            guard let last = block.last, block.count == Self.evictionBlock, last.stored.sequence <= end else {
                barrenEnd[step] = end
                continue
            }
            let newest = block.indices.filter { block[$0].stored.sequence == next.newest?.sequence }
            let kept = TrackThinning.kept(
                of: block.map(\.stored.update), tolerance: step.tolerance, fixed: Set(newest))
            let staying = Set(kept)
            if kept.count < block.count { try store.replace(block, with: kept.map { block[$0] }) }
            for index in block.indices where !staying.contains(index) { next.evict(block[index].stored, .thinned) }
            next.thinning.advance(step, to: last.stored.sequence)
            return true
        }
        return false
    }

    /// Runs `body` again with the reserve given back when the disk is full.
    func withReserve<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        do throws(StoreError) { return try body() } catch {
            guard error.kind == .full, !error.isFailedSync, files.giveReserveBack() else { throw error }
            return try body()
        }
    }

    /// Makes sure of the reserve. What lies in its place and is not this user's to remove stays there: then there is
    /// none, which is told once, and updates are stored all the same.
    func reserveSpace() throws(StoreError) {
        do throws(StoreError) {
            try withSystem(files.path) { () throws(SystemError) in
                try files.disk.reserve(Self.reserveBytes, at: files.reserve)
            }
        } catch {
            guard error.kind == .refused else { throw error }
            if !isReserveMissed {
                configuration.reportWarning(
                    "there is no reserve for a full disk, updates are stored all the same: \(error.reason)")
            }
            isReserveMissed = true
        }
    }
}
