import FoundationEssentials
import LinuxPlatform
import LyingDisk
import ReportedText
import Reporting
import Testing

@testable import SQLiteOutbox

/// A store has only one owner, whichever path it is opened by.
@Suite struct Ownership {
    private let directory: StoreDirectory

    init() throws { directory = try StoreDirectory() }

    /// Another path to the same file.
    enum OtherName: String, Sendable, CaseIterable {
        case link, chainOfLinks, linkedDirectory, hardLink
    }

    private func makePath(_ name: OtherName) throws -> String {
        let files = FileManager.default
        try files.createDirectory(atPath: directory.path("b"), withIntermediateDirectories: true)
        let other = "b/other.sqlite"
        switch name {
        case .link: try files.createSymbolicLink(atPath: directory.path(other), withDestinationPath: "../outbox.sqlite")
        case .chainOfLinks:
            try files.createSymbolicLink(atPath: directory.path("next"), withDestinationPath: directory.store)
            try files.createSymbolicLink(atPath: directory.path(other), withDestinationPath: "../next")
        case .linkedDirectory:
            try files.createSymbolicLink(atPath: directory.path("c"), withDestinationPath: ".")
            return "c/outbox.sqlite"
        case .hardLink: try files.linkItem(atPath: directory.store, toPath: directory.path(other))
        }
        return other
    }

    @Test(arguments: OtherName.allCases) func appliesToTheFileUnderAnyName(name: OtherName) throws {
        let outbox = try directory.open()
        _ = try outbox.append(sample(1))
        let other = try makePath(name)
        let error = #expect(throws: OutboxError.self) { try directory.open(other) }
        #expect(error?.code == .locked)
        #expect(error?.holder?.stopCommand == "kill \(ProcessInfo.processInfo.processIdentifier)")
        _ = try outbox.append(sample(2))
        #expect(try outbox.ledger() == Ledger(accepted: 2, pending: 2))
        #expect(directory.recoveries.isEmpty)
    }

