import FoundationEssentials
import ReportedText
import Reporting
import Testing
import TimeAndRandomness

@testable import SQLiteOutbox

@Suite struct Quarantine {
    /// Returns an outbox with ten updates: 4, 6 and 10 are in quarantine, the others delivered.
    private func makeOutbox(in directory: StoreDirectory) throws -> OutboxEngine {
        let outbox = try directory.open()
        for second in 1...10 { _ = try outbox.append(sample(second)) }
        for sequence in [4, 6, 10] as [Int64] {
            try outbox.quarantine(StoredUpdate(sequence: sequence, update: sample(Int(sequence))), reason: "400")
        }
        try outbox.deliverBatch()
        _ = try outbox.maintain()
        #expect(try outbox.ledger() == Ledger(accepted: 10, delivered: 7, quarantined: 3))
        return outbox
    }

    private func timesOfFix(from first: Int, to last: Int) -> ClosedRange<UTCTime> {
        sample(first).timeOfFix...sample(last).timeOfFix
    }

    @Test func isRequeuedByNumberAndDeliveredAgain() throws {
        let directory = try StoreDirectory()
        let outbox = try makeOutbox(in: directory)
        #expect(try outbox.carryOut(QuarantineRequest(.requeue, [4, 10])) == .done(count: 2, notRequeued: 0))
        #expect(try outbox.ledger() == Ledger(accepted: 10, delivered: 7, pending: 2, quarantined: 1))
        #expect(try outbox.summary().quarantined == UpdateTally(count: 1, timesOfFix: timesOfFix(from: 6, to: 6)))
        let batch = try #require(try outbox.nextBatch(maximumPastLocations: 5))
        #expect(batch.stored?.sequence == 10 && batch.lastIsPending, "update 10 is the newest again")
        #expect(batch.past.map(\.sequence) == [4])
        try outbox.acknowledge(batch)
        #expect(try outbox.ledger() == Ledger(accepted: 10, delivered: 9, quarantined: 1))
        #expect(try outbox.newest()?.sequence == 10)
        try outbox.close()
        #expect(try OutboxReader(path: directory.store).quarantined().updates.map(\.stored.sequence) == [6])
    }

    @Test func isDiscardedAndCountedAsEvicted() throws {
        let directory = try StoreDirectory()
        let outbox = try makeOutbox(in: directory)
        #expect(try outbox.carryOut(QuarantineRequest(.discard, [6])) == .done(count: 1, notRequeued: 0))
        #expect(try outbox.carryOut(QuarantineRequest(.discard, nil)) == .done(count: 2, notRequeued: 0))
        let summary = try outbox.summary()
        #expect(summary.ledger == Ledger(accepted: 10, delivered: 7, evicted: 3))
        #expect(summary.evictions[.discarded] == UpdateTally(count: 3, timesOfFix: timesOfFix(from: 4, to: 10)))
        #expect(summary.quarantined == UpdateTally())
        #expect(try outbox.carryOut(QuarantineRequest(.discard, nil)) == .done(count: 0, notRequeued: 0))
    }

    @Test(arguments: [QuarantineRequest.Action.requeue, .discard])
    func isUnchangedByAnUnknownNumber(action: QuarantineRequest.Action) throws {
        let directory = try StoreDirectory()
        let outbox = try makeOutbox(in: directory)
        let before = try outbox.summary()
        #expect(try outbox.carryOut(QuarantineRequest(action, [4, 5, 99])) == .unknown([5, 99]))
        #expect(try outbox.summary() == before)
    }

