import Reporting
import SQLiteOutbox
import Testing
import WaypostTestSupport

@Suite struct OutboxContract {
    @Test(arguments: OutboxRule.all)
    func holdsInMemory(rule: OutboxRule) async throws {
        try await rule.check(MemoryOutbox(capacity: .max, clock: MonotonicClock(ManualClock())))
    }

    @Test(arguments: OutboxRule.all)
    func holdsOnDisk(rule: OutboxRule) async throws {
        let directory = try StoreDirectory()
        let outbox = try await SQLiteOutbox.open(directory.configuration())
        try await rule.check(outbox)
        #expect(try await outbox.ledger().balances)
        try await outbox.close()
        #expect(directory.recoveries.isEmpty)
    }

    @Test func closedOutboxAcceptsNothing() async throws {
        let directory = try StoreDirectory()
        let outbox = try await SQLiteOutbox.open(directory.configuration())
        try await outbox.close()
        try await outbox.close()
        let error = await #expect(throws: OutboxError.self) { try await outbox.append(sample(1)) }
        #expect(error?.code == .closed)
    }
}
