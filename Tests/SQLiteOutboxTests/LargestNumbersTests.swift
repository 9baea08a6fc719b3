import ReportedText
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import SQLiteOutbox

/// Crafted rows and ledgers with the largest accepted numbers, or with counts that differ from the rows.
@Suite(.timeLimit(.minutes(5)), .enabled(if: !Sanitizer.isThreadSanitizer, "runs on one thread"))
struct LargestNumbers {
    struct CraftedStore: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String

        init(_ description: String, _ sql: String) {
            testDescription = description
            self.sql = sql
        }
    }

    private typealias Rows = ExtremeRows

    /// SQL for a store with the pending updates 1 to 5.
    static let crafted =
        [51, 52, 53].flatMap { bits in [-1, 0, 1].map { (Int64(1) << bits) + $0 } }.flatMap(storesWithNumber)
        + miscountedStores

    private static func storesWithNumber(_ number: Int64) -> [CraftedStore] {
        /// Returns a balanced ledger, in which `change` counts all updates except the five pending ones.
        func balanced(_ change: (inout OutboxCounters) -> Void) -> String {
            Rows.ledger {
                $0.lastSequence = number
                change(&$0)
            }
        }
        return [
            CraftedStore("sequence \(number)", Rows.row(number)),
            CraftedStore(
                "sequence \(number), counted in the ledger",
                Rows.ledger(accepted: number - 1, delivered: number - 6) + ";" + Rows.row(number)),
            CraftedStore("\(number) accepted", balanced { $0.delivered = number - 5 }),
            CraftedStore("revision \(number)", Rows.ledger { $0.revision = number }),
            CraftedStore(
                "\(number) evicted for two reasons",
                balanced {
                    $0.evictions[.oldest].count = number / 2
                    $0.evictions[.age].count = number - number / 2 - 5
                }),
            CraftedStore(
                "\(number) evicted for each of two reasons, and fewer than zero delivered",
                balanced {
                    $0.evictions[.oldest].count = number
                    $0.evictions[.age].count = number
                    $0.delivered = -number - 5
                }),
            CraftedStore("\(number) evicted", Rows.ledger { $0.evictions[.oldest].count = number }),
            CraftedStore(
                "\(number) evicted, in a balanced ledger", balanced { $0.evictions[.oldest].count = number - 5 }),
            CraftedStore("\(number) quarantined", balanced { $0.quarantined.count = number - 5 }),
        ]
    }

    private static let quarantined = QuarantinedUpdate(
        stored: StoredUpdate(sequence: 4, update: sample(4)), reason: "400")

    private static let miscountedStores = [
        CraftedStore("a gap too wide to be counted", Rows.row(30_000)),
        CraftedStore(
            "more rows than the ledger has",
            Rows.ledger(accepted: 30_000, pending: 0, delivered: 30_000) + ";" + Rows.row(30_000)),
        CraftedStore(
            "two rows more than the ledger has",
            Rows.ledger(accepted: 30_000, pending: 4, delivered: 29_996) + ";" + Rows.row(30_000)),
        CraftedStore("a row before the first", Rows.ledger(accepted: 6, pending: 6) + ";" + Rows.row(-1)),
        CraftedStore(
            "an uncounted quarantine",
            "DELETE FROM updates WHERE sequence = 4; \(quarantined.row.sql);"
                + Rows.ledger(pending: 4, delivered: 1)),
    ]

    /// Every accepted update is delivered, every written ledger can be read, and no store is repaired repeatedly.
    @Test(arguments: crafted, OutboxDurability.allCases)
    func leaveAWorkingStore(crafted: CraftedStore, durability: OutboxDurability) throws {
        let directory = try StoreDirectory()
        let first = try directory.open()
        for second in 1...5 { _ = try first.append(sample(second)) }
        try first.close()
        try directory.execute(crafted.sql)

        var settings = directory.configuration()
        settings.durability = durability
        var undelivered = Set((1...5).map { sample($0).timeOfFix })
        for round in 1...4 {
            let outbox = try OutboxEngine(settings)
            _ = try outbox.maintain()
            let begin = 100 * round
            for second in begin..<begin + 3 {
                _ = try outbox.append(sample(second))
                undelivered.insert(sample(second).timeOfFix)
            }
            let rejected = try outbox.append(sample(begin + 3))
            try outbox.quarantine(rejected, reason: "400")
            _ = try outbox.carryOut(QuarantineRequest(round == 2 ? .discard : .requeue, nil))
            try drain(outbox, removingFrom: &undelivered)
            #expect(try outbox.ledger().balances)
            // This update is pending until the next start.
            _ = try outbox.append(sample(begin + 4))
            undelivered.insert(sample(begin + 4).timeOfFix)
            try outbox.close()
            let summary = try OutboxReader(path: directory.store).summary()
            #expect(summary.ledger.balances && summary.ledger.pending == 1)
        }
        try drain(OutboxEngine(settings), removingFrom: &undelivered)
        #expect(undelivered.isEmpty)
        #expect(directory.recoveries.count <= 2)
    }

    /// Work of all kinds that starts with numbers at a limit leaves only readable rows.
    @Test(arguments: 0..<12 as Range<UInt64>) func leaveOnlyReadableRows(seed: UInt64) throws {
        var chance = SplitMix64(seed: seed)
        let limit = Int64(1) << (51 + seed % 2)
        var parts = (0..<7).map { _ in Int64.random(in: 0...limit / 7, using: &chance) }
        parts[Int.random(in: 0..<7, using: &chance)] += limit - 5 - parts.reduce(0, +)  // the sum is exact
        let directory = try StoreDirectory()
        var settings = directory.configuration(maximumBytes: 64 * 1024)
        settings.maximumAge = .seconds(20_000)
        settings.durability = seed % 3 == 0 ? .economy : .full
        let first = try directory.open()
        for second in 1...5 { _ = try first.append(sample(second)) }
        try first.close()
        try directory.execute(
            Rows.ledger { counters in
                counters.lastSequence = limit
                counters.delivered = parts[0]
                counters.quarantined.count = parts[1]
                for (reason, part) in zip(EvictionReason.allCases, parts[2...]) {
                    counters.evictions[reason].count = part
                }
                counters.revision = seed % 4 == 0 ? limit : 1
            })
        var outbox = try OutboxEngine(settings)
        var second = 10
        for _ in 0..<60 {
            switch Int.random(in: 0..<8, using: &chance) {
            case 0...2:
                // One round in ten appends enough updates to evict old ones.
                for _ in 0..<(Int.random(in: 0..<10, using: &chance) == 0 ? 700 : 5) {
                    _ = try outbox.append(zigzag(second))
                    second += 10
                }
            case 3: try outbox.deliverBatch(maximumPastLocations: .random(in: 0...50, using: &chance))
            case 4: if let last = try outbox.newest() { try outbox.quarantine(last, reason: "400") }
            case 5: _ = try outbox.carryOut(QuarantineRequest(.requeue, nil))
            case 6: _ = try outbox.carryOut(QuarantineRequest(.discard, nil))
            default:
                try outbox.close()
                outbox = try OutboxEngine(settings)
            }
            #expect(try outbox.ledger().balances)
            try expectAllToBeReadable(directory)
        }
        #expect(directory.recoveries.count <= 1)
    }

    private func expectAllToBeReadable(_ directory: StoreDirectory) throws {
        let connection = try SQLiteConnection(path: directory.store, access: .readOnly)
        for table in [StoreSchema.updates, StoreSchema.quarantine] {
            let statement = try SQLiteStatement(connection, "SELECT \(StoredRow.columns) FROM \(table)")
            while try statement.step() {
                let sequence = statement.integer(0)
                let found = StoredRow(statement)
                let row = try #require(found, "row \(sequence) of \(table)")
                let isReadable =
                    LedgerRecord(row) != nil || UpdateRecord(row) != nil || QuarantinedUpdate(row) != nil
                try #require(isReadable, "row \(row.sequence) of \(table)")
            }
        }
    }

    /// A ledger that couldn't be read again isn't written.
    @Test func areRejectedBeforeTheyAreWritten() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        _ = try outbox.append(sample(1))
        let store = try #require(outbox.store)
        let limit = OutboxCounters.Limit.record
        let changes: [(inout OutboxCounters) -> Void] = [
            { $0.lastSequence = limit + 1 }, { $0.pending = -1 }, { $0.delivered = limit + 1 }, { $0.revision = limit },
            { $0.quarantined.count = -1 }, { $0.evictions[.age].count = limit + 1 },
        ]
        for change in changes {
            var next = outbox.counters
            change(&next)
            let error = #expect(throws: OutboxError.self) {
                try store.transaction { () throws(OutboxError) in try store.write(&next) }
            }
            #expect(error?.code == .damaged)
        }
        #expect(try store.rows.counters() == outbox.counters)
    }

    /// Delivers all pending updates, and removes their times from `undelivered`.
    private func drain(_ outbox: OutboxEngine, removingFrom undelivered: inout Set<UTCTime>) throws {
        for _ in 1...20 {
            guard let batch = try outbox.nextBatch(maximumPastLocations: 3) else {
                #expect(try outbox.ledger().pending == 0)
                return
            }
            undelivered.subtract(batch.pending.map(\.update.timeOfFix))
            try outbox.acknowledge(batch)
        }
        throw BrokenPromise(description: "the backlog never ends: \(try outbox.ledger())")
    }
}
