import FoundationEssentials
import Glibc
import LinuxPlatform
import LyingDisk
import ReportedText
import Reporting
import Testing
import WaypostTestSupport

@testable import SQLiteOutbox

@Suite struct FullDisk {
    @Test func rejectsNewUpdatesAndContinuesDelivery() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        try outbox.limitPages(to: 12)
        var accepted = 0
        var rejection: OutboxError?
        while rejection == nil {
            do throws(OutboxError) {
                _ = try outbox.append(sample(accepted + 1))
                accepted += 1
            } catch { rejection = error }
        }
        #expect(rejection?.code == .full && rejection?.path == directory.store)
        #expect(try outbox.ledger() == Ledger(accepted: Int64(accepted), pending: Int64(accepted)))
        try outbox.quarantine(StoredUpdate(sequence: 1, update: sample(1)), reason: "400")
        try outbox.deliverBatch(maximumPastLocations: 60)
        let again = try outbox.append(sample(accepted + 1))
        #expect(again.sequence == Int64(accepted + 1))
        let ledger = try outbox.ledger()
        #expect(ledger.delivered == 61)
        #expect(ledger.balances)
        try outbox.close()
        #expect(try OutboxReader(path: directory.store).summary().ledger == ledger)
    }

    /// A backlog is sent although nothing can be written. No update is sent twice, and none at all once too many
    /// acknowledgements are unwritten.
    @Test(arguments: OutboxDurability.allCases)
    func sendsNoUpdateTwice(durability: OutboxDurability) throws {
        let directory = try StoreDirectory()
        try directory.buildBacklog(3000)
        let disk = directory.lyingDisk(seed: 1)
        var configuration = directory.configuration(on: disk)
        configuration.durability = durability
        let outbox = try OutboxEngine(configuration)
        disk.schedule(DiskFault(.error(DiskErrno.noSpace), at: 1, of: .write, lasts: true))
        var sent: Set<Int64> = []
        let rejection = #expect(throws: OutboxError.self) {
            while let batch = try outbox.nextBatch(maximumPastLocations: 50) {
                let isNew = sent.isDisjoint(with: batch.pending.map(\.sequence))
                try #require(isNew, "after \(sent.count)")
                sent.formUnion(batch.pending.map(\.sequence))
                try outbox.acknowledge(batch)
            }
        }
        #expect(rejection?.code == .full)
        #expect((1000...1050).contains(sent.count))
        // The outbox rejects the update, so that it is sent from memory.
        #expect(throws: OutboxError.self) { try outbox.append(sample(40_000)) }
        #expect(throws: OutboxError.self) { try outbox.maintain() }
        let delivered = Int64(sent.count)
        #expect(try outbox.ledger() == Ledger(accepted: 3000, delivered: delivered, pending: 3000 - delivered))

        disk.heal()
        _ = try outbox.maintain()
        #expect(try OutboxReader(path: directory.store).summary().ledger.delivered == delivered)
        let batch = try #require(try outbox.nextBatch(maximumPastLocations: 50))
        let isNew = sent.isDisjoint(with: batch.pending.map(\.sequence))
        #expect(isNew)
    }

    @Test(.enabled(if: TinyFileSystem.isAllowed, "mounting a small file system requires root"))
    func releasesTheReserveAndRecovers() throws {
        let directory = try StoreDirectory()
        let disk = try TinyFileSystem(at: directory.path("disk"), megabytes: 2)
        let outbox = try directory.open("disk/outbox.sqlite")
        var accepted = 0
        func appendUntilRefused() throws -> OutboxError {
            while true {
                do throws(OutboxError) {
                    _ = try outbox.append(sample(accepted + 1))
                    accepted += 1
                } catch { return error }
            }
        }
        for _ in 1...3 {
            for _ in 1...200 {
                _ = try outbox.append(sample(accepted + 1))
                accepted += 1
            }
            let delivered = try outbox.ledger().delivered
            try disk.fill()
            #expect(try appendUntilRefused().code == .full)
            #expect(try outbox.ledger().accepted == Int64(accepted))
            for _ in 1...5 { try outbox.deliverBatch(maximumPastLocations: 20) }  // needs the reserve
            #expect(try outbox.ledger().delivered == delivered + 101)
            #expect(try outbox.ledger().balances)
            try disk.free()
            _ = try outbox.append(sample(accepted + 1))
            accepted += 1
            #expect(directory.exists("disk/outbox.sqlite.reserve"))
        }
        // The outbox also starts on a full disk.
        try disk.fill()
        let ledger = try outbox.ledger()
        try outbox.close()
        try disk.fill()
        let next = try directory.open("disk/outbox.sqlite")
        #expect(try next.ledger() == ledger)
        #expect(directory.recoveries.isEmpty)
        try next.close()
    }
}

