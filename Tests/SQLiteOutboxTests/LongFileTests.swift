import Glibc
import LinuxPlatform
import Reporting
import Testing

@testable import SQLiteOutbox

/// Outbox files of 200 GiB that consist almost entirely of holes. A start must not read them to the end.
@Suite(.timeLimit(.minutes(1))) struct LongFiles {
    private static let length = 200 << 30

    private func lengthen(_ name: String, in directory: StoreDirectory) throws {
        if !directory.exists(name) { try directory.write([], to: name) }
        try #require(unsafe truncate(directory.path(name), Self.length) == 0)
    }

    @Test(arguments: [
        "-wal", "-shm", "-journal", ".lock", ".reserve", ".count", ".rebuilt", ".rebuilt-wal", ".damaged-1", "",
    ])
    func doNotPreventTheServiceFromStarting(suffix: String) throws {
        let directory = try StoreDirectory()
        let first = try directory.open()
        for second in 1...5 { _ = try first.append(sample(second)) }
        try first.close()
        try lengthen("outbox.sqlite" + suffix, in: directory)
        let outbox = try directory.open()
        #expect(try outbox.ledger() == Ledger(accepted: 5, pending: 5))
        #expect(try outbox.append(sample(6)).sequence == 6)
        try outbox.close()
        #expect(try OutboxReader(path: directory.store).summary().ledger == Ledger(accepted: 6, pending: 6))
    }

    /// A repair reads only parts that can contain a row.
    @Test(arguments: ["-wal", ""]) func doNotPreventARepair(suffix: String) throws {
        let directory = try StoreDirectory()
        let first = try directory.open()
        for second in 1...5 { _ = try first.append(sample(second)) }
        try first.close()
        try directory.breakHeader()
        try lengthen("outbox.sqlite" + suffix, in: directory)
        let outbox = try directory.open()
        #expect(try outbox.ledger() == Ledger(accepted: 5, pending: 5))
    }

    /// A repair and a check search only the first 64 MiB of the log.
    @Test func areReportedOnceIfTheyAreLogs() throws {
        let directory = try StoreDirectory()
        try directory.open().close()
        try lengthen("outbox.sqlite-wal", in: directory)
        let warnings = Locked<[OutboxWarning]>([])
        var settings = directory.configuration()
        settings.reportWarning = { warning in warnings.withLock { $0.append(warning) } }
        try OutboxEngine(settings).close()
        #expect(warnings.withLock { $0 } == [.longLog(path: directory.store + "-wal", bytes: Int64(Self.length))])
    }

    /// A copy of all rows follows a long hole.
    @Test func areReadAfterTheirHoles() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        for second in 1...5 { _ = try outbox.append(sample(second)) }
        try outbox.close()
        let bytes = try directory.read("outbox.sqlite")
        for (hole, name) in [1 << 20, (1 << 20) + 70_000, 3 << 30].map({ ($0, "hole-\($0)") }) {
            try directory.write(bytes, to: name)
            try #require(unsafe truncate(directory.path(name), hole) == 0)
            guard let file = unsafe fopen(directory.path(name), "a") else {
                throw BrokenPromise(description: "\(name) cannot be opened")
            }
            unsafe fwrite(bytes, 1, bytes.count, file)
            unsafe fclose(file)
            var found: [Int64] = []
            try RowScan.scan(path: directory.path(name), on: SystemDisk()) { row in
                if UpdateRecord(row) != nil { found.append(row.sequence) }
            }
            #expect(found == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5] || found.sorted() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
            found = []
            try RowScan.scan(path: directory.path(name), on: SystemDisk(), upTo: 1 << 20) { row in
                if UpdateRecord(row) != nil { found.append(row.sequence) }
            }
            #expect(found.sorted() == [1, 2, 3, 4, 5])
        }
    }
}
