import LocationReporting
import Testing

@testable import SQLiteOutbox

/// Damage that shows only while the service runs.
@Suite struct DamageMetWhileRunning {
    @Test func isRepairedAndCounted() throws {
        let folder = try TemporaryFolder()
        try folder.buildBacklog(24_000)
        let outbox = try folder.open()
        _ = try outbox.append(sample(40_000))
        // A row in the middle, of a store too large to be checked whole at opening.
        try folder.execute("UPDATE records SET body = zeroblob(40) WHERE id = 5000; PRAGMA wal_checkpoint(TRUNCATE)")
        while try outbox.ledger().pending > 0 { try outbox.deliverBatch(maximumPastLocations: 3000) }
        let recovery = try #require(folder.recoveries.first)
        #expect(folder.recoveries.count == 1)
        #expect(recovery.reason == "update 5000 fails its checksum")
        #expect(recovery.lost == 1...1)
        #expect(try outbox.ledger() == Ledger(accepted: 24_001, delivered: 24_000, evicted: 1))
        try outbox.close()
        #expect(try OutboxReader(path: folder.store).summary().evictions[.damage].count == 1)
    }

    @Test func keepsTheAccountThatIsInMemory() throws {
        let folder = try TemporaryFolder()
        let outbox = try folder.open()
        for second in 1...10 { _ = try outbox.append(sample(second)) }
        try outbox.deliverBatch(maximumPastLocations: 4)
        try folder.execute("UPDATE records SET body = zeroblob(40) WHERE id IN (0, 7)")
        outbox.store = nil  // as after an error of the disk: the next call opens it anew
        #expect(try outbox.ledger().balances)
        #expect(try outbox.pendingUpdates().map(\.sequence) == [5, 6, 8, 9])
        #expect(folder.recoveries.count == 1)
    }
}
