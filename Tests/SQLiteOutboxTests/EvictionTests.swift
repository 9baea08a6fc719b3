import GNSS
import ReportedText
import Reporting
import Testing
import WaypostTestSupport

@testable import SQLiteOutbox

@Suite(.enabled(if: !Sanitizer.isThreadSanitizer, "runs on one thread"))
struct Eviction {
    /// A drive without any straight part can't be thinned, so the oldest updates are evicted.
    @Test func evictsTheOldestUpdatesIfThinningFreesNothing() throws {
        let directory = try StoreDirectory()
        let outbox = try OutboxEngine(directory.configuration(maximumBytes: 64 * 1024))
        for second in 1...4000 {
            _ = try outbox.append(zigzag(second))
            try #require(try outbox.store?.bytesInUse() ?? 0 <= 64 * 1024)
            try #require(try outbox.ledger().balances)
        }
        let ledger = try outbox.ledger()
        #expect(ledger.accepted == 4000)
        #expect(ledger.evicted > 2000)
        #expect(ledger.pending > 500)
        #expect(
            try outbox.pendingUpdates().map(\.sequence) == Array(ledger.evicted + 1...4000), "the oldest were evicted")
        try outbox.close()
        let summary = try OutboxReader(path: directory.store).summary()
        #expect(summary.ledger == ledger)
        #expect(summary.evictions[.oldest].count == ledger.evicted)
        #expect(
            summary.evictions[.oldest].timesOfFix
                == sample(1).timeOfFix...sample(Int(ledger.evicted)).timeOfFix)
    }

    /// The whole drive is thinned before any part of it is evicted completely.
    @Test func thinsBeforeItEvictsTheOldestUpdates() throws {
        let directory = try StoreDirectory()
        let maximumBytes: Int64 = 256 * 1024
        let outbox = try OutboxEngine(directory.configuration(maximumBytes: maximumBytes))
        let drive = Drives.town(updates: 12_000)
        for update in drive {
            let stored = try outbox.append(update)
            try #require(try outbox.store?.bytesInUse() ?? 0 <= maximumBytes)
            guard stored.sequence % 1499 == 0 else { continue }
            // Rows and ledger agree after a power cut, because one transaction changes both.
            try directory.copyStore(to: "cut")
            let cut = try directory.open("cut")
            try #require(try cut.summary() == outbox.summary())
            try #require(try cut.pendingUpdates().count == cut.ledger().pending)
        }
        #expect(directory.recoveries.isEmpty)
        let summary = try outbox.summary()
        #expect(summary.ledger.balances)
        #expect(summary.evictions[.thinned].count > 5000)
        #expect(summary.evictions[.oldest].count == 0)
        let remaining = try outbox.pendingUpdates()
        #expect(remaining.first?.sequence == 1 && remaining.last?.sequence == 12_000, "both ends are kept")
        let worst = Drives.error(of: remaining.map(\.update), against: drive)
        #expect(worst.meters <= 250)
        #expect(worst.span <= TrackSimplification.maximumSpan)
        try outbox.close()
        #expect(try OutboxReader(path: directory.store).summary().evictions == summary.evictions)
    }

    @Test func shrinksTheStoreToALoweredLimit() throws {
        let directory = try StoreDirectory()
        let maximumBytes: Int64 = 256 * 1024
        let drive = Drives.town(updates: 10_400)
        var outbox: OutboxEngine? = try directory.open()
        for update in drive.prefix(10_000) { _ = try outbox?.append(update) }
        outbox = nil
        let small = try OutboxEngine(directory.configuration(maximumBytes: maximumBytes))
        var later = drive.dropFirst(10_000)
        while try small.store?.bytesInUse() ?? 0 > maximumBytes, let update = later.popFirst() {
            _ = try small.append(update)
        }
        #expect(!later.isEmpty)
        #expect(try small.ledger().balances)
        #expect(try small.summary().evictions[.oldest].count == 0, "thinning was enough")
    }

    /// An update's age is the time from its fix to the newest fix, so only an accepted fix makes updates older.
    @Test func evictsUpdatesThatAreTooOldRelativeToTheNewestFix() throws {
        let directory = try StoreDirectory()
        var settings = directory.configuration()
        settings.maximumAge = .seconds(3600)
        let outbox = try OutboxEngine(settings)
        for second in 1...700 { _ = try outbox.append(sample(second)) }
        #expect(try outbox.ledger().evicted == 0)
        for number in 0..<3 { _ = try outbox.append(sample(3600 + 650 + number)) }
        #expect(try outbox.ledger() == Ledger(accepted: 703, pending: 52, evicted: 651))
        let tally = try outbox.summary().evictions[.age]
        #expect(tally == UpdateTally(count: 651, timesOfFix: sample(1).timeOfFix...sample(651).timeOfFix))
        #expect(try outbox.pendingUpdates().first?.sequence == 652)
    }

    @Test func neverEvictsTheNewestUpdate() throws {
        let directory = try StoreDirectory()
        let outbox = try OutboxEngine(directory.configuration(maximumBytes: 64 * 1024))
        _ = try outbox.append(sample(80_000))  // accepted first, newest by time
        for second in 1...3000 { _ = try outbox.append(zigzag(second)) }
        #expect(try outbox.newest()?.update == sample(80_000))
        let batch = try #require(try outbox.nextBatch(maximumPastLocations: 1))
        #expect(batch.last == sample(80_000))
        #expect(batch.lastIsPending)
    }

    @Test func drainedBacklogReturnsItsSpace() throws {
        let directory = try StoreDirectory()
        try directory.buildBacklog(28_000)
        let outbox = try directory.open()
        let full = try directory.read("outbox.sqlite").count
        while try outbox.ledger().pending > 0 { try outbox.deliverBatch(maximumPastLocations: 1000) }
        try outbox.close()
        #expect(full > 1_200_000)
        #expect(try directory.read("outbox.sqlite").count < 600 * 1024)
        #expect(try OutboxReader(path: directory.store).summary().ledger == Ledger(accepted: 28_000, delivered: 28_000))
    }

    @Test func doesNotApplyToQuarantine() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        for second in 1...300 {
            let stored = try outbox.append(sample(second))
            try outbox.quarantine(stored, reason: ReportedText(String(repeating: "é", count: 1000), limit: 2000))
        }
        #expect(try outbox.ledger() == Ledger(accepted: 300, quarantined: 300))
        try outbox.close()
        let listed = try OutboxReader(path: directory.store).quarantined().updates
        #expect(listed.map(\.stored.sequence) == Array(45...300))
        #expect(listed.allSatisfy { $0.reason.description == String(repeating: "é", count: 254) + "…" })
    }
}