/// Another file at the path of the reserve. If it can't be removed, the outbox works without a reserve.
@Suite struct PlantedReserve {
    private let directory: StoreDirectory
    private let warnings = Locked<[OutboxWarning]>([])
    private let endedWarnings = Locked<[OutboxWarning]>([])

    init() throws { directory = try StoreDirectory() }

    enum Kind: String, Sendable, CaseIterable {
        case file, link, fifo, directory
    }

    private var reservePath: String { directory.store + ".reserve" }

    private func plant(_ kind: Kind) throws {
        switch kind {
        case .file: try directory.write("worth keeping".utf8, to: "outbox.sqlite.reserve")
        case .link: try FileManager.default.createSymbolicLink(atPath: reservePath, withDestinationPath: "victim")
        case .fifo: unsafe mkfifo(reservePath, 0o600)
        case .directory: unsafe mkdir(reservePath, 0o700)
        }
    }

    private var configuration: OutboxConfiguration {
        var settings = directory.configuration()
        settings.reportWarning = { [warnings] warning in warnings.withLock { $0.append(warning) } }
        settings.reportWarningEnd = { [endedWarnings] warning in endedWarnings.withLock { $0.append(warning) } }
        return settings
    }

    /// The directory is shared, such as `/tmp`.
    @Test(.enabled(if: geteuid() == 0, "only root can create another user's file"), arguments: Kind.allCases)
    func isNotTouchedIfAnotherUserOwnsIt(kind: Kind) throws {
        unsafe chmod(directory.url.path, 0o1777)
        try plant(kind)
        unsafe lchown(reservePath, 12345, 12345)
        let before = try FileStatus(at: reservePath)
        try expectToWorkWithoutReserve()
        #expect(try FileStatus(at: reservePath) == before)
        #expect(!directory.exists("victim"))
    }

    @Test func isNotRemovedIfItIsADirectory() throws {
        try plant(.directory)
        try expectToWorkWithoutReserve()
        #expect(try FileSystem.entry(at: reservePath)?.kind == .directory)
    }

    @Test func isReportedEachTimeItAppearsAndDisappears() throws {
        let outbox = try OutboxEngine(configuration)
        for count in 1...2 {
            unsafe unlink(reservePath)
            try plant(.directory)
            for _ in 1...3 { _ = try outbox.append(sample(count)) }
            #expect(warnings.withLock { $0.count } == count)
            #expect(endedWarnings.withLock { $0.count } == count - 1)
            unsafe rmdir(reservePath)
            for _ in 1...3 { _ = try outbox.append(sample(count)) }
            #expect(endedWarnings.withLock { $0.count } == count)
        }
        try outbox.close()
    }

    @Test(arguments: [Kind.link, .fifo]) func isReplacedIfThisUserOwnsIt(kind: Kind) throws {
        try plant(kind)
        try OutboxEngine(configuration).close()
        #expect(warnings.withLock { $0 }.isEmpty)
        #expect(try FileStatus(at: reservePath)?.bytes == DiskReserve.bytes)
    }

    private func expectToWorkWithoutReserve() throws {
        let outbox = try OutboxEngine(configuration)
        try outbox.limitPages(to: 12)
        var accepted = 0
        // The error must be `full`, not another one.
        let error = #expect(throws: OutboxError.self) {
            while true {
                _ = try outbox.append(sample(accepted + 1))
                accepted += 1
            }
        }
        #expect(error?.code == .full && accepted > 20)
        try outbox.deliverBatch(maximumPastLocations: 4)
        try outbox.close()
        #expect(
            try OutboxReader(path: directory.store).summary().ledger
                == Ledger(accepted: Int64(accepted), delivered: 5, pending: Int64(accepted - 5)))
        let warnings = warnings.withLock { $0 }
        guard warnings.count == 1, case .noReserve(let refusal)? = warnings.first else {
            Issue.record("expected exactly one warning about a missing reserve")
            return
        }
        #expect(refusal.path == reservePath)
    }
}