    /// The log and the other files of a store are next to its database, not next to a symbolic link to the database.
    @Test func readsTheLogOfAStoreThroughALink() throws {
        let outbox = try directory.open()
        let other = try makePath(.link)
        for second in 1...3 { _ = try outbox.append(sample(second)) }
        #expect(try OutboxReader(path: directory.path(other)).summary().ledger.accepted == 3)
        try directory.moveStore(owner: outbox)
        let again = try directory.open(other)
        #expect(try again.ledger() == Ledger(accepted: 3, pending: 3))
        try again.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path("b")) == ["other.sqlite"])
    }

    /// SQLite's log belongs to one name of a file. A program that opens the file under another name doesn't see the
    /// last commits.
    @Test func rejectsAStoreWithTwoNames() throws {
        try directory.open().close()
        let other = try makePath(.hardLink)
        let errors = [
            #expect(throws: OutboxError.self) { try directory.open(other) },
            #expect(throws: OutboxError.self) { try directory.open() },
            #expect(throws: OutboxError.self) { try OutboxRequester(path: directory.path(other)) },
        ]
        for error in errors {
            guard error?.code == .refused, case .refusal(let refusal)? = error?.cause else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(refusal.reason == .hardLinks(count: 2))
        }
        try FileManager.default.removeItem(atPath: directory.path(other))
        try directory.open().close()
    }

    @Test func survivesTheRemovalOfItsLock() throws {
        let outbox = try directory.open()
        try FileManager.default.removeItem(atPath: directory.store + ".lock")
        let error = #expect(throws: OutboxError.self) { try directory.open() }
        #expect(error?.code == .locked)
        _ = try outbox.append(sample(1))
        #expect(directory.exists("outbox.sqlite.lock"), "the next commit creates the lock file again")
        #expect(try outbox.ledger() == Ledger(accepted: 1, pending: 1))
        try outbox.close()
        try directory.open().close()
    }

    /// A process that holds only the lock file also owns the store.
    @Test func yieldsToTheHolderOfItsLock() throws {
        let outbox = try directory.open()
        _ = try outbox.append(sample(1))
        try FileManager.default.removeItem(atPath: directory.store + ".lock")
        let other = try SystemDisk().lock(at: directory.store + ".lock")
        let error = #expect(throws: OutboxError.self) { try outbox.append(sample(2)) }
        #expect(error?.code == .locked)
        #expect(try OutboxReader(path: directory.store).summary().ledger.accepted == 1)
        _ = consume other
        _ = try outbox.append(sample(3))
        #expect(try outbox.ledger() == Ledger(accepted: 2, pending: 2))
    }

    /// After all files are removed and a second owner has arrived, the first one writes nothing, and removes nothing
    /// that belongs to the second.
    @Test func ownershipOfARemovedStoreDoesNotExtendToItsSuccessor() throws {
        let first = try directory.open()
        for second in 1...3 { _ = try first.append(sample(second)) }
        for name in try directory.names { try FileManager.default.removeItem(atPath: directory.path(name)) }
        let second = try directory.open()
        _ = try second.append(sample(10))
        let error = #expect(throws: OutboxError.self) { try first.append(sample(4)) }
        #expect(error?.code == .locked)
        #expect(error?.holder != nil)
        #expect(throws: OutboxError.self) { try first.close() }
        #expect(directory.exists("outbox.sqlite-wal"), "the second owner's log")
        #expect(try second.append(sample(11)).sequence == 2)
        try directory.moveStore(owner: second)
        #expect(try directory.open().ledger() == Ledger(accepted: 2, pending: 2))
    }

    /// With nothing to write, the first owner closes quietly, and removes nothing that belongs to the second.
    @Test(arguments: [true, false]) func ownershipOfARemovedStoreEndsQuietly(isClosed: Bool) throws {
        var first: OutboxEngine? = try directory.open()
        _ = try first?.append(sample(1))
        for name in try directory.names { try FileManager.default.removeItem(atPath: directory.path(name)) }
        let second = try directory.open()
        _ = try second.append(sample(10))
        if isClosed { try? first?.close() }
        first = nil
        try directory.moveStore(owner: second)
        #expect(try directory.open().ledger() == Ledger(accepted: 1, pending: 1))
    }

    /// Without a second owner, the first continues with a new store, and counts the updates of the old one as lost.
    @Test func ownershipOfARemovedStoreContinuesWithANewOne() throws {
        let outbox = try directory.open()
        for second in 1...3 { _ = try outbox.append(sample(second)) }
        for name in try directory.names { try FileManager.default.removeItem(atPath: directory.path(name)) }
        #expect(try outbox.append(sample(4)).sequence == 4)
        #expect(try outbox.ledger() == Ledger(accepted: 4, pending: 1, evicted: 3))
        #expect(directory.recoveries.map(\.lost) == [3...3])
        let error = #expect(throws: OutboxError.self) { try directory.open() }
        #expect(error?.code == .locked)
    }

    /// A store that is replaced while in use keeps its owner, even if the lock file was removed.
    @Test func movesToARebuiltStore() throws {
        let outbox = try directory.open()
        for second in 1...10 { _ = try outbox.append(sample(second)) }
        try directory.execute("UPDATE updates SET time_ms = 0 WHERE sequence IN (0, 7)")
        outbox.store = nil
        #expect(try outbox.ledger().evicted == 1)
        try FileManager.default.removeItem(atPath: directory.store + ".lock")
        let error = #expect(throws: OutboxError.self) { try directory.open() }
        #expect(error?.code == .locked)
        #expect(try outbox.append(sample(11)).sequence == 11)
    }

    /// At no moment of a replacement can another process become the owner, even if the lock file is missing.
    @Test func hasNoGapWhileTheStoreIsReplaced() throws {
        try directory.buildBacklog(200)
        try directory.breakRow(60)
        let disk = directory.lyingDisk(seed: 1)
        let tries = Locked(0)
        disk.observer = { [directory] call, _ in
            guard call == .rename || call == .sync, tries.withLock({ $0 }) >= 0 else { return }
            let count = tries.withLock { tries in
                defer { tries = -1 }  // not during the attempt
                return tries
            }
            try? FileManager.default.removeItem(atPath: directory.store + ".lock")
            let error = #expect(throws: OutboxError.self) { try directory.open() }
            #expect(error?.code == .locked)
            tries.withLock { $0 = count + 1 }
        }
        let outbox = try directory.open(on: disk)
        #expect(tries.withLock { $0 } > 4)
        #expect(directory.recoveries.map(\.lost) == [1...1])
        #expect(try outbox.ledger() == Ledger(accepted: 200, pending: 199, evicted: 1))
    }
}
