import LinuxPlatform
import LyingDisk
import Reporting
import Testing
import WaypostTestSupport

@testable import SQLiteOutbox

/// Damage that shows only while the service runs.
@Suite(.enabled(if: !Sanitizer.isThreadSanitizer, "runs on one thread"))
struct RunningDamage {
    @Test func isRepairedAndCounted() throws {
        let directory = try StoreDirectory()
        try directory.buildBacklog(24_000)
        let outbox = try directory.open()
        _ = try outbox.append(sample(40_000))
        // A row in the middle of a store that is too large to be checked completely at opening.
        try directory.execute("UPDATE updates SET time_ms = 0 WHERE sequence = 5000; PRAGMA wal_checkpoint(TRUNCATE)")
        while try outbox.ledger().pending > 0 { try outbox.deliverBatch(maximumPastLocations: 3000) }
        let recovery = try #require(directory.recoveries.first)
        #expect(directory.recoveries.count == 1)
        #expect(recovery.cause == .rowUnreadable(5000))
        #expect(recovery.lost == 1...1)
        #expect(try outbox.ledger() == Ledger(accepted: 24_001, delivered: 24_000, evicted: 1))
        try outbox.close()
        #expect(try OutboxReader(path: directory.store).summary().evictions[.damage].count == 1)
    }

