import FoundationEssentials
import ReportedText
import Reporting
import Testing
import WaypostTestSupport

@testable import SQLiteOutbox

extension StoreSchema {
    private static let today = released.versions.last?.tables ?? []

    /// An older schema, which the tests bring: it knows no requests.
    static let older = StoreSchema(versions: [Version(tables: today.dropLast())])

    /// That of a release which came after it, with the step that leads there.
    static let later = StoreSchema(
        versions: older.versions + [Version(tables: today, step: today.last?.text ?? "no table")])
}

extension StoreFolder {
    func open(_ name: String = "outbox.sqlite", schema: StoreSchema) throws -> OutboxEngine {
        var configuration = configuration(name)
        configuration.schema = schema
        return try OutboxEngine(configuration)
    }
}

/// Stores of older and of newer versions of the schema.
@Suite(.enabled(if: !Sanitizer.isOfThreads, "runs on one thread")) struct Migration {
    enum Old: CaseIterable {
        /// As the first release wrote it: `fixtures/outbox`.
        case first
        /// As a release of `older` leaves it when it is stopped; when the power goes.
        case older, olderCut

        var schema: StoreSchema { self == .first ? .released : .later }
    }

    static func tally(_ count: Int64, _ first: Int, _ last: Int) -> UpdateTally {
        UpdateTally(count: count, timesOfFix: sample(first).timeOfFix...sample(last).timeOfFix)
    }

    /// What the store says of itself: its summary, and what waits.
    typealias Contents = (summary: StoreSummary, pending: [StoredUpdate])

    @discardableResult static func lay(_ old: Old, in folder: StoreFolder) throws -> Contents {
        if old == .first {
            try folder.write([UInt8](Data(contentsOf: Fixtures.url("outbox/version-1.sqlite"))), to: "outbox.sqlite")
            var summary = StoreSummary(
                Ledger(accepted: 2400, delivered: 501, pending: 431, evicted: 1466, quarantined: 2))
            summary.evictions[.thinned] = tally(697, 2, 700)
            summary.evictions[.oldest] = tally(768, 1, 1465)
            summary.evictions[.discarded] = tally(1, 2390, 2390)
            summary.quarantined = tally(2, 2395, 2399)
            let reader = try OutboxReader(path: folder.store)
            summary.newest = try reader.summary().newest
            return (summary, try reader.pending(after: 0))
        }
        let outbox = try folder.open(schema: .older)
        for second in 1...400 { _ = try outbox.append(sample(second)) }
        try outbox.deliverBatch(maximumPastLocations: 8)
        for sequence in [20, 21, 399] {
            try outbox.quarantine(StoredUpdate(sequence: Int64(sequence), update: sample(sequence)), reason: "400")
        }
        _ = try outbox.carryOut(QuarantineRequest(.discard, [21]))
        let contents = (try outbox.summary(), try outbox.pendingUpdates())
        if old == .olderCut { try folder.moveStore(owner: outbox) } else { try outbox.close() }
        #expect(try folder.version == 1)
        return contents
    }

    @Test(arguments: Old.allCases) func isMigratedInPlaceAndDrained(old: Old) throws {
        let folder = try StoreFolder()
        let (before, pending) = try Self.lay(old, in: folder)
        #expect(pending.count == before.ledger.pending)
        let make = old == .first ? zigzag : sample
        #expect(pending.allSatisfy { $0.update == make(Int($0.sequence)) })
        #expect(
            try OutboxReader(path: folder.store, schema: old.schema).summary() == before, "tools read it as it is")
        var outbox: OutboxEngine? = try folder.open(schema: old.schema)
        #expect(try outbox?.summary() == before)
        #expect(try outbox?.pendingUpdates() == pending)
        // Without an orderly end: what was migrated is on the disk.
        try folder.copyStore(to: "cut")
        let cut = try folder.open("cut", schema: old.schema)
        #expect(try cut.summary() == before)

        #expect(try outbox?.maintain() == false)
        let next = try #require(try outbox?.append(sample(3000)))
        #expect(next.sequence == before.ledger.accepted + 1)
        while try outbox?.ledger().pending ?? 0 > 0 { try outbox?.deliverBatch() }
        try outbox?.close()
        outbox = nil
        #expect(folder.recoveries.isEmpty)
        #expect(try folder.version == old.schema.current)
        let drained = try OutboxReader(path: folder.store, schema: old.schema).summary().ledger
        #expect(drained.delivered == before.ledger.delivered + before.ledger.pending + 1)
        #expect(drained.balances && drained.evicted == before.ledger.evicted)
    }

    /// Damage in a store of an older release: what it held is salvaged into one of today.
    @Test(arguments: ["UPDATE records SET body = zeroblob(40) WHERE id = 0", "DROP TABLE quarantined"])
    func isSalvagedWhenDamaged(damage: String) throws {
        let folder = try StoreFolder()
        let (_, before) = try Self.lay(.older, in: folder)
        try folder.execute(damage)
        let outbox = try folder.open(schema: .later)
        #expect(folder.recoveries.count == 1)
        let pending = try outbox.pendingUpdates()
        #expect(Set(pending.map(\.sequence)).isSuperset(of: before.map(\.sequence)))
        #expect(try outbox.ledger().balances)
        #expect(try outbox.append(sample(2000)).sequence > pending.last?.sequence ?? 0)
        try outbox.close()
        #expect(try folder.version == 2)
    }

    /// The migration is one transaction: whatever of its log reached the disk, the store is of one version or another.
    @Test func isWholeAfterAPowerCutInItsMigration() throws {
        let folder = try StoreFolder()
        let before = try Self.lay(.older, in: folder).summary
        let outbox = try folder.open(schema: .later)
        try folder.copyStore(to: "whole")
        let log = try folder.read("whole-wal")
        let frames = (log.count - 32) / (24 + 1024)
        #expect(frames > 0)
        for kept in 0...frames {
            for extra in [0, 500] where kept < frames || extra == 0 {
                try folder.write(try folder.read("whole"), to: "cut")
                try folder.write(log.prefix(32 + kept * (24 + 1024) + extra), to: "cut-wal")
                let cut = try folder.open("cut", schema: .later)
                #expect(try cut.ledger() == before.ledger, "\(kept) frames")
                try cut.close()
            }
        }
        #expect(folder.recoveries.isEmpty)
        try outbox.close()
    }

    /// One from a later release is refused, and no byte of it changes: its schema is another, be it by a comment.
    @Test(
        arguments: [2, 1000],
        [
            "CREATE TABLE tracks (id INTEGER PRIMARY KEY, body BLOB NOT NULL)", "DROP TABLE quarantined",
            "DROP TABLE quarantined; CREATE TABLE quarantined (id INTEGER PRIMARY KEY, body BLOB NOT NULL /* 2 */)",
        ])
    func thatIsNewerIsUntouched(version: Int, change: String) throws {
        let folder = try StoreFolder()
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
            #expect(error?.detail.contains("schema \(version), known up to 1") == true)
            #expect(error?.detail.contains("install that release again") == true)
        }
        #expect(try folder.read("outbox.sqlite") == before)
        #expect(try folder.names == names)
    }

    /// The schema that a release makes tells its version as well as the number does: a number that is too high over a
    /// schema that is known has a flipped bit, and no newer release wrote it.
    @Test(arguments: Old.allCases.dropLast(), 0..<10) func withAFlippedBitInItsNumberIsRepaired(
        old: Old, bit: Int
    ) throws {
        for isMigrated in [false, true] {
            let folder = try StoreFolder()
            let (before, pending) = try Self.lay(old, in: folder)
            if isMigrated { try folder.open(schema: old.schema).close() }
            try folder.execute("PRAGMA user_version = \(Int(try folder.version) ^ 1 << bit)")
            for error in [
                #expect(throws: OutboxError.self) { try OutboxReader(path: folder.store, schema: old.schema) },
                #expect(throws: OutboxError.self) { try OutboxRequester(path: folder.store, schema: old.schema) },
            ] { #expect(error?.detail.contains("the service repairs it at its next start") == true) }
            let outbox = try folder.open(schema: old.schema)
            #expect(folder.recoveries.count == 1)
            #expect(try outbox.ledger() == before.ledger)
            #expect(try outbox.pendingUpdates() == pending)
            try outbox.close()
            #expect(try folder.version == old.schema.current)
        }
    }

    /// What the rule in `StoreSchema` asks of every version.
    @Test(arguments: [StoreSchema.released, .later]) func hasASchemaOfItsOwn(schema: StoreSchema) {
        let texts = schema.versions.map { Set($0.tables.map(\.text)) }
        for (index, text) in texts.enumerated() { #expect(!texts[..<index].contains(text)) }
    }
}