    /// If more updates are in quarantine than are kept, the last ones can be requeued; all can be discarded.
    @Test func countsUpdatesThatItDoesNotKeep() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        for second in 1...300 {
            try outbox.quarantine(try outbox.append(sample(second)), reason: "400")
        }
        #expect(try outbox.carryOut(QuarantineRequest(.requeue, [300])) == .done(count: 1, notRequeued: 0))
        #expect(try outbox.summary().quarantined == UpdateTally(count: 299, timesOfFix: timesOfFix(from: 1, to: 300)))
        #expect(try outbox.carryOut(QuarantineRequest(.requeue, nil)) == .done(count: 255, notRequeued: 44))
        #expect(try outbox.ledger() == Ledger(accepted: 300, pending: 256, quarantined: 44))
        #expect(try outbox.carryOut(QuarantineRequest(.discard, nil)) == .done(count: 44, notRequeued: 0))
        #expect(try outbox.ledger() == Ledger(accepted: 300, pending: 256, evicted: 44))
    }

    @Test func isChangedByTheOwnerOnRequest() throws {
        let directory = try StoreDirectory()
        let outbox = try makeOutbox(in: directory)
        let requester = try OutboxRequester(path: directory.store)
        let first = try requester.submit(QuarantineRequest(.requeue, [4]))
        let second = try requester.submit(QuarantineRequest(.discard, [5]))
        let third = try requester.submit(QuarantineRequest(.discard, [6]))
        #expect(try requester.answer(to: first) == nil)
        #expect(try outbox.ledger().quarantined == 3, "nothing is changed without the owner")
        #expect(try outbox.maintain(), "something is pending again")
        #expect(try requester.answer(to: first) == .done(count: 1, notRequeued: 0))
        #expect(try requester.answer(to: second) == .unknown([5]))
        #expect(try requester.answer(to: third) == .done(count: 1, notRequeued: 0))
        #expect(try outbox.ledger() == Ledger(accepted: 10, delivered: 7, pending: 1, evicted: 1, quarantined: 1))
        #expect(try !outbox.maintain())
        #expect(try requester.answer(to: first) == nil, "an answer is returned only once")
    }

    @Test func isUnchangedAfterARequestIsWithdrawn() throws {
        let directory = try StoreDirectory()
        let outbox = try makeOutbox(in: directory)
        let requester = try OutboxRequester(path: directory.store)
        #expect(try requester.withdraw(try requester.submit(QuarantineRequest(.discard, nil))) == nil)
        _ = try outbox.maintain()
        #expect(try outbox.ledger().quarantined == 3)
        // The owner has handled the request at the last moment: withdrawing it returns the answer.
        let late = try requester.submit(QuarantineRequest(.discard, nil))
        _ = try outbox.maintain()
        #expect(try requester.withdraw(late) == .done(count: 3, notRequeued: 0))
    }

    /// The tool may have ended before the answer, and the owner before the request. The next start handles the request
    /// once.
    @Test func isChangedAtTheNextStart() throws {
        let directory = try StoreDirectory()
        var outbox: OutboxEngine? = try makeOutbox(in: directory)
        _ = try OutboxRequester(path: directory.store).submit(QuarantineRequest(.requeue, [4]))
        try outbox?.close()
        outbox = try directory.open()
        #expect(try outbox?.maintain() == true)
        #expect(try outbox?.ledger() == Ledger(accepted: 10, delivered: 7, pending: 1, quarantined: 2))
        #expect(try outbox?.maintain() == false)
    }

    /// Requests beyond the maximum are handled the next time, although nothing has changed since.
    @Test func isChangedInStepsByManyRequests() throws {
        let directory = try StoreDirectory()
        let outbox = try makeOutbox(in: directory)
        let requester = try OutboxRequester(path: directory.store)
        let numbers = try (1...20).map { _ in try requester.submit(QuarantineRequest(.requeue, [])) }
        for _ in 1...2 { _ = try outbox.maintain() }
        for number in numbers { #expect(try requester.answer(to: number) == .done(count: 0, notRequeued: 0)) }
    }

    @Test func isUnchangedByARequestOfANewerRelease() throws {
        let directory = try StoreDirectory()
        let outbox = try makeOutbox(in: directory)
        try directory.execute("INSERT INTO requests (id, action) VALUES (7, 'forget')")
        #expect(try !outbox.maintain())
        #expect(try OutboxRequester(path: directory.store).answer(to: 7) == .notUnderstood)
        #expect(try outbox.ledger().quarantined == 3)
    }

    /// A repair finds old copies of rows in the log: of a discarded update, and of a requeued one.
    @Test(arguments: [true, false])
    func isNotRestoredFromOldCopies(treeIsSound: Bool) throws {
        let directory = try StoreDirectory()
        try directory.buildBacklog(200)
        let outbox = try directory.open()
        for sequence in 10...12 {
            let stored = StoredUpdate(sequence: Int64(sequence), update: sample(sequence))
            try outbox.quarantine(stored, reason: "400")
        }
        _ = try outbox.carryOut(QuarantineRequest(.discard, [10]))
        _ = try outbox.carryOut(QuarantineRequest(.requeue, [11]))
        try directory.moveStore(owner: outbox)
        try directory.breakRow(60)
        if !treeIsSound { try directory.breakHeader() }
        let again = try directory.open()
        #expect(directory.recoveries.map(\.lost.upperBound) == [1])
        // If the outcome of 10 and 12 is unknown, they are sent again, and rejected.
        let pending: [Int64] = (1...9) + (treeIsSound ? [11] : [10, 11, 12]) + (13...59) + (61...200)
        #expect(try again.pendingUpdates().map(\.sequence) == pending)
        let summary = try again.summary()
        #expect(summary.ledger.balances && summary.evictions[.damage].count == 1)
        guard case .done(let count, notRequeued: 0) = try again.carryOut(QuarantineRequest(.discard, nil)) else {
            throw OutboxError(.unusable)
        }
        #expect(summary.quarantined.count == count)
        if treeIsSound { #expect(summary.ledger == Ledger(accepted: 200, pending: 197, evicted: 2, quarantined: 1)) }
    }

    @Test func toolLeavesARepairToTheService() throws {
        let directory = try StoreDirectory()
        try makeOutbox(in: directory).close()
        try directory.write(Array("text".utf8), to: "outbox.sqlite")
        var settings = directory.configuration()
        settings.repairsDamage = false
        let error = #expect(throws: OutboxError.self) { try OutboxEngine(settings) }
        #expect(error?.code == .damaged)
        #expect(try directory.read("outbox.sqlite") == Array("text".utf8))
    }
}
