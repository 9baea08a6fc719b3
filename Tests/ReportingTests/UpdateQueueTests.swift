import Testing
import WaypostTestSupport

@testable import Reporting

/// The order in which updates reach the outbox, and what happens to them if an append fails.
@Suite struct UpdateQueues {
    /// Returns updates whose fixes are at the given times in seconds.
    private static func updates(_ seconds: ClosedRange<Int>) -> [LocationUpdate] {
        seconds.map { LocationUpdate(.sample(Double($0))) }
    }

    /// An append holds 257 updates: an update with its shape points. The rows are the number of updates, whether the
    /// newest are taken first, and the updates of each append.
    @Test(
        arguments: [
            (1, false, [1...1]), (257, false, [1...257]), (258, false, [1...257, 258...258]),
            (600, false, [1...257, 258...514, 515...600]), (600, true, [344...600, 87...343, 1...86]),
        ] as [(Int, Bool, [ClosedRange<Int>])])
    func areTakenInFullAppends(count: Int, withNewest: Bool, appends: [ClosedRange<Int>]) {
        var queue = UpdateQueue()
        let dropped = queue.add(Self.updates(1...count))
        #expect(dropped == 0)
        var taken: [[LocationUpdate]] = []
        while let append = queue.takeNext(withNewest: withNewest) { taken.append(append.all) }
        #expect(taken == appends.map(Self.updates) && queue.isEmpty)
    }

    /// An append may be on the disk although it failed, so it must be repeated as it was, before newer updates.
    @Test(arguments: [false, true]) func repeatAFailedAppendUnchanged(withNewest: Bool) throws {
        var queue = UpdateQueue()
        _ = queue.add(Self.updates(1...3))
        let taken = queue.takeNext(withNewest: withNewest)
        let first = try #require(taken)
        _ = queue.add(Self.updates(4...5))
        let dropped = queue.restore(failed: first)
        #expect(dropped == 0 && !queue.isEmpty)
        let repeated = queue.takeNext(withNewest: withNewest)
        let next = queue.takeNext(withNewest: withNewest)
        #expect(repeated == first && next?.all == Self.updates(4...5) && queue.isEmpty)
    }

    /// The queue drops the oldest updates, but none of an append that must be repeated.
    @Test func dropTheOldestUpdates() throws {
        var queue = UpdateQueue()
        let limit = UpdateQueue.maximumUpdates
        let dropped = queue.add(Self.updates(1...limit + 2))
        #expect(dropped == 2)
        let newest = queue.takeNext(withNewest: true)
        let failed = try #require(newest)
        let droppedMeanwhile = queue.add(Self.updates(limit + 3...limit + 12))
        let droppedByRestoring = queue.restore(failed: failed)
        #expect(droppedMeanwhile == 0 && droppedByRestoring == 10)
        let repeated = queue.takeNext(withNewest: false)
        let next = queue.takeNext(withNewest: false)
        #expect(repeated == failed && next?.points.first == Self.updates(13...13).first)
    }

    /// Wrong updates are forgotten. Only the outbox's answer to an append made after that counts.
    @Test func forgetUpdatesThatWereWrong() throws {
        var queue = UpdateQueue()
        _ = queue.add(Self.updates(1...3))
        let taken = queue.takeNext(withNewest: false)
        let wrong = try #require(taken)
        _ = queue.restore(failed: wrong)
        queue.overruleEarlier()
        #expect(queue.isEmpty && queue.overrulesStored && queue.generation == 1)
        queue.didOverrule(generation: 0)
        #expect(queue.overrulesStored)
        queue.didOverrule(generation: 1)
        #expect(!queue.overrulesStored)
    }
}
