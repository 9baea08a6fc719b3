import LyingDisk
import ReportedText
import Reporting
import Testing
import TimeAndRandomness

@testable import SQLiteOutbox

@Suite struct StoredUpdates {
    /// The way in which the use of an outbox ends before it is opened again.
    private enum SessionEnd { case none, dropped, closed }

    /// Compares the store with the model after each of 1500 random steps, some of which reopen it.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func matchAPlainModel(seed: UInt64) throws {
        let directory = try StoreDirectory()
        var chance = SplitMix64(seed: seed)
        var model = OutboxModel()
        var engine: OutboxEngine? = try directory.open()
        var second = 1000
        for step in 0..<1500 {
            var end = SessionEnd.none
            do {
                let outbox = try #require(engine)
                switch Int.random(in: 0..<100, using: &chance) {
                case 0..<45:
                    second += Int.random(in: -3...10, using: &chance)
                    model.append(try outbox.append(sample(second)))
                case 45..<85:
                    let limit = Int.random(in: 0...4, using: &chance)
                    let batch = try outbox.nextBatch(maximumPastLocations: limit)
                    try #require(batch == model.batch(maximumPastLocations: limit), "step \(step)")
                    if let batch {
                        try outbox.acknowledge(batch)
                        model.deliver(batch)
                    }
                case 85..<88:
                    guard let sequence = model.quarantined.keys.sorted().randomElement(using: &chance) else { continue }
                    let isRequeued = Bool.random(using: &chance)
                    let request = QuarantineRequest(isRequeued ? .requeue : .discard, [sequence])
                    try #require(try outbox.carryOut(request) == .done(count: 1, notRequeued: 0))
                    if isRequeued { model.requeue(sequence) } else { model.discard(sequence) }
                case 88..<93:
                    guard let victim = model.pending.randomElement(using: &chance) else { continue }
                    try outbox.quarantine(victim, reason: "400 at step \(step)")
                    model.quarantine(victim, reason: "400 at step \(step)")
                case 93..<97:
                    end = .dropped
                default:
                    end = .closed
                }
            }
            if end == .closed { try engine?.close() }
            if end != .none {
                engine = nil
                engine = try directory.open()
            }
            let ledger = try #require(try engine?.ledger())
            try #require(ledger == model.ledger, "step \(step)")
            try #require(try engine?.newest() == model.newest, "step \(step)")
        }
        #expect(try engine?.pendingUpdates() == model.pending)
        try engine?.close()
        let reader = try OutboxReader(path: directory.store)
        #expect(try reader.summary().ledger == model.ledger)
        let listed = try reader.quarantined().updates.map { [$0.stored.sequence: $0.reason] }
        #expect(listed == model.quarantined.sorted { $0.key < $1.key }.map { [$0.key: $0.value] })
        #expect(directory.recoveries.isEmpty)
    }

    @Test func areAllWrittenWhenTheOutboxIsClosed() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        _ = try outbox.append(sample(1))
        try outbox.deliverBatch()
        #expect(try OutboxReader(path: directory.store).summary().ledger == Ledger(accepted: 1, pending: 1))
        try outbox.close()
        #expect(try OutboxReader(path: directory.store).summary().ledger == Ledger(accepted: 1, delivered: 1))
    }

    @Test func areWrittenEvenIfTheOutboxIsNotClosed() throws {
        let directory = try StoreDirectory()
        var outbox: OutboxEngine? = try directory.open()
        _ = try outbox?.append(sample(1))
        try outbox?.deliverBatch()
        outbox = nil
        #expect(try OutboxReader(path: directory.store).summary().ledger == Ledger(accepted: 1, delivered: 1))
    }

    /// Two updates are accepted out of order, and the newer one is delivered. After a restart, the older one isn't
    /// treated as the newest.
    @Test func includeTheNewestAfterARestart() throws {
        let directory = try StoreDirectory()
        var outbox: OutboxEngine? = try directory.open()
        _ = try outbox?.append(sample(9))
        try outbox?.deliverBatch()
        _ = try outbox?.append(sample(3))
        outbox = nil
        outbox = try directory.open()
        let batch = try #require(try outbox?.nextBatch(maximumPastLocations: 5))
        #expect(batch.last == sample(9))
        #expect(!batch.lastIsPending)
        #expect(batch.past.map(\.update) == [sample(3)])
    }

    /// Finding the newest update reads only the ledger and the last row, even if the last update isn't the newest.
    @Test func includeTheNewestAfterARestartWithoutADelivery() throws {
        let directory = try StoreDirectory()
        var outbox: OutboxEngine? = try directory.open()
        for (second, isOverruling, newest) in [(9, false, 9), (7, true, 7), (6, false, 7), (8, false, 8), (1, true, 1)]
        {
            _ = try outbox?.append(sample(second), overrulingEarlier: isOverruling)
            outbox = nil
            outbox = try directory.open()
            #expect(try outbox?.newest()?.update == sample(newest))
        }
        #expect(try outbox?.ledger() == Ledger(accepted: 5, pending: 5))
    }
}
