import Reporting
import Testing
import TimeAndRandomness

@testable import SQLiteOutbox

/// The time of the last delivery, which the ledger's row contains.
@Suite struct LastDeliveries {
    private let directory: StoreDirectory
    private var now: UTCTime { directory.configuration().now() }

    init() throws { directory = try StoreDirectory() }

    @Test func areKeptAfterARestart() throws {
        var outbox = try directory.open()
        _ = try outbox.append(sample(0))
        #expect(try outbox.summary().lastDelivery == nil)
        try outbox.acknowledge(try #require(try outbox.nextBatch(maximumPastLocations: 1, withBacklog: true)))
        #expect(try outbox.summary().lastDelivery == now)
        try outbox.close()
        #expect(try OutboxReader(path: directory.store).summary().lastDelivery == now)
        outbox = try directory.open()
        #expect(try outbox.summary().lastDelivery == now)
        try outbox.close()
    }

    /// The time is written with the acknowledgement, which the next append writes.
    @Test func causeNoWrites() throws {
        let outbox = try directory.open()
        _ = try outbox.append(sample(0))
        let log = try directory.read("outbox.sqlite-wal")
        try outbox.acknowledge(try #require(try outbox.nextBatch(maximumPastLocations: 1, withBacklog: true)))
        try outbox.acknowledge(
            UploadBatch(last: StoredUpdate(sequence: 1, update: sample(0)), lastIsPending: false, past: []))
        #expect(try directory.read("outbox.sqlite-wal") == log)
        try outbox.close()
    }

    /// A ledger that an earlier version has written doesn't contain the time.
    @Test func areUnknownInAnEarlierLedger() throws {
        var counters = OutboxCounters(lastSequence: 1, delivered: 1)
        counters.newestDelivered = StoredUpdate(sequence: 1, update: sample(0))
        let record = try #require(LedgerRecord(LedgerRecord(counters, oldestPending: 2).row))
        #expect(record.counters.lastDelivery == nil && record.counters.newestDelivered == counters.newestDelivered)
    }
}
