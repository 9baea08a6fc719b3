import Reporting
import Testing
import WaypostTestSupport

@testable import SQLiteOutbox

/// A store whose process was killed while a backlog drained, newest first.
private struct DrainingStore: Sendable {
    let accepted: Int64
    let pending: Set<Int64>
    let files: [String: [UInt8]]

    /// Creates the store. If the vehicle `isDriving`, new updates are accepted meanwhile, and delivered first.
    init(isDriving: Bool) throws {
        let directory = try StoreDirectory()
        try directory.buildBacklog(300)
        let outbox = try directory.open()
        for second in 301...306 {
            if isDriving { _ = try outbox.append(sample(second)) }
            try outbox.deliverBatch(maximumPastLocations: 10)
        }
        try directory.copyStore(to: "cut")
        files = ["outbox.sqlite": try directory.read("cut"), "outbox.sqlite-wal": try directory.read("cut-wal")]
        let killed = try directory.open("cut")
        pending = Set(try killed.pendingUpdates().map(\.sequence))
        accepted = try killed.ledger().accepted
    }

    static let parked = Result { try DrainingStore(isDriving: false) }
    static let driving = Result { try DrainingStore(isDriving: true) }

    /// Returns the copies of the row with `sequence` in the files.
    func copies(of sequence: Int64) -> [(name: String, range: Range<Int>)] {
        let stored = StoredUpdate(sequence: sequence, update: sample(Int(sequence)))
        let cell = UpdateRecord(stored).row.cell
        return files.flatMap { name, bytes in bytes.ranges(of: cell).map { (name, $0) } }
    }

    /// Flips a bit, opens the store, and delivers everything.
    func expectSoundRepair(flipping bit: Int, of name: String) throws {
        let directory = try StoreDirectory()
        for (name, bytes) in files { try directory.write(bytes, to: name) }
        var bytes = files[name] ?? []
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        try directory.write(bytes, to: name)

        let outbox = try directory.open()
        var delivered: Set<Int64> = []
        while let batch = try outbox.nextBatch(maximumPastLocations: 50), !batch.pending.isEmpty {
            delivered.formUnion(batch.pending.map(\.sequence))
            try outbox.acknowledge(batch)
        }
        let ledger = try outbox.ledger()
        let lost = pending.subtracting(delivered)
        let again = delivered.subtracting(pending)
        // A damaged last commit can't be distinguished from an interrupted one, so its deliveries are repeated.
        let repeated = directory.recoveries.isEmpty ? 11 : directory.recoveries.reduce(0) { $0 + $1.repeated }
        let comment: Comment = "bit \(bit) of \(name): \(ledger), lost \(lost.sorted()), again \(again.sorted())"
        #expect(ledger.balances && ledger.pending == 0, comment)
        #expect(ledger.accepted == accepted, comment)
        #expect(Int64(lost.count) <= ledger.evicted + accepted - ledger.accepted, comment)
        #expect(Int64(again.count) <= repeated, comment)
    }
}

/// The law of repairs: every accepted update is delivered, pending, quarantined, or counted as lost to damage; and
/// every delivered update that is pending again is counted.
@Suite(.enabled(if: !Sanitizer.isThreadSanitizer, "runs on one thread"))
struct RepairLaw {
    /// The newest update is delivered and the previous one is pending. Every fifth bit of each copy of the pending row
    /// is flipped.
    @Test func holdsForFlippedBitsOfAPendingRow() throws {
        let store = try DrainingStore.parked.get()
        try expectSoundRepairs(ofRow: 299, in: store)
        try expectSoundRepairs(ofRow: 200, in: store)
    }

    @Test func holdsForFlippedBitsWhileTheVehicleDrives() throws {
        let store = try DrainingStore.driving.get()
        try expectSoundRepairs(ofRow: 299, in: store)
    }

    /// The newest copy of the ledger in each file is damaged.
    @Test func holdsForFlippedBitsOfTheLedger() throws {
        let store = try DrainingStore.parked.get()
        let key = Array(#""delivered":"#.utf8)
        for (name, bytes) in store.files {
            let place = try #require(bytes.ranges(of: key).last, "\(name)").lowerBound
            for bit in stride(from: (place - 30) * 8, to: (place + 60) * 8, by: 7) {
                try store.expectSoundRepair(flipping: bit, of: name)
            }
        }
    }

    /// If the log ends before its last changes, the updates that these changes delivered must not become pending
    /// silently.
    @Test func holdsForALogThatLacksItsLastChanges() throws {
        let store = try DrainingStore.parked.get()
        let log = try #require(store.files["outbox.sqlite-wal"])
        for frame in 0..<(log.count - 32) / 1048 {
            try store.expectSoundRepair(flipping: (32 + frame * 1048 + 20) * 8, of: "outbox.sqlite-wal")
        }
    }

    private func expectSoundRepairs(ofRow sequence: Int64, in store: DrainingStore) throws {
        let copies = store.copies(of: sequence)
        #expect(!copies.isEmpty)
        for copy in copies {
            for bit in stride(from: copy.range.lowerBound * 8, to: copy.range.upperBound * 8, by: 5) {
                try store.expectSoundRepair(flipping: bit, of: copy.name)
            }
        }
    }
}
