import LinuxPlatform
import LyingDisk
import ReportedText
import Reporting
import Testing
import WaypostTestSupport

@testable import SQLiteOutbox

/// An outbox whose file is open in another program's SQLite, such as a backup or a user's `sqlite3`.
@Suite struct LockedOutbox {
    /// Pending updates can be sent and acknowledged, but no new ones are stored.
    @Test func readsAndAcknowledgesUntilTheLockIsReleased() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        for second in 1...10 { _ = try outbox.append(sample(second)) }
        let other = try SQLiteConnection(path: directory.store, access: .readWrite)
        try other.execute("BEGIN IMMEDIATE")
        let error = #expect(throws: OutboxError.self) { try outbox.append(sample(11)) }
        #expect(error == OutboxError(.busy, path: directory.store, .sqlite(code: 5, message: "database is locked")))
        try outbox.deliverBatch(maximumPastLocations: 4)
        #expect(try outbox.ledger() == Ledger(accepted: 10, delivered: 5, pending: 5))
        #expect(try outbox.maintain() == false)
        try other.execute("ROLLBACK")
        #expect(try outbox.append(sample(11)).sequence == 11)
        #expect(try outbox.ledger() == Ledger(accepted: 11, delivered: 5, pending: 6))
        try outbox.close()
        #expect(try OutboxReader(path: directory.store).summary().ledger.balances)
        #expect(directory.recoveries.isEmpty)
    }

    /// A live position waits for the lock only briefly. Once the lock is released, the position is soon stored.
    @Test func delaysAPositionByAQuarterOfASecond() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        #expect(try outbox.store?.connection.integer("PRAGMA busy_timeout") == 250)
        #expect(OutboxEngine.maintenanceInterval == .seconds(2))
    }

    /// The lock is taken between the opening and the first append, which prepares the statements for writing.
    @Test func storesItsFirstUpdateOnceTheLockIsReleased() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        let other = try SQLiteConnection(path: directory.store, access: .readWrite)
        try other.execute("BEGIN IMMEDIATE")
        let error = #expect(throws: OutboxError.self) { try outbox.append(sample(1)) }
        #expect(error?.code == .busy)
        try other.execute("ROLLBACK")
        #expect(try outbox.append(sample(1)).sequence == 1)
        #expect(directory.recoveries.isEmpty)
        try outbox.close()
    }

    /// The log of a process that was killed is moved into the database first.
    @Test func isOpenedOnceTheLockIsReleased() async throws {
        let directory = try StoreDirectory()
        let first = try directory.open()
        for second in 1...10 { _ = try first.append(sample(second)) }
        try directory.moveStore(owner: first)
        let seconds = Locked(0)
        var settings = directory.configuration()
        settings.uptime = { .seconds(seconds.withLock { $0 }) }
        let outbox = SQLiteOutbox(settings)
        do {
            let other = try SQLiteConnection(path: directory.store, access: .readWrite)
            try other.execute("BEGIN IMMEDIATE")
            let error = await #expect(throws: OutboxError.self) { try await outbox.open() }
            #expect(error?.code == .busy)
            try other.execute("ROLLBACK")
        }
        seconds.withLock { $0 = 2 }
        #expect(try await outbox.append(sample(11)).sequence == 11)
        #expect(directory.recoveries.isEmpty)
        try await outbox.close()
    }

    /// A program that only reads never prevents updates from being stored.
    @Test func isOpenedWhileAnotherProcessReads() throws {
        let directory = try StoreDirectory()
        let first = try directory.open()
        for second in 1...10 { _ = try first.append(sample(second)) }
        try directory.moveStore(owner: first)
        let reader = try SQLiteConnection(path: directory.store, access: .readOnly)
        try reader.execute("BEGIN; SELECT count(*) FROM updates")
        let outbox = try directory.open()
        #expect(try outbox.append(sample(11)).sequence == 11)
        try directory.copyStore(to: "killed")
        #expect(try directory.open("killed").ledger() == Ledger(accepted: 11, pending: 11))
        try reader.execute("COMMIT")
        #expect(try outbox.append(sample(12)).sequence == 12)
        try outbox.close()
        #expect(try OutboxReader(path: directory.store).summary().ledger == Ledger(accepted: 12, pending: 12))
        #expect(directory.recoveries.isEmpty)
    }

    /// Updates that are added to a log whose sync has failed could be lost with it.
    @Test func addsNothingToALogAfterAFailedSync() throws {
        let directory = try StoreDirectory()
        let disk = directory.lyingDisk(seed: 1)
        let outbox = try directory.open(on: disk)
        for second in 1...10 { _ = try outbox.append(sample(second)) }
        let reader = try SQLiteConnection(path: directory.store, access: .readOnly)
        try reader.execute("BEGIN; SELECT count(*) FROM updates")
        disk.schedule(DiskFault(.error(DiskErrno.inputOutput), at: 1, of: .sync))
        #expect(throws: OutboxError.self) { try outbox.append(sample(11)) }
        for _ in 1...2 {
            let error = #expect(throws: OutboxError.self) { try outbox.append(sample(11)) }
            #expect(error?.code == .busy)
        }
        try reader.execute("COMMIT")
        #expect(try outbox.append(sample(11)).sequence == 11)
        #expect(directory.recoveries.isEmpty)
    }

    /// A read that stays open prevents the log from starting over, so the log grows with each commit.
    @Test func reportsALogThatAReaderKeepsGrowing() throws {
        let directory = try StoreDirectory()
        let warnings = Locked<[OutboxWarning]>([])
        let ends = Locked(0)
        var settings = directory.configuration(maximumBytes: 0)
        settings.reportWarning = { warning in warnings.withLock { $0.append(warning) } }
        settings.reportWarningEnd = { _ in ends.withLock { $0 += 1 } }
        let outbox = try OutboxEngine(settings)
        _ = try outbox.append(sample(1))
        let reader = try SQLiteConnection(path: directory.store, access: .readOnly)
        try reader.execute("BEGIN; SELECT count(*) FROM updates")
        var second = 2
        while warnings.withLock({ $0.isEmpty }), second < 20_000 {
            _ = try outbox.append(sample(second))
            try outbox.deliverBatch(maximumPastLocations: 0)
            if second % 100 == 0 { _ = try outbox.maintain() }
            second += 1
        }
        guard case .longLog(directory.store + "-wal", let bytes)? = warnings.withLock({ $0 }).first else {
            Issue.record("expected a warning about a long log")
            return
        }
        #expect(bytes > 16 << 20 && bytes < 17 << 20)
        try reader.execute("COMMIT")
        for second in second...second + 2 { _ = try outbox.append(sample(second)) }
        _ = try outbox.maintain()
        #expect(warnings.withLock { $0.count } == 1 && ends.withLock { $0 } == 1)
        #expect(try outbox.ledger().balances)
    }
}
