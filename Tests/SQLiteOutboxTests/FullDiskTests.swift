import FoundationEssentials
import LocationReporting
import LyingDisk
import ReportedText
import Testing
import WaypostTestSupport

@testable import SQLiteOutbox

@Suite struct FullDisk {
    @Test func refusesNewUpdatesAndGoesOnDelivering() throws {
        let folder = try TemporaryFolder()
        var configuration = folder.configuration()
        configuration.pageLimit = 12
        let outbox = try OutboxEngine(configuration)
        var accepted = 0
        var refusal: OutboxError?
        while refusal == nil {
            do throws(OutboxError) {
                _ = try outbox.append(sample(accepted + 1))
                accepted += 1
            } catch { refusal = error }
        }
        #expect(refusal?.code == .full)
        #expect(refusal?.detail.hasPrefix("\(folder.store): no space is left") == true)
        #expect(refusal?.detail.contains("free some on this file system") == true)
        #expect(try outbox.ledger() == Ledger(accepted: Int64(accepted), pending: Int64(accepted)))
        try outbox.quarantine(StoredUpdate(sequence: 1, update: sample(1)), reason: "400")
        try outbox.deliverBatch(maximumPastLocations: 60)
        let again = try outbox.append(sample(accepted + 1))
        #expect(again.sequence == Int64(accepted + 1))
        let ledger = try outbox.ledger()
        #expect(ledger.delivered == 61)
        #expect(ledger.balances)
        try outbox.close()
        #expect(try OutboxReader(path: folder.store).summary().ledger == ledger)
    }

    /// A backlog goes out though nothing can be written: no update twice, and at some point none until there is space.
    @Test(arguments: OutboxDurability.allCases)
    func sendsNothingAgainThatItCannotWriteDown(durability: OutboxDurability) throws {
        let folder = try TemporaryFolder()
        try folder.buildBacklog(3000)
        let disk = folder.lyingDisk(seed: 1)
        var configuration = folder.configuration(on: disk)
        configuration.durability = durability
        let outbox = try OutboxEngine(configuration)
        disk.order(DiskFault(.error(DiskErrno.noSpace), at: 1, of: .write, lasts: true))
        var sent: Set<Int64> = []
        let refusal = #expect(throws: OutboxError.self) {
            while let batch = try outbox.nextBatch(maximumPastLocations: 50) {
                let isNew = sent.isDisjoint(with: batch.pending.map(\.sequence))
                try #require(isNew, "after \(sent.count)")
                sent.formUnion(batch.pending.map(\.sequence))
                try outbox.acknowledge(batch)
            }
        }
        #expect(refusal?.code == .full)
        #expect((1000...1050).contains(sent.count))
        // Not kept back where nobody would send it: it goes out from memory.
        #expect(throws: OutboxError.self) { try outbox.append(sample(40_000)) }
        #expect(throws: OutboxError.self) { try outbox.attend() }
        let delivered = Int64(sent.count)
        #expect(try outbox.ledger() == Ledger(accepted: 3000, delivered: delivered, pending: 3000 - delivered))

        disk.heal()
        _ = try outbox.attend()
        #expect(try OutboxReader(path: folder.store).summary().ledger.delivered == delivered)
        let batch = try #require(try outbox.nextBatch(maximumPastLocations: 50))
        let isNew = sent.isDisjoint(with: batch.pending.map(\.sequence))
        #expect(isNew)
    }

    @Test(.enabled(if: TinyFileSystem.isAllowed, "mounting a small file system needs root"))
    func givesTheReserveBackAndRecovers() throws {
        let folder = try TemporaryFolder()
        let disk = try TinyFileSystem(at: folder.path("disk"), megabytes: 2)
        let outbox = try folder.open("disk/outbox.sqlite")
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
            #expect(folder.exists("disk/outbox.sqlite.reserve"))
        }
        // A start on a full disk.
        try disk.fill()
        let ledger = try outbox.ledger()
        try outbox.close()
        try disk.fill()
        let next = try folder.open("disk/outbox.sqlite")
        #expect(try next.ledger() == ledger)
        #expect(folder.recoveries.isEmpty)
        try next.close()
    }
}
