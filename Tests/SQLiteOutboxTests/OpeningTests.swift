import FoundationEssentials
import Glibc
import LinuxPlatform
import LyingDisk
import ReportedText
import Reporting
import Testing
import WaypostTestSupport

@testable import SQLiteOutbox

@Suite struct Opening {
    @Test func createsDirectoryAndFilesForThisUserOnly() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open("a/b/outbox.sqlite")
        _ = try outbox.append(sample(1))
        func mode(_ name: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: directory.path(name))[.posixPermissions] as? Int
        }
        for name in ["a", "a/b"] { #expect(try mode(name) == 0o700) }
        for suffix in ["", "-wal", "-shm", ".lock", ".reserve"] {
            #expect(try mode("a/b/outbox.sqlite" + suffix) == 0o600, "\(suffix)")
        }
    }

    @Test func closedStoreHasNoLog() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        _ = try outbox.append(sample(1))
        try outbox.close()
        #expect(
            try directory.names == [
                "outbox.sqlite", "outbox.sqlite.count", "outbox.sqlite.lock", "outbox.sqlite.reserve",
            ])
    }

    @Test func truncatesTheLogUnlessAnotherProgramReadsIt() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        for second in 1...3 { _ = try outbox.append(sample(second)) }
        func bytes() throws -> Int64 { try FileSystem.fileSize(at: directory.store + "-wal") }
        let reader = try SQLiteConnection(path: directory.store, access: .readOnly)
        try reader.execute("BEGIN; SELECT count(*) FROM updates")
        #expect(try !outbox.truncateLog())
        try reader.execute("COMMIT")
        #expect(try outbox.truncateLog() && bytes() == 0)
        #expect(try outbox.ledger().pending == 3)
        try outbox.close()
    }

    @Test func namesTheOwnerOfTheStore() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        let error = #expect(throws: OutboxError.self) { try directory.open() }
        #expect(error?.code == .locked)
        let own = ProcessInfo.processInfo.processIdentifier
        #expect(error?.path == directory.store)
        #expect(error?.holder?.name.description.hasSuffix(" (process \(own))") == true)
        #expect(error?.holder?.stopCommand == "kill \(own)")
        try outbox.close()
        try directory.open().close()
    }

    @Test func rejectsADirectoryInsteadOfAFile() throws {
        let directory = try StoreDirectory()
        try FileManager.default.createDirectory(atPath: directory.store, withIntermediateDirectories: false)
        let error = #expect(throws: OutboxError.self) { try directory.open() }
        #expect(error?.code == .refused && error?.path == directory.store && error?.cause == .directory)
        #expect(directory.exists("outbox.sqlite"))
    }

    @Test func rejectsAFileInsteadOfTheDirectory() throws {
        let directory = try StoreDirectory()
        try directory.write([1], to: "file")
        let error = #expect(throws: OutboxError.self) { try directory.open("file/outbox.sqlite") }
        #expect(error?.code == .unusable)
        guard case .system(ENOTDIR, let message) = error?.cause else {
            Issue.record("not the system's reason: \(String(describing: error))")
            return
        }
        #expect(message.description.contains(directory.path("file")))
    }

    @Test func addsTheTimeToTheNameOfADamagedStore() throws {
        let directory = try StoreDirectory()
        let zeros = [UInt8](repeating: 0, count: 4096)
        try directory.write(zeros, to: "outbox.sqlite")
        let outbox = try directory.open()
        let name = "outbox.sqlite.damaged-20260105T101530.250Z"
        #expect(try directory.read(name) == zeros)
        #expect(
            directory.recoveries == [
                OutboxRecovery(
                    path: directory.store, cause: .notSQLite, renamedTo: directory.path(name), salvaged: 0, lost: 0...0,
                    foundLedger: false)
            ])
        #expect(try outbox.ledger() == Ledger())
    }

    @Test func keepsThreeDamagedStores() throws {
        let directory = try StoreDirectory()
        for round in 1...5 {
            try directory.write([UInt8(round)], to: "outbox.sqlite")
            try directory.open().close()
        }
        #expect(directory.recoveries.count == 5)
        #expect(try directory.names.filter { $0.contains("damaged") }.count == 3)
    }

    @Test(arguments: [true, false])
    func completesAnInterruptedReplacement(isInPlace: Bool) throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        for second in 1...5 { _ = try outbox.append(sample(second)) }
        try directory.moveStore(owner: outbox)
        if isInPlace {
            // The damaged store is still at its path: the new one was being built.
            try directory.write(Array(try directory.read("outbox.sqlite").prefix(1500)), to: "outbox.sqlite.rebuilt")
        } else {
            // The database has been renamed, but its log hasn't, and the new store is complete.
            try directory.open().close()
            try directory.rename("outbox.sqlite", to: "outbox.sqlite.rebuilt")
            try directory.write([1, 2, 3], to: "outbox.sqlite-wal")
        }
        let again = try directory.open()
        #expect(try again.pendingUpdates().map(\.update) == (1...5).map(sample))
        #expect(try again.ledger() == Ledger(accepted: 5, pending: 5))
        #expect(!directory.exists("outbox.sqlite.rebuilt"))
    }

    /// Everything has been renamed, and the rebuilt store is damaged: it is repaired, not created again.
    @Test func repairsADamagedReplacement() throws {
        let directory = try StoreDirectory()
        try directory.buildBacklog(200)
        try directory.breakRow(60)
        try directory.rename("outbox.sqlite", to: "outbox.sqlite.rebuilt")
        let outbox = try directory.open()
        #expect(try outbox.ledger() == Ledger(accepted: 200, pending: 199, evicted: 1))
        #expect(directory.recoveries.map(\.lost) == [1...1])
    }

    /// The ledger doesn't count the damaged row yet, but the row's sequence isn't used again.
    @Test func countsADamagedLastRow() throws {
        let directory = try StoreDirectory()
        let first = try directory.open()
        for second in 1...70 { _ = try first.append(sample(second)) }
        try first.close()
        try directory.breakRow(70)
        let outbox = try directory.open()
        #expect(try outbox.ledger() == Ledger(accepted: 70, pending: 69, evicted: 1))
        #expect(try outbox.append(sample(71)).sequence == 71)
    }

    @Test func readsOnlyASmallPartOfALargeBacklog() throws {
        let directory = try StoreDirectory()
        try directory.buildBacklog(100_000)
        let disk = directory.lyingDisk(seed: 1)
        let outbox = try directory.open(on: disk)
        let batch = try #require(try outbox.nextBatch(maximumPastLocations: 50))
        let reads = disk.counts[.read] ?? 0
        let pages = try directory.read("outbox.sqlite").count / 1024
        #expect(reads > 0 && reads < pages / 100)
        #expect(batch.stored?.sequence == 100_000)
        #expect(batch.past.map(\.sequence) == Array(1...50))
        #expect(try outbox.ledger() == Ledger(accepted: 100_000, pending: 100_000))
        try outbox.acknowledge(batch)
        try outbox.close()
        #expect(
            try OutboxReader(path: directory.store).summary().ledger
                == Ledger(accepted: 100_000, delivered: 51, pending: 99_949))
    }
}
