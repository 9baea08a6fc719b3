import GNSS
import LocationReporting
import Testing

@testable import SQLiteOutbox

@Suite struct Eviction {
    @Test func keepsTheStoreBelowTheCap() throws {
        let folder = try TemporaryFolder()
        let outbox = try OutboxEngine(folder.configuration(maximumBytes: 64 * 1024))
        var lowest: Int64 = 0
        for second in 1...4000 {
            _ = try outbox.append(sample(second))
            try #require(try outbox.store?.bytesInUse() ?? 0 <= 64 * 1024)
            let ledger = try outbox.ledger()
            try #require(ledger.balances)
            lowest = ledger.evicted
        }
        let ledger = try outbox.ledger()
        #expect(ledger.accepted == 4000)
        #expect(ledger.evicted > 2000)
        #expect(ledger.pending > 500)
        #expect(try outbox.pendingUpdates().map(\.sequence) == Array(lowest + 1...4000), "the oldest went")
        try outbox.close()
        let summary = try OutboxReader(path: folder.store).summary()
        #expect(summary.ledger == ledger)
        #expect(summary.evictedForSpace.count == ledger.evicted)
        #expect(
            summary.evictedForSpace.timesOfFix
                == sample(1).timeOfFix...sample(Int(ledger.evicted)).timeOfFix)
    }

    @Test func neverTakesTheNewest() throws {
        let folder = try TemporaryFolder()
        let outbox = try OutboxEngine(folder.configuration(maximumBytes: 64 * 1024))
        _ = try outbox.append(sample(80_000))  // accepted first, newest by time
        for second in 1...3000 { _ = try outbox.append(sample(second)) }
        #expect(try outbox.newest()?.update == sample(80_000))
        let batch = try #require(try outbox.nextBatch(maximumPastLocations: 1))
        #expect(batch.last.update == sample(80_000))
        #expect(batch.lastIsPending)
    }

    @Test func givesTheSpaceOfADrainedBacklogBack() throws {
        let folder = try TemporaryFolder()
        try folder.buildBacklog(40_000)
        let outbox = try folder.open()
        let full = try folder.read("outbox.sqlite").count
        while try outbox.ledger().pending > 0 { try outbox.deliverBatch(maximumPastLocations: 1000) }
        try outbox.close()
        #expect(full > 1_500_000)
        #expect(try folder.read("outbox.sqlite").count < 600 * 1024)
        #expect(try OutboxReader(path: folder.store).summary().ledger == Ledger(accepted: 40_000, delivered: 40_000))
    }

    @Test func isNotForQuarantineWhoseListIsBounded() throws {
        let folder = try TemporaryFolder()
        let outbox = try folder.open()
        for second in 1...300 {
            let stored = try outbox.append(sample(second))
            try outbox.quarantine(stored, reason: String(repeating: "é", count: 1000))
        }
        #expect(try outbox.ledger() == Ledger(accepted: 300, quarantined: 300))
        try outbox.close()
        let listed = try OutboxReader(path: folder.store).quarantined()
        #expect(listed.map(\.stored.sequence) == Array(45...300))
        #expect(listed.allSatisfy { $0.reason == String(repeating: "é", count: 256) })
    }
}
