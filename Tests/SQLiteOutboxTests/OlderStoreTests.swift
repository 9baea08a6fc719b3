import FoundationEssentials
import LinuxPlatform
import Reporting
import Testing

@testable import SQLiteOutbox

/// A store that is older than the counters in its file `.count`.
@Suite struct OlderStore {
    private let directory: StoreDirectory
    private let warnings = Locked<[OutboxWarning]>([])

    init() throws { directory = try StoreDirectory() }

    private func open(_ name: String = "outbox.sqlite") throws -> OutboxEngine {
        var settings = directory.configuration(name)
        settings.reportWarning = { [warnings] warning in warnings.withLock { $0.append(warning) } }
        return try OutboxEngine(settings)
    }

    private func expectWarning(accepted: Int64, previously: Int64, of name: String) {
        let warning = OutboxWarning.olderStore(path: directory.path(name), accepted: accepted, previously: previously)
        #expect(warnings.withLock { $0 } == [warning])
    }

    private func copy(_ suffixes: [String], to name: String) throws {
        for suffix in suffixes {
            try? FileManager.default.removeItem(atPath: directory.path(name + suffix))
            try FileManager.default.copyItem(atPath: directory.store + suffix, toPath: directory.path(name + suffix))
        }
    }

    /// The process was killed, and its log was removed. The index of the log makes no difference.
    @Test(arguments: [[], ["-shm"]]) func isReportedOnceWithoutItsLog(suffixes: [String]) throws {
        let outbox = try open()
        for second in 1...300 {
            _ = try outbox.append(sample(second))
            if second % 20 == 0 { _ = try outbox.maintain() }
        }
        try copy(["", ".count"] + suffixes, to: "killed")
        let killed = try open("killed")
        let accepted = try killed.ledger().accepted
        #expect(accepted > 0 && accepted < 300)
        let notedCount = try #require(StoreCount(StoreFiles(path: directory.store, disk: SystemDisk())).counters)
            .lastSequence
        #expect(notedCount > accepted)
        expectWarning(accepted: accepted, previously: notedCount, of: "killed")
        #expect(try killed.append(sample(301)).sequence == accepted + 1)
        try killed.close()
        try open("killed").close()
        #expect(warnings.withLock { $0.count } == 1, "once")
        #expect(directory.recoveries.isEmpty)
    }

    /// Every update in the log is newer than the counters in `.count`, whenever the process is killed after
    /// maintenance.
    @Test func isReportedWheneverTheLogIsRemoved() throws {
        let outbox = try open()
        for second in 1...700 {
            _ = try outbox.append(sample(second))
            try outbox.deliverBatch(maximumPastLocations: 0)
            _ = try outbox.maintain()
            guard second % 7 == 0 else { continue }
            try copy(["", ".count"], to: "killed")
            let killed = try open("killed")
            let accepted = try killed.ledger().accepted
            #expect(warnings.withLock { $0.count } == (accepted < second ? 1 : 0), "\(accepted) of \(second)")
            try killed.close()
            warnings.withLock { $0 = [] }
        }
        #expect(directory.recoveries.isEmpty)
    }

    @Test func isReportedWhenAnOldCopyIsRestored() throws {
        var outbox = try open()
        for second in 1...10 { _ = try outbox.append(sample(second)) }
        try outbox.close()
        try copy([""], to: "backup")
        outbox = try open()
        for second in 11...15 { _ = try outbox.append(sample(second)) }
        try outbox.close()
        try directory.rename("backup", to: "outbox.sqlite")
        #expect(try open().ledger() == Ledger(accepted: 10, pending: 10))
        expectWarning(accepted: 10, previously: 15, of: "outbox.sqlite")
    }

    /// The old copy lacks only deliveries.
    @Test func isReportedWhenDeliveriesAreLost() throws {
        var outbox = try open()
        for second in 1...10 { _ = try outbox.append(sample(second)) }
        try outbox.close()
        try copy([""], to: "backup")
        outbox = try open()
        try outbox.deliverBatch()
        try outbox.close()
        try directory.rename("backup", to: "outbox.sqlite")
        #expect(try open().ledger() == Ledger(accepted: 10, pending: 10))
        expectWarning(accepted: 10, previously: 10, of: "outbox.sqlite")
    }

    /// A program that opens the outbox of a killed process moves the log into the database, and removes the log.
    @Test func isNotReportedAfterACheckpoint() throws {
        let outbox = try open()
        for second in 1...300 {
            _ = try outbox.append(sample(second))
            _ = try outbox.maintain()
        }
        try copy(["", "-wal", "-shm", ".count"], to: "killed")
        do {
            let other = try SQLiteConnection(path: directory.path("killed"), access: .readWrite)
            #expect(try other.integer("SELECT count(*) FROM updates") == 301)
        }
        #expect(!directory.exists("killed-wal"))
        #expect(try open("killed").ledger().accepted == 300)
        #expect(warnings.withLock { $0.isEmpty })
    }

    /// A file `.count` that can't be read or written doesn't prevent updates from being stored.
    @Test(arguments: ["", "{", "{\"accepted\":-1,\"revision\":0}", "[1,2]"])
    func isNotReportedIfTheCountersAreUnreadable(
        counters: String
    )
        throws
    {
        try directory.write(counters.utf8, to: "outbox.sqlite.count")
        let outbox = try open()
        _ = try outbox.append(sample(1))
        _ = try outbox.maintain()
        #expect(try directory.read("outbox.sqlite.count") == Array("{\"accepted\":1,\"revision\":0}".utf8))
        try outbox.close()
        try FileManager.default.removeItem(atPath: directory.store + ".count")
        try FileManager.default.createDirectory(atPath: directory.store + ".count", withIntermediateDirectories: false)
        let again = try open()
        _ = try again.append(sample(2))
        _ = try again.maintain()
        try again.close()
        #expect(warnings.withLock { $0.isEmpty })
    }
}
