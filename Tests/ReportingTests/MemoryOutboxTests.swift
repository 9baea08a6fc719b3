import ReportedText
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@Suite(.timeLimit(.minutes(1))) struct MemoryOutboxes {
    private let clock = ManualClock()

    private func outbox(capacity: Int = 8) -> MemoryOutbox {
        MemoryOutbox(capacity: capacity, clock: MonotonicClock(clock))
    }

    private static func update(_ second: Int64) -> LocationUpdate {
        let start = UTCTime(year: 2030, month: 6, day: 1)
        return LocationUpdate(timeOfFix: start.advanced(by: .seconds(second)), latitude: 52, longitude: 13)
    }

    @Test func keepTheLedgerAndTheOrder() async throws {
        let outbox = outbox()
        for second: Int64 in [10, 20, 30, 40] { try await outbox.append(Self.update(second)) }
        let batch = try #require(await outbox.nextBatch(maximumPastLocations: 2, withBacklog: true))
        #expect(batch.stored?.sequence == 4 && batch.lastIsPending && batch.past.map(\.sequence) == [1, 2])
        clock.advance(by: .seconds(3))
        try await outbox.acknowledge(batch)
        #expect(try await outbox.ledger() == Ledger(accepted: 4, delivered: 3, pending: 1))
        #expect(await outbox.maximumWait == .seconds(3))
        clock.advance(by: .seconds(2))
        #expect(await outbox.maximumWait == .seconds(5), "the age of the pending update")
        // The delivered newest update still leads, so no older position takes its place.
        let rest = try #require(await outbox.nextBatch(maximumPastLocations: 2, withBacklog: true))
        #expect(rest.stored?.sequence == 4 && !rest.lastIsPending && rest.past.map(\.sequence) == [3])
        try await outbox.acknowledge(rest)
        #expect(try await outbox.nextBatch(maximumPastLocations: 2, withBacklog: true) == nil)
        #expect(try await outbox.newest()?.sequence == 4)
    }

    @Test func knowTheNewestUpdateByItsTime() async throws {
        let outbox = outbox()
        for second: Int64 in [20, 10] { try await outbox.append(Self.update(second)) }
        #expect(try await outbox.newest()?.sequence == 1)
        try await outbox.append(Self.update(15), overrulingEarlier: true)
        #expect(try await outbox.newest()?.sequence == 3)
        let batch = try #require(await outbox.nextBatch(maximumPastLocations: 9, withBacklog: true))
        #expect(batch.past.map(\.sequence) == [2, 1])
    }

    @Test func quarantineRejectedUpdates() async throws {
        let outbox = outbox()
        for second: Int64 in [10, 20] { try await outbox.append(Self.update(second)) }
        let newest = try #require(await outbox.newest())
        try await outbox.quarantine(newest, reason: "no")
        #expect(try await outbox.ledger() == Ledger(accepted: 2, pending: 1, quarantined: 1))
        #expect(try await outbox.newest()?.sequence == 1)
    }

    @Test func waitForRoom() async throws {
        let outbox = outbox(capacity: 2)
        for second: Int64 in [10, 20] { try await outbox.append(Self.update(second)) }
        let third = Task { try await outbox.append(Self.update(30)) }
        for _ in 0..<100 { await Task.yield() }
        #expect(try await outbox.ledger().accepted == 2)
        try await outbox.acknowledge(try #require(await outbox.nextBatch(maximumPastLocations: 1, withBacklog: true)))
        #expect(try await third.value.sequence == 3)
    }

    @Test func endTheWaitIfCancelled() async throws {
        let outbox = outbox(capacity: 1)
        try await outbox.append(Self.update(10))
        let second = Task { try await outbox.append(Self.update(20)) }
        second.cancel()
        #expect(try await second.value.sequence == 2)
        #expect(try await outbox.ledger().balances)
    }
}
