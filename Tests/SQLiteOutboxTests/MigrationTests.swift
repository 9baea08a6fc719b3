import FoundationEssentials
import GNSS
import LocationReporting
import Testing
import WaypostTestSupport

@testable import SQLiteOutbox

/// Stores of every schema version, as their releases wrote them: `fixtures/outbox`.
@Suite struct StoreOfAnotherVersion {
    struct Old: Sendable, CustomTestStringConvertible {
        let name: String
        let ledger: Ledger
        let evictions: [EvictionReason: UpdateTally]
        let quarantined: UpdateTally
        /// The update of a sequence.
        var update: @Sendable (Int) -> LocationUpdate = sample
        var testDescription: String { name }
    }

    private static func tally(_ count: Int64, _ first: Int, _ last: Int) -> UpdateTally {
        UpdateTally(count: count, timesOfFix: sample(first).timeOfFix...sample(last).timeOfFix)
    }

    static let stores = [
        Old(
            name: "version-1.sqlite",
            ledger: Ledger(accepted: 1402, delivered: 703, pending: 440, evicted: 256, quarantined: 3),
            evictions: [.oldest: tally(256, 1, 256)], quarantined: tally(3, 1390, 1399)),
        // With its write-ahead log, as a power cut left it.
        Old(
            name: "version-1-cut.sqlite", ledger: Ledger(accepted: 30, delivered: 9, pending: 20, quarantined: 1),
            evictions: [:], quarantined: tally(1, 20, 20)),
        Old(
            name: "version-2.sqlite",
            ledger: Ledger(accepted: 2400, delivered: 501, pending: 431, evicted: 1466, quarantined: 2),
            evictions: [
                .thinned: tally(697, 2, 700), .oldest: tally(768, 1, 1465), .discarded: tally(1, 2390, 2390),
            ],
            quarantined: tally(2, 2395, 2399), update: zigzag),
    ]

    private func lay(_ name: String, in folder: TemporaryFolder) throws {
        for suffix in ["", "-wal"] {
            let source = Fixtures.url("outbox/\(name)\(suffix)")
            guard FileManager.default.fileExists(atPath: source.path) else { continue }
            try FileManager.default.copyItem(atPath: source.path, toPath: folder.store + suffix)
        }
    }

    @Test(arguments: stores) func isMigratedInPlaceAndDrained(old: Old) throws {
        let folder = try TemporaryFolder()
        try lay(old.name, in: folder)
        #expect(try OutboxReader(path: folder.store).summary().ledger == old.ledger, "tools read it as it is")
        var outbox: OutboxEngine? = try folder.open()
        let summary = try #require(try outbox?.summary())
        #expect(summary.ledger == old.ledger)
        for reason in EvictionReason.allCases {
            #expect(summary.evictions[reason] == old.evictions[reason] ?? UpdateTally(), "\(reason)")
        }
        #expect(summary.quarantined == old.quarantined)
        let pending = try #require(try outbox?.pendingUpdates())
        #expect(pending.count == Int(old.ledger.pending))
        #expect(pending.allSatisfy { $0.update == old.update(Int($0.sequence)) })
        // Without an orderly end: what was migrated is on the disk.
        try folder.copyStore(to: "cut")
        let cut = try folder.open("cut")
        #expect(try cut.summary() == summary)
        #expect(try cut.pendingUpdates() == pending)

        let next = try #require(try outbox?.append(sample(2000)))
        #expect(next.sequence == old.ledger.accepted + 1)
        while try outbox?.ledger().pending ?? 0 > 0 { try outbox?.deliverBatch() }
        try outbox?.close()
        outbox = nil
        #expect(folder.recoveries.isEmpty)
        #expect(try StoreHeader(path: folder.store).version == StoreFormat.version)
        let drained = try OutboxReader(path: folder.store).summary()
        #expect(drained.ledger.delivered == old.ledger.delivered + old.ledger.pending + 1)
        #expect(drained.ledger.balances && drained.ledger.evicted == old.ledger.evicted)
    }

