import LinuxPlatform
import LyingDisk
import ReportedText
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import SQLiteOutbox

@Suite(.enabled(if: !Sanitizer.isThreadSanitizer, "runs on one thread"))
struct EconomicDurability {
    /// The uptime, which the test sets.
    private let uptime = Locked(Duration.zero)

    private func open(_ directory: StoreDirectory) throws -> OutboxEngine {
        var settings = directory.configuration()
        settings.durability = .economy
        settings.uptime = { [uptime] in uptime.withLock { $0 } }
        return try OutboxEngine(settings)
    }

    private func ledgerOnDisk(in directory: StoreDirectory) throws -> Ledger {
        try OutboxReader(path: directory.store).summary().ledger
    }

    @Test(arguments: [
        (OutboxDurability.full, 0, 0, false), (.full, 1, 0, true), (.economy, 0, 1000, false), (.economy, 1, 0, false),
        (.economy, 1, 57, false), (.economy, 1, 58, true), (.economy, 29, 0, false), (.economy, 30, 0, true),
    ])
    func commitsWithinItsWindow(durability: OutboxDurability, count: Int, age: Int, isDue: Bool) {
        var group = GroupCommit()
        for _ in 0..<count {
            group.append(
                [GroupCommit.Element(update: sample(1), overrulesEarlier: false, isShapePoint: false)], at: .zero)
        }
        #expect(group.isDue(durability, at: .seconds(age), nextMaintenanceAfter: .seconds(2)) == isDue)
    }

