import Reporting
import SQLiteOutbox
import Testing
import WaypostTestSupport

@Suite struct OutboxContract {
    @Test(arguments: OutboxConduct.all)
    func holdsInMemory(conduct: OutboxConduct) async throws {
        try await conduct.check(MemoryOutbox(capacity: .max, clock: MonotonicClock(ManualClock())))
    }

    @Test(arguments: OutboxConduct.all)
    func holdsOnDisk(conduct: OutboxConduct) async throws {
        let directory = try StoreDirectory()
        let outbox = try await SQLiteOutbox.open(directory.configuration())
        try await conduct.check(outbox)
        #expect(try await outbox.ledger().balances)
        try await outbox.close()
        #expect(directory.recoveries.isEmpty)
    }

    @Test func nothingIsAcceptedOnceClosed() async throws {
        let directory = try StoreDirectory()
        let outbox = try await SQLiteOutbox.open(directory.configuration())
        try await outbox.close()
        try await outbox.close()
        let error = await #expect(throws: OutboxError.self) { try await outbox.append(sample(1)) }
        #expect(error?.code == .closed)
    }
}