    /// Damage in a store of an older release: what it held is salvaged into one of today.
    @Test(arguments: ["UPDATE records SET body = zeroblob(40) WHERE id = 0", "DROP TABLE quarantined"])
    func isSalvagedWhenDamaged(damage: String) throws {
        let folder = try TemporaryFolder()
        let old = Self.stores[0]
        try lay(old.name, in: folder)
        try folder.execute(damage)
        let outbox = try folder.open()
        #expect(folder.recoveries.count == 1)
        let pending = try outbox.pendingUpdates()
        #expect(
            pending.suffix(Int(old.ledger.pending)).map(\.sequence)
                == Array(957...1402).filter { sequence in
                    ![1390, 1395, 1399, 1400, 1401, 1402].contains(sequence)
                })
        #expect(try outbox.ledger().balances)
        #expect(try outbox.append(sample(2000)).sequence > pending.last?.sequence ?? 0)
    }

    /// The migration is one transaction: whatever of its log reached the disk, the store is of one version or another.
    @Test func isWholeAfterAPowerCutInItsMigration() throws {
        let folder = try TemporaryFolder()
        let old = Self.stores[0]
        try lay(old.name, in: folder)
        let outbox = try folder.open()
        try folder.copyStore(to: "whole")
        let log = try folder.read("whole-wal")
        let frames = (log.count - 32) / (24 + 1024)
        #expect(frames > 0)
        for kept in 0...frames {
            for extra in [0, 500] where kept < frames || extra == 0 {
                try folder.write(try folder.read("whole"), to: "cut")
                try folder.write(log.prefix(32 + kept * (24 + 1024) + extra), to: "cut-wal")
                let cut = try folder.open("cut")
                #expect(try cut.ledger() == old.ledger, "\(kept) frames")
                try cut.close()
            }
        }
        #expect(folder.recoveries.isEmpty)
        try outbox.close()
    }

    /// One from a later release is refused, and no byte of it changes: its schema is another, be it by a comment.
    @Test(
        arguments: [3, 1000],
        [
            "CREATE TABLE tracks (id INTEGER PRIMARY KEY, body BLOB NOT NULL)", "DROP TABLE quarantined",
            "DROP TABLE quarantined; CREATE TABLE quarantined (id INTEGER PRIMARY KEY, body BLOB NOT NULL /* 3 */)",
        ])
    func thatIsNewerIsUntouched(version: Int, change: String) throws {
        let folder = try TemporaryFolder()
        let outbox = try folder.open()
        _ = try outbox.append(sample(1))
        try outbox.close()
        try folder.execute("\(change); PRAGMA user_version = \(version)")
        let before = try folder.read("outbox.sqlite")
        let names = try folder.names
        let errors = [
            #expect(throws: OutboxError.self) { try folder.open() },
            #expect(throws: OutboxError.self) { try OutboxReader(path: folder.store) },
            #expect(throws: OutboxError.self) { try OutboxRequester(path: folder.store) },
        ]
        for error in errors {
            #expect(error?.code == .newerSchema)
            #expect(error?.detail.contains("schema \(version), known up to 2") == true)
            #expect(error?.detail.contains("install that release again") == true)
        }
        #expect(try folder.read("outbox.sqlite") == before)
        #expect(try folder.names == names)
    }

    /// The schema that a release makes tells its version as well as the number does: a number that is too high over a
    /// schema that is known has a flipped bit, and no newer release wrote it.
    @Test(arguments: 0...2, 0..<10) func withAFlippedBitInItsNumberIsRepaired(store: Int, bit: Int) throws {
        let old = Self.stores[store]
        let folder = try TemporaryFolder()
        try lay(old.name, in: folder)
        let version = 1 + store / 2
        try folder.execute("PRAGMA user_version = \(version ^ 1 << bit)")
        for error in [
            #expect(throws: OutboxError.self) { try OutboxReader(path: folder.store) },
            #expect(throws: OutboxError.self) { try OutboxRequester(path: folder.store) },
        ] { #expect(error?.detail.contains("the service repairs it at its next start") == true) }
        let outbox = try folder.open()
        #expect(folder.recoveries.count == 1)
        #expect(try outbox.ledger() == old.ledger)
        let pending = try outbox.pendingUpdates()
        #expect(pending.count == Int(old.ledger.pending))
        #expect(pending.allSatisfy { $0.update == old.update(Int($0.sequence)) })
        try outbox.close()
        #expect(try StoreHeader(path: folder.store).version == StoreFormat.version)
    }

    /// What the rule in `StoreSchema` asks of every version.
    @Test func hasASchemaOfItsOwn() {
        let schemas = (1...StoreFormat.version).map { StoreSchema.tables(ofVersion: $0) }
        for (index, schema) in schemas.enumerated() { #expect(!schemas[..<index].contains(schema)) }
    }
}