    @Test func writesTheUpdatesOfAWindowTogether() throws {
        let directory = try StoreDirectory()
        let outbox = try open(directory)
        for second in 1...29 { #expect(try outbox.append(sample(second)).sequence == Int64(second)) }
        #expect(try outbox.ledger() == Ledger(accepted: 29, pending: 29))
        #expect(try ledgerOnDisk(in: directory) == Ledger(), "unwritten updates aren't accepted on the disk")
        _ = try outbox.append(sample(30))
        #expect(try ledgerOnDisk(in: directory) == Ledger(accepted: 30, pending: 30))
        _ = try outbox.append(sample(31))
        uptime.withLock { $0 += .seconds(57) }
        _ = try outbox.maintain()
        #expect(try ledgerOnDisk(in: directory).accepted == 30)
        uptime.withLock { $0 += .seconds(1) }
        _ = try outbox.maintain()
        #expect(try ledgerOnDisk(in: directory) == Ledger(accepted: 31, pending: 31))
    }

    @Test func writesNoRowForAnUpdateThatIsAlreadyDelivered() throws {
        let directory = try StoreDirectory()
        let outbox = try open(directory)
        for second in 1...29 {
            _ = try outbox.append(sample(second))
            let batch = try #require(try outbox.nextBatch(maximumPastLocations: 50))
            #expect(batch.pending.map(\.sequence) == [Int64(second)])
            try outbox.acknowledge(batch)
            #expect(try outbox.nextBatch(maximumPastLocations: 50) == nil)
        }
        #expect(try outbox.ledger() == Ledger(accepted: 29, delivered: 29))
        #expect(try ledgerOnDisk(in: directory) == Ledger())
        _ = try outbox.append(sample(30))
        #expect(try ledgerOnDisk(in: directory) == Ledger(accepted: 30, delivered: 29, pending: 1))
        #expect(try outbox.newest()?.sequence == 30)
        try outbox.close()
        #expect(try ledgerOnDisk(in: directory) == Ledger(accepted: 30, delivered: 29, pending: 1))
    }

    /// After a crash at any step the ledger balances, and at most the window's updates are lost.
    @Test(arguments: [21, 22, 23] as [UInt64]) func losesAtMostTheUpdatesOfAWindow(seed: UInt64) throws {
        let directory = try StoreDirectory()
        var chance = SplitMix64(seed: seed)
        var model = OutboxModel()
        var acceptedAt: [Int64: Duration] = [:]
        let outbox = try open(directory)
        for step in 0..<300 {
            uptime.withLock { $0 += .seconds(2) }
            _ = try outbox.maintain()
            switch Int.random(in: 0..<10, using: &chance) {
            case 0..<4:
                let stored = try outbox.append(sample(step))
                model.append(stored)
                acceptedAt[stored.sequence] = uptime.withLock { $0 }
            case 4..<6:
                let limit = Int.random(in: 0...4, using: &chance)
                let batch = try outbox.nextBatch(maximumPastLocations: limit)
                try #require(batch == model.batch(maximumPastLocations: limit), "step \(step)")
                if let batch {
                    try outbox.acknowledge(batch)
                    model.deliver(batch)
                }
            case 6:
                guard let victim = model.pending.randomElement(using: &chance) else { continue }
                try outbox.quarantine(victim, reason: "400")
                model.quarantine(victim, reason: "400")
            default: break
            }
            try #require(try outbox.ledger() == model.ledger, "step \(step)")
            try #require(try outbox.newest() == model.newest, "step \(step)")
            guard step % 3 == 0 else { continue }
            try directory.copyStore(to: "copy")
            let copy = try directory.open("copy")
            let found = try copy.ledger()
            try #require(found.balances)
            let now = uptime.withLock { $0 }
            for stored in model.pending where stored.sequence > found.accepted {
                try #require(now - (acceptedAt[stored.sequence] ?? .zero) <= .seconds(60), "step \(step)")
            }
            try #require(model.ledger.accepted - found.accepted < 30)
            let missing = Set(model.pending.filter { $0.sequence <= found.accepted })
                .subtracting(try copy.pendingUpdates())
            try #require(missing.isEmpty, "step \(step)")
        }
        try outbox.close()
        #expect(try ledgerOnDisk(in: directory) == model.ledger)
        #expect(directory.recoveries.isEmpty)
    }

    /// The rows of the commit reached the log, but the end of the commit didn't.
    @Test func acceptsAnInterruptedCommitWithoutRepair() throws {
        let directory = try StoreDirectory()
        let outbox = try open(directory)
        for second in 1...60 { _ = try outbox.append(sample(second)) }
        try directory.copyStore(to: "cut")
        try outbox.close()
        var log = try directory.read("cut-wal")
        log.removeLast(24 + Int(StoreFormat.pageSize))
        try directory.write(try directory.read("cut"), to: "outbox.sqlite")
        try directory.write(log, to: "outbox.sqlite-wal")
        let again = try open(directory)
        let found = try again.pendingUpdates()
        #expect((31..<60).contains(found.count))
        #expect(found.map(\.sequence) == Array(1...Int64(found.count)))
        #expect(Set(found.map(\.update)).isSubset(of: (1...60).map(sample)))
        #expect(try again.ledger() == Ledger(accepted: Int64(found.count), pending: Int64(found.count)))
        #expect(directory.recoveries.isEmpty)
    }

    /// A commit that fails at any of its writes leaves rows, which are also in memory.
    @Test func continuesFromMemoryAfterAnInterruptedCommit() throws {
        for number in 1...50 {
            let directory = try StoreDirectory()
            let disk = directory.lyingDisk(seed: 1)
            var settings = directory.configuration(on: disk)
            settings.durability = .economy
            let outbox = try OutboxEngine(settings)
            for second in 1...29 {
                _ = try outbox.append(sample(second))
                if second <= 3 { try outbox.deliverBatch(maximumPastLocations: 0) }
            }
            disk.schedule(DiskFault(.error(DiskErrno.inputOutput), at: number, of: .write))
            do { _ = try outbox.append(sample(30)) } catch {
                #expect(try outbox.pendingUpdates().map(\.update) == (4...29).map(sample), "write \(number)")
                #expect(try outbox.ledger() == Ledger(accepted: 29, delivered: 3, pending: 26))
                #expect(directory.recoveries.isEmpty)
                continue
            }
            return #expect(number > 3, "the commit needs several writes")
        }
    }

    @Test func keepsUnwrittenUpdatesDuringARepair() throws {
        let directory = try StoreDirectory()
        let outbox = try open(directory)
        for second in 1...35 { _ = try outbox.append(sample(second)) }
        try directory.execute("UPDATE updates SET time_ms = 0 WHERE sequence = 7; PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(try outbox.pendingUpdates().map(\.sequence) == Array(1...6) + Array(8...35))
        #expect(try outbox.ledger() == Ledger(accepted: 35, pending: 34, evicted: 1))
        #expect(directory.recoveries.count == 1)
    }

    /// A commit that failed with an error, but is on the disk.
    @Test func countsNoUpdateTwiceAfterACommitInDoubt() throws {
        let directory = try StoreDirectory()
        let outbox = try open(directory)
        for second in 1...5 { _ = try outbox.append(sample(second)) }
        try outbox.acknowledge(
            UploadBatch(last: StoredUpdate(sequence: 2, update: sample(2)), lastIsPending: true, past: []))
        for second in 1...3 {
            try directory.insertRow(StoredUpdate(sequence: Int64(second), update: sample(second)))
        }
        outbox.store = nil
        #expect(try outbox.ledger() == Ledger(accepted: 5, delivered: 1, pending: 4))
        #expect(try outbox.pendingUpdates().map(\.sequence) == [1, 3, 4, 5])
        try outbox.close()
        #expect(try ledgerOnDisk(in: directory) == Ledger(accepted: 5, delivered: 1, pending: 4))
    }

    /// An acknowledgement whose commit failed at a sync, but may be on the disk. An update that was delivered before it
    /// had a row isn't accepted again.
    @Test(arguments: 1...3) func acceptsNoUpdateTwiceAfterAnAcknowledgementInDoubt(sync: Int) throws {
        let directory = try StoreDirectory()
        try directory.buildBacklog(5)
        let disk = directory.lyingDisk(seed: 1)
        var settings = directory.configuration(on: disk)
        settings.durability = .economy
        let outbox = try OutboxEngine(settings)
        for second in 6...7 { _ = try outbox.append(sample(second)) }
        let batch = try #require(try outbox.nextBatch(maximumPastLocations: 3))
        disk.schedule(DiskFault(.error(DiskErrno.inputOutput), at: sync, of: .sync))
        try? outbox.acknowledge(batch)
        #expect(try outbox.ledger() == Ledger(accepted: 7, delivered: 4, pending: 3))
        #expect(try outbox.pendingUpdates().map(\.sequence) == [4, 5, 6])
    }

    /// A row of another update has the sequence of an unwritten update.
    @Test func keepsUnwrittenUpdatesIfAnotherUpdateHasTheirSequence() throws {
        let directory = try StoreDirectory()
        let outbox = try open(directory)
        for second in 1...5 { _ = try outbox.append(sample(second)) }
        for second in [2, 3] {
            try outbox.acknowledge(
                UploadBatch(
                    last: StoredUpdate(sequence: Int64(second), update: sample(second)), lastIsPending: true, past: []))
        }
        try directory.insertRow(StoredUpdate(sequence: 1, update: sample(99)))
        outbox.store = nil
        #expect(try outbox.ledger() == Ledger(accepted: 6, delivered: 2, pending: 4))
        #expect(try outbox.pendingUpdates().map(\.update) == [99, 1, 4, 5].map(sample))
        try outbox.close()
        #expect(try ledgerOnDisk(in: directory) == Ledger(accepted: 6, delivered: 2, pending: 4))
    }

    @Test func rejectsAnUpdateIfItsCommitHasNoSpace() throws {
        let directory = try StoreDirectory()
        var settings = directory.configuration()
        settings.durability = .economy
        let outbox = try OutboxEngine(settings)
        try outbox.limitPages(to: 12)
        var accepted: Int64 = 0
        let rejection = #expect(throws: OutboxError.self) {
            while true {
                _ = try outbox.append(sample(Int(accepted) + 1))
                accepted += 1
            }
        }
        #expect(rejection?.code == .full)
        #expect(try outbox.ledger() == Ledger(accepted: accepted, pending: accepted))
        #expect(try ledgerOnDisk(in: directory).accepted == accepted - 29, "the previous updates stay in memory")
        try outbox.deliverBatch(maximumPastLocations: 60)
        _ = try outbox.append(sample(Int(accepted) + 1))
        #expect(try outbox.ledger().balances)
        #expect(try ledgerOnDisk(in: directory).accepted > accepted - 29)
    }
}
