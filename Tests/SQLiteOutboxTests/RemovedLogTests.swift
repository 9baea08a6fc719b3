import FoundationEssentials
import LinuxPlatform
import Reporting
import Testing

@testable import SQLiteOutbox

/// The log is removed while the outbox is in use, and SQLite keeps writing to the removed file.
@Suite struct RemovedLog {
    private let directory: StoreDirectory
    /// The reports of the warning: whether the log's content is in the database.
    private let reports = Locked<[Bool]>([])

    init() throws { directory = try StoreDirectory() }

    enum Removal: Sendable, CaseIterable {
        case log, logAndIndex, replacedByAnEmptyFile, replacedByACopy
    }

    private func open() throws -> OutboxEngine {
        var settings = directory.configuration()
        let log = directory.store + "-wal"
        settings.reportWarning = { [reports] in
            if case .removedLog(log, let isRescued) = $0 { reports.withLock { $0.append(isRescued) } }
        }
        return try OutboxEngine(settings)
    }

    private func remove(_ removal: Removal) throws {
        let log = directory.store + "-wal"
        let bytes = try directory.read("outbox.sqlite-wal")
        try FileManager.default.removeItem(atPath: log)
        switch removal {
        case .log: break
        case .logAndIndex: try FileManager.default.removeItem(atPath: directory.store + "-shm")
        case .replacedByAnEmptyFile: try directory.write([], to: "outbox.sqlite-wal")
        case .replacedByACopy:
            try directory.write(bytes, to: "copy")
            try directory.rename("copy", to: "outbox.sqlite-wal")
        }
    }

    /// Expects that a kill at this moment loses none of the `accepted` updates.
    private func expectNoLossIfKilled(accepted: Int64) throws {
        // Each copy has its own path, because a process that is being spawned can hold the lock of a closed one.
        let copy = "killed-\(accepted)"
        try directory.copyStore(to: copy)
        let killed = try directory.open(copy)
        #expect(try killed.ledger() == Ledger(accepted: accepted, pending: accepted))
        try killed.close()
    }

    @Test(arguments: Removal.allCases) func losesNoUpdatesAfterTheNextMaintenance(removal: Removal) throws {
        let outbox = try open()
        for second in 1...5 { _ = try outbox.append(sample(second)) }
        try remove(removal)
        for second in 6...8 { _ = try outbox.append(sample(second)) }
        for _ in 1...3 { _ = try outbox.maintain() }
        #expect(reports.withLock { $0 } == [true])
        try expectNoLossIfKilled(accepted: 8)
        _ = try outbox.append(sample(9))
        try expectNoLossIfKilled(accepted: 9)
        try outbox.close()
        #expect(try OutboxReader(path: directory.store).summary().ledger == Ledger(accepted: 9, pending: 9))
        #expect(directory.recoveries.isEmpty)
    }

    /// Only the removed log has the latest commits, so the store stays open until they are in the database.
    @Test func isMovedIntoTheDatabaseOnceNoProgramReadsIt() throws {
        let outbox = try open()
        _ = try outbox.append(sample(1))
        let reader = try SQLiteConnection(path: directory.store, access: .readOnly)
        try reader.execute("BEGIN; SELECT count(*) FROM updates")
        _ = try outbox.append(sample(2))
        try remove(.log)
        for second in 3...4 {
            _ = try outbox.append(sample(second))
            _ = try outbox.maintain()
        }
        #expect(reports.withLock { $0 } == [false], "once")
        #expect(try outbox.ledger() == Ledger(accepted: 4, pending: 4))
        try reader.execute("COMMIT")
        _ = try outbox.maintain()
        #expect(reports.withLock { $0 } == [false, true])
        try expectNoLossIfKilled(accepted: 4)
        #expect(directory.recoveries.isEmpty)
    }
}