    @Test func isRepairedWithTheCountsInMemory() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        for second in 1...10 { _ = try outbox.append(sample(second)) }
        try outbox.deliverBatch(maximumPastLocations: 4)
        try directory.execute("UPDATE updates SET time_ms = 0 WHERE sequence IN (0, 7)")
        outbox.store = nil  // as after a disk error: the next call opens the store again
        #expect(try outbox.ledger() == Ledger(accepted: 10, delivered: 5, pending: 4, evicted: 1))
        #expect(try outbox.pendingUpdates().map(\.sequence) == [5, 6, 8, 9])
        #expect(directory.recoveries.count == 1)
    }

    /// The next update gets a new sequence, not that of a delivered update that the store has lost.
    @Test func doesNotMakeANewUpdateCountAsDelivered() throws {
        let (directory, disk) = try directoryOnLyingDisk()
        let outbox = try directory.open(on: disk)
        for second in 1...10 {
            _ = try outbox.append(sample(second))
            try outbox.deliverBatch(maximumPastLocations: 0)
        }
        try zeroLastFrames(1, of: directory, under: outbox, on: disk)
        #expect(try outbox.append(sample(11)).sequence == 11)
        #expect(try outbox.pendingUpdates().map(\.sequence) == [11], "the last delivered update is known")
        #expect(try outbox.ledger() == Ledger(accepted: 11, delivered: 10, pending: 1))
        #expect(directory.recoveries.first?.cause == .earlierCopy(accepted: 9, known: 10))
    }

    @Test func isCountedIfTheEndOfTheLogIsLost() throws {
        let (directory, disk) = try directoryOnLyingDisk()
        let outbox = try directory.open(on: disk)
        for second in 1...20 { _ = try outbox.append(sample(second)) }
        try zeroLastFrames(5, of: directory, under: outbox, on: disk)
        let ledger = try outbox.ledger()
        let remaining = try outbox.pendingUpdates().map(\.sequence)
        #expect(remaining.count < 20)
        #expect(ledger == Ledger(accepted: 20, pending: Int64(remaining.count), evicted: 20 - Int64(remaining.count)))
        #expect(directory.recoveries.map(\.lost.upperBound) == [ledger.evicted])
    }

    /// An earlier store with the expected number of rows, but other rows, isn't accepted as sound.
    @Test func doesNotHideTheLastUpdateIfOnlyItsFrameIsBroken() throws {
        let (directory, disk) = try directoryOnLyingDisk()
        let outbox = try directory.open(on: disk)
        for second in 1...10 {
            try outbox.deliverBatch(maximumPastLocations: 0)
            _ = try outbox.append(sample(second))
        }
        try zeroLastFrames(1, of: directory, under: outbox, on: disk, keepingPages: true)
        #expect(try outbox.pendingUpdates().map(\.sequence) == [10])
        #expect(try outbox.ledger() == Ledger(accepted: 10, delivered: 9, pending: 1))
    }

    /// A store isn't replaced because of a single read error.
    @Test func isConfirmedByASecondRead() throws {
        let (directory, disk) = try directoryOnLyingDisk()
        try directory.buildBacklog(24_000)
        let outbox = try directory.open(on: disk)
        disk.schedule(DiskFault(.error(DiskErrno.inputOutput), at: 1, of: .read))
        try outbox.deliverBatch(maximumPastLocations: 3000)
        #expect(disk.faults.isEmpty, "no read failed")
        #expect(directory.recoveries.isEmpty)
        #expect(try outbox.ledger() == Ledger(accepted: 24_000, delivered: 3001, pending: 20_999))
    }

    /// A commit that a full disk interrupted isn't accepted, even if the same process opens the store again.
    @Test(arguments: 1...14) func updatesOfAFailedCommitAreNotAccepted(write: Int) throws {
        let (directory, disk) = try directoryOnLyingDisk()
        let outbox = try directory.open(on: disk)
        for second in 1...60 { _ = try outbox.append(sample(second)) }
        disk.schedule(DiskFault(.error(DiskErrno.noSpace), at: write, of: .write))
        let points = (61...160).map { sample($0) }
        #expect(throws: OutboxError.self) { try outbox.append(sample(200), with: points) }
        for second in 201...203 {
            #expect(try outbox.append(sample(second)).sequence == Int64(second - 140))
            outbox.invalidateStore()  // as after a disk error: the next call opens the store again
        }
        #expect(try outbox.ledger() == Ledger(accepted: 63, pending: 63))
        #expect(try outbox.pendingUpdates().map(\.update) == (Array(1...60) + Array(201...203)).map { sample($0) })
        #expect(directory.recoveries.isEmpty)
    }

    /// An append failed, but its commit is found on the disk when the store is opened again. If the caller appends the
    /// same updates again, they are accepted once.
    @Test(arguments: [false, true]) func repeatedUpdatesAreAcceptedOnce(isDelivered: Bool) throws {
        let (directory, disk) = try directoryOnLyingDisk()
        let outbox = try directory.open(on: disk)
        for second in 1...10 { _ = try outbox.append(sample(second)) }
        disk.schedule(DiskFault(.error(DiskErrno.inputOutput), at: 1, of: .sync))
        #expect(throws: OutboxError.self) { try outbox.append(sample(12), with: [sample(11)]) }
        if isDelivered { try outbox.deliverBatch(maximumPastLocations: 5) }
        let stored = try outbox.append(sample(14), with: [sample(11), sample(12), sample(13)])
        #expect(stored.sequence == 14)
        let delivered: Int64 = isDelivered ? 6 : 0
        #expect(try outbox.ledger() == Ledger(accepted: 14, delivered: delivered, pending: 14 - delivered))
        #expect(try outbox.append(sample(15)).sequence == 15)
        #expect(directory.recoveries.isEmpty)
    }

    /// The store has as many unexpected rows as the failed append had updates, but they belong to other updates.
    @Test func missingUpdatesAreAppendedAgain() throws {
        let (directory, disk) = try directoryOnLyingDisk()
        let outbox = try directory.open(on: disk)
        for second in 1...10 { _ = try outbox.append(sample(second)) }
        disk.schedule(DiskFault(.error(DiskErrno.inputOutput), at: 1, of: .write))
        #expect(throws: OutboxError.self) { try outbox.append(sample(12), with: [sample(11)]) }
        for sequence in [11, 12] {
            try directory.insertRow(StoredUpdate(sequence: Int64(sequence), update: sample(sequence + 80)))
        }
        #expect(try outbox.append(sample(12), with: [sample(11)]).sequence == 14)
        #expect(try outbox.ledger() == Ledger(accepted: 14, pending: 14))
        #expect(try outbox.pendingUpdates().map(\.update) == (Array(1...10) + [91, 92, 11, 12]).map(sample))
    }

    /// A failed commit leaves pages in the log, including a later ledger. Its acknowledgements are in memory.
    @Test(arguments: [DiskCall.write, .sync], 1...12)
    func updatesOfAFailedAcknowledgementAreCountedOnce(call: DiskCall, number: Int) throws {
        let (directory, outbox, batch) = try failedAcknowledgement(at: call, number: number)
        if let batch {
            try directory.breakRow(60)
            #expect(try outbox.ledger() == Ledger(accepted: 200, delivered: 13, pending: 186, evicted: 1))
            #expect(directory.recoveries.map(\.lost) == [1...1])
            try outbox.acknowledge(batch)
        }
        #expect(try outbox.ledger().delivered == 13)
    }

    /// Counters in memory don't survive a restart.
    @Test(arguments: [DiskCall.write, .sync], 1...12)
    func updatesOfAFailedAcknowledgementAreNotCountedAsLost(call: DiskCall, number: Int) throws {
        let (directory, outbox, batch) = try failedAcknowledgement(at: call, number: number)
        try directory.moveStore(owner: outbox)
        if batch != nil { try directory.breakRow(60) }
        let lost: Int64 = batch == nil ? 0 : 1
        let delivered: Int64 = batch == nil || (call == .sync && number > 1) ? 13 : 0
        #expect(
            try directory.open().ledger()
                == Ledger(accepted: 200, delivered: delivered, pending: 200 - delivered - lost, evicted: lost))
        #expect(directory.recoveries.map(\.lost) == (batch == nil ? [] : [1...1]))
    }

    /// Gaps that live deliveries leave aren't counted as losses.
    @Test(arguments: 1...8)
    func deliveredUpdatesAreNotCountedAsLost(write: Int) throws {
        let (directory, disk) = try directoryOnLyingDisk()
        try directory.buildBacklog(200)
        let outbox = try directory.open(on: disk)
        for second in 201...230 {
            _ = try outbox.append(sample(second))
            try outbox.deliverBatch(maximumPastLocations: 0)
        }
        disk.schedule(DiskFault(.error(DiskErrno.inputOutput), at: write, of: .write))
        let wasAccepted = (try? outbox.append(sample(231))) != nil
        try directory.moveStore(owner: outbox)
        try directory.breakRow(60)
        let ledger = try directory.open().ledger()
        #expect(ledger.balances && ledger.evicted == 1)
        #expect(ledger.pending == 200 && ledger.delivered >= 29, "accepted: \(wasAccepted), \(ledger)")
        #expect(directory.recoveries.map(\.lost) == [1...1])
    }

    /// The disk has another read error while the store is replaced.
    @Test(arguments: FailingCalls.isLongRun ? Array(1...500) : Array(stride(from: 1, through: 300, by: 9)))
    func isCountedTheSameIfAReadFailsDuringTheRepair(number: Int) throws {
        let (directory, disk) = try directoryOnLyingDisk()
        try directory.buildBacklog(200)
        let first = try directory.open()
        for second in 201...230 {
            _ = try first.append(sample(second))
            try first.deliverBatch(maximumPastLocations: 0)
        }
        try directory.moveStore(owner: first)
        try directory.breakRow(60)
        disk.schedule(DiskFault(.error(DiskErrno.inputOutput), at: number, of: .read))
        // If it can't be opened, the service tries again.
        let outbox = try (try? directory.open(on: disk)) ?? directory.open(on: disk)
        #expect(try outbox.ledger() == Ledger(accepted: 230, delivered: 29, pending: 200, evicted: 1))
        #expect(directory.recoveries.map(\.lost) == [1...1])
    }

    /// An update that is acknowledged in memory, on a full disk, is counted as delivered whatever happens to its row.
    @Test func damagedRowsOfDeliveredUpdatesCountAsDelivered() throws {
        let (directory, disk) = try directoryOnLyingDisk()
        try directory.buildBacklog(200)
        let outbox = try directory.open(on: disk)
        disk.schedule(DiskFault(.error(DiskErrno.noSpace), at: 1, of: .write, lasts: true))
        try outbox.deliverBatch(maximumPastLocations: 80)
        disk.heal()
        try directory.breakRow(60)
        try directory.breakRow(150)
        outbox.store = nil
        #expect(try outbox.ledger() == Ledger(accepted: 200, delivered: 81, pending: 118, evicted: 1))
        #expect(directory.recoveries.map(\.lost) == [1...1])
    }

    /// Returns a store with 200 pending updates after an acknowledgement of 13 of them that failed at the given call.
    /// The batch is `nil` if the acknowledgement made fewer calls.
    private func failedAcknowledgement(
        at call: DiskCall, number: Int
    ) throws -> (StoreDirectory, OutboxEngine, UploadBatch?) {
        let (directory, disk) = try directoryOnLyingDisk()
        try directory.buildBacklog(200)
        let outbox = try directory.open(on: disk)
        let batch = try #require(try outbox.nextBatch(maximumPastLocations: 12))
        disk.schedule(DiskFault(.error(DiskErrno.inputOutput), at: number, of: call))
        do throws(OutboxError) {
            try outbox.acknowledge(batch)
            return (directory, outbox, nil)
        } catch { return (directory, outbox, batch) }
    }

    /// Updates that were delivered before they had a row don't hide a loss.
    @Test func isCountedInAdditionToDeliveriesInMemory() throws {
        let directory = try StoreDirectory()
        try directory.buildBacklog(200)
        var settings = directory.configuration()
        settings.durability = .economy
        let outbox = try OutboxEngine(settings)
        for second in 201...220 {
            _ = try outbox.append(sample(second))
            try outbox.deliverBatch(maximumPastLocations: 0)
        }
        try directory.breakRow(60)
        try directory.breakHeader()
        outbox.store = nil
        #expect(try outbox.ledger() == Ledger(accepted: 220, delivered: 20, pending: 199, evicted: 1))
    }

    /// A repair writes the whole store. If it doesn't help, it isn't repeated at each call.
    @Test func isNotRepairedAtEachCallAfterAFailedRepair() throws {
        let directory = try StoreDirectory()
        let now = Locked(Duration.zero)
        let repairs = Locked(0)
        var settings = directory.configuration()
        settings.uptime = { now.withLock { $0 } }
        settings.reportRecovery = { _ in
            // The repaired store is damaged again.
            if repairs.withLock({
                $0 += 1; return $0 < 3
            }) {
                try? directory.breakHeader()
            }
        }
        let outbox = try OutboxEngine(settings)
        for second in 1...10 { _ = try outbox.append(sample(second)) }
        outbox.invalidateStore()
        try directory.breakHeader()
        for time in [0, 1, 599, 600, 601, 1199] {
            now.withLock { $0 = .seconds(time) }
            let error = #expect(throws: OutboxError.self) { try outbox.append(sample(20)) }
            #expect(error == OutboxError(.damagedAgain, path: directory.store, .notSQLite))
            #expect(repairs.withLock { $0 } == (time < 600 ? 1 : 2))
        }
        now.withLock { $0 = .seconds(1200) }
        #expect(try outbox.append(sample(20)).sequence == 11)
        #expect(try outbox.ledger() == Ledger(accepted: 11, pending: 11))
        #expect(repairs.withLock { $0 } == 3)
    }

    /// A program that opens and closes the store removes its log, unless the outbox holds its locks.
    @Test func reopenedStoreKeepsItsLocks() throws {
        let directory = try StoreDirectory()
        let first = try directory.open()
        for second in 1...3 { _ = try first.append(sample(second)) }
        try directory.moveStore(owner: first)
        #expect(try directory.isLocked("outbox.sqlite") == false)
        let outbox = try directory.open()
        #expect(try outbox.ledger().pending == 3)
        #expect(try directory.isLocked("outbox.sqlite"))
        outbox.invalidateStore()
        #expect(try outbox.ledger().pending == 3)
        #expect(try directory.isLocked("outbox.sqlite"))
    }

    private func directoryOnLyingDisk() throws -> (StoreDirectory, LyingDisk) {
        let directory = try StoreDirectory()
        return (directory, directory.lyingDisk(seed: 1))
    }

    /// Makes an append fail, so that the outbox must reopen the store. Then overwrites the last `count` frames of the
    /// log with zeros; with `keepingPages`, only their headers.
    private func zeroLastFrames(
        _ count: Int, of directory: StoreDirectory, under outbox: OutboxEngine, on disk: LyingDisk,
        keepingPages: Bool = false
    ) throws {
        let frameBytes = 24 + Int(StoreFormat.pageSize)
        disk.schedule(DiskFault(.error(DiskErrno.inputOutput), at: 1, of: .write))
        #expect(throws: OutboxError.self) { try outbox.append(sample(86_000)) }
        var log = try directory.read("outbox.sqlite-wal")
        for frame in 1...count {
            let start = log.count - frame * frameBytes
            let broken = start..<start + (keepingPages ? 24 : frameBytes)
            log.replaceSubrange(broken, with: repeatElement(0, count: broken.count))
        }
        try directory.write(log, to: "outbox.sqlite-wal")
    }
}
