import FoundationEssentials
import LyingDisk
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import SQLiteOutbox

/// A kind of damage to the files of a store.
struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Whether every row is still in one of the files.
    let keepsRows: Bool
    let change: @Sendable (StoreDirectory) throws -> Void

    init(_ description: String, keepsRows: Bool = false, _ change: @escaping @Sendable (StoreDirectory) throws -> Void)
    {
        testDescription = description
        self.keepsRows = keepsRows
        self.change = change
    }

    /// Changes the bytes of the database, after its log has been moved into it.
    static func database(
        _ description: String, keepsRows: Bool = false, _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) -> Damage {
        Damage(description, keepsRows: keepsRows) { directory in
            try directory.open().close()
            var bytes = try directory.read("outbox.sqlite")
            change(&bytes)
            try directory.write(bytes, to: "outbox.sqlite")
        }
    }

    static func log(
        _ description: String, keepsRows: Bool = false, _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) -> Damage {
        Damage(description, keepsRows: keepsRows) { directory in
            var bytes = try directory.read("outbox.sqlite-wal")
            change(&bytes)
            try directory.write(bytes, to: "outbox.sqlite-wal")
        }
    }

    static let all: [Damage] =
        [0, 1, 50, 100, 1000, 1024, 1500, 4096, 20_000].map { size in
            .database("cut to \(size) bytes") { $0.removeLast($0.count - size) }
        }
        + [0, 1, 2, 7, 15].map { page in
            .database("page \(page + 1) zeroed", keepsRows: page == 0) {
                $0.replaceSubrange(page * 1024..<(page + 1) * 1024, with: repeatElement(0, count: 1024))
            }
        }
        + [20, 70, 100, 1024, 1026, 3073, 5000, 9216, 9300].map { offset in
            .database("byte \(offset) flipped") { $0[offset] ^= 0xff }
        }
        + [
            .database("another program's text instead of the database") { $0 = Array("name,position\n".utf8) },
            .database("random bytes instead of the database") { bytes in
                var chance = SplitMix64(seed: 7)
                bytes = bytes.map { _ in UInt8.random(in: 0...255, using: &chance) }
            },
            .log("log's header zeroed", keepsRows: true) {
                $0.replaceSubrange(0..<32, with: repeatElement(0, count: 32))
            },
            .log("log broken in the middle", keepsRows: true) { $0[40 * 1048 + 32 + 3] ^= 0xff },
            .log("random bytes instead of the log") { bytes in
                var chance = SplitMix64(seed: 8)
                bytes = bytes.map { _ in UInt8.random(in: 0...255, using: &chance) }
            },
            .log("log cut") { $0.removeLast($0.count / 2) },
            Damage("log from an earlier time") { directory in
                try directory.open().close()
                try directory.rename("early", to: "outbox.sqlite-wal")
            },
            Damage("log removed") { try $0.write([], to: "outbox.sqlite-wal") },
            Damage("database removed") { directory in
                try directory.write([], to: "gone")
                try directory.rename("outbox.sqlite", to: "gone")
            },
        ]
}

/// A store after a power cut, with 600 accepted updates, some delivered, and the last commits in the log.
private struct CutStore: Sendable {
    let pending: [StoredUpdate]
    let ledger: Ledger
    let files: [String: [UInt8]]

    static let sample = Result { try CutStore() }

    init() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        var early: [UInt8] = []
        for second in 1...600 {
            _ = try outbox.append(SQLiteOutboxTests.sample(second))
            if second == 250 { early = try directory.read("outbox.sqlite-wal") }
            if second % 200 == 0 { try outbox.deliverBatch(maximumPastLocations: 20) }
        }
        pending = try outbox.pendingUpdates()
        ledger = try outbox.ledger()
        try directory.copyStore(to: "cut")
        files = [
            "outbox.sqlite": try directory.read("cut"), "outbox.sqlite-wal": try directory.read("cut-wal"),
            "early": early,
        ]
    }
}

@Suite(.enabled(if: !Sanitizer.isThreadSanitizer, "runs on one thread"))
struct DamagedStore {
    @Test(arguments: Damage.all)
    func canAlwaysBeOpened(damage: Damage) throws {
        let directory = try StoreDirectory()
        let before = try CutStore.sample.get()
        for (name, bytes) in before.files { try directory.write(bytes, to: name) }
        try damage.change(directory)

        let outbox = try directory.open()
        let found = try outbox.pendingUpdates()
        let after = try outbox.ledger()
        #expect(after.balances)
        #expect(found.allSatisfy { $0.update == sample(Int($0.sequence)) }, "no update is invented")
        let missing = Set(before.pending).subtracting(found)
        if damage.keepsRows { #expect(missing.isEmpty) }
        if let recovery = directory.recoveries.first {
            #expect(recovery.salvaged == found.count)
            #expect(recovery.lost.upperBound == after.evicted)
            // Other losses are allowed only if no trace is left, for example after the loss of the end of a log, or of
            // a ledger together with its newest rows.
            if after.accepted == before.ledger.accepted { #expect(missing.count <= recovery.lost.upperBound) }
        }
        let next = try outbox.append(sample(86_000))
        #expect(next.sequence == after.accepted + 1)
        try outbox.close()
        #expect(try OutboxReader(path: directory.store).summary().ledger.balances)
    }

    /// `make damage-test` sets the number of seeds.
    @Test(.enabled(if: !Sanitizer.isActive, "computes for a long time on one thread"))
    func keepsEverySoundRow() throws {
        let seeds = ProcessInfo.processInfo.environment["DAMAGE_SEEDS"].flatMap { UInt64($0) } ?? 16
        let samples = [
            try DamageTrial.Sample(rows: 600), try DamageTrial.Sample(rows: 3000),
            try DamageTrial.Sample(rows: 3000, maximumBytes: 64 * 1024),
        ]
        var trial = DamageTrial()
        for seed in 1...seeds { try trial.run(samples[Int(seed % 3)], seed: seed) }
        print(
            "damage: \(seeds) stores of \(trial.rowCount) rows in all, \(trial.soundCount) undamaged, "
                + "\(trial.salvagedCount) of these salvaged, \(trial.countedAsLost) counted as lost, "
                + "slowest opening \(trial.slowestOpening)")
    }
}
