import LinuxPlatform
import LyingDisk
import Reporting
import Testing

@testable import SQLiteOutbox

@Suite struct ShapePointRows {
    private static func shapePoints(before second: Int, count: Int) -> [LocationUpdate] {
        (0..<count).map { sample(second - count + $0) }
    }

    /// Each live update needs one commit, with or without shape points, even if all are acknowledged together or after
    /// the next update.
    @Test(arguments: [0, 1, 5, 40], [false, true]) func needNoAdditionalCommits(points: Int, isLate: Bool) throws {
        let directory = try StoreDirectory()
        let disk = directory.lyingDisk(seed: 1)
        let outbox = try directory.open(on: disk)
        _ = try outbox.append(sample(0))
        try outbox.deliverBatch()
        let syncs = Locked(0)
        disk.observer = { call, name in
            if call == .sync, name.hasSuffix("-wal") { syncs.withLock { $0 += 1 } }
        }
        var answered: UploadBatch?
        for number in 1...20 {
            _ = try outbox.append(sample(number * 60), with: Self.shapePoints(before: number * 60, count: points))
            let batch = try #require(try outbox.nextBatch(maximumPastLocations: 100))
            #expect(batch.past.count == points * (isLate && number > 1 ? 2 : 1) + (isLate && number > 1 ? 1 : 0))
            if isLate {
                // Acknowledge the previous update, whose answer is late.
                if let answered { try outbox.acknowledge(answered) }
                answered = try outbox.nextBatch(maximumPastLocations: 50, withBacklog: false)
            } else {
                try outbox.acknowledge(batch)
            }
        }
        #expect(syncs.withLock { $0 } == 20)
        let waiting = Int64(isLate ? points + 1 : 0)
        #expect(try outbox.ledger().pending == waiting)
        #expect(try outbox.ledger().balances)
    }

    /// The rows of the ledger, an update and ten shape points fit on one page.
    @Test(arguments: [0, 1, 10]) func needNoAdditionalPages(points: Int) throws {
        let directory = try StoreDirectory()
        let disk = directory.lyingDisk(seed: 1)
        let outbox = try directory.open(on: disk)
        let writes = Locked(0)
        disk.observer = { call, name in
            if call == .write, name.hasSuffix("-wal") { writes.withLock { $0 += 1 } }
        }
        let rounds = 200
        for number in 1...rounds {
            let shape = (0..<points).map { point in
                let place = sample(number * 60 - points + point)
                return LocationUpdate(
                    timeOfFix: place.timeOfFix, latitude: place.latitude, longitude: place.longitude)
            }
            _ = try outbox.append(sample(number * 60), with: shape)
            try outbox.deliverBatch(maximumPastLocations: 50)
        }
        // Each page has its frame's header, and the log has one header.
        #expect(writes.withLock { $0 } == 2 * rounds + 1)
        #expect(
            try outbox.ledger()
                == Ledger(accepted: Int64(rounds * (points + 1)), delivered: Int64(rounds * (points + 1))))
    }

    /// If the disk fails at any call of an append, all of its updates are stored, or none.
    @Test(arguments: 1...8) func areStoredTogetherOrNotAtAll(call: Int) throws {
        let directory = try StoreDirectory()
        let disk = directory.lyingDisk(seed: UInt64(call))
        let outbox = try directory.open(on: disk)
        for second in 1...10 { _ = try outbox.append(sample(second)) }
        disk.schedule(DiskFault(.error(DiskErrno.inputOutput), at: call, of: .write, lasts: true))
        let stored = try? outbox.append(sample(60), with: Self.shapePoints(before: 60, count: 5))
        disk.heal()
        let ledger = try outbox.ledger()
        #expect(ledger == Ledger(accepted: stored == nil ? 10 : 16, pending: stored == nil ? 10 : 16))
    }

    /// On a full disk none of the updates is accepted, and the next update has the next sequence.
    @Test func areNotAcceptedOnAFullDisk() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        for second in 1...10 { _ = try outbox.append(sample(second)) }
        try outbox.limitPages(to: 6)
        let error = #expect(throws: OutboxError.self) {
            try outbox.append(sample(4000), with: Self.shapePoints(before: 4000, count: 200))
        }
        #expect(error?.code == .full)
        #expect(try outbox.ledger() == Ledger(accepted: 10, pending: 10))
        #expect(try outbox.append(sample(4001)).sequence == 11)
    }

    /// With economic durability, shape points wait for the commit of the window, like their update.
    @Test func waitForTheCommitOfTheirWindow() throws {
        let directory = try StoreDirectory()
        var configuration = directory.configuration()
        configuration.durability = .economy
        let outbox = try OutboxEngine(configuration)
        _ = try outbox.append(sample(60), with: Self.shapePoints(before: 60, count: 3))
        #expect(try outbox.ledger() == Ledger(accepted: 4, pending: 4))
        #expect(try OutboxReader(path: directory.store).summary().ledger == Ledger())
        let batch = try #require(try outbox.nextBatch(maximumPastLocations: 50, withBacklog: false))
        #expect(batch.past.count == 3)
        try outbox.acknowledge(batch)
        _ = try outbox.append(sample(2000), with: Self.shapePoints(before: 2000, count: 29))
        #expect(
            try OutboxReader(path: directory.store).summary().ledger == Ledger(accepted: 34, delivered: 4, pending: 30))
    }
}
