import LocationReporting

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
