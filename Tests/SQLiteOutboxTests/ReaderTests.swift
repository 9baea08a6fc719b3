import FoundationEssentials
import Glibc
import LinuxPlatform
import ReportedText
import Reporting
import Testing
import WaypostTestSupport

@testable import SQLiteOutbox

@Suite struct Reader {
    @Test func readsAnOutboxThatIsInUse() async throws {
        let directory = try StoreDirectory()
        let outbox = try await SQLiteOutbox.open(directory.configuration())
        try await outbox.append(sample(1))
        let reader = try OutboxReader(path: directory.store)
        for second in 2...300 {
            try await outbox.append(sample(second))
            #expect(try reader.summary().ledger.accepted == Int64(second))
        }
        try await outbox.quarantine(StoredUpdate(sequence: 3, update: sample(3)), reason: "400: no such field")
        var listed: [StoredUpdate] = []
        try reader.forEachPending { listed.append($0) }
        #expect(listed.map(\.sequence) == [1, 2] + Array(4...300))
        let quarantined = try reader.quarantined().updates
        let stored = StoredUpdate(sequence: 3, update: sample(3))
        #expect(quarantined == [QuarantinedUpdate(stored: stored, reason: "400: no such field")])
        try await outbox.close()
    }

    @Test func worksWhileTheServiceIsStoppedAndLeavesNoTrace() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        for second in 1...2500 { _ = try outbox.append(sample(second)) }
        try outbox.close()
        let before = try directory.names
        let reader = try OutboxReader(path: directory.store)
        var count = 0
        try reader.forEachPending { _ in count += 1 }
        #expect(count == 2500)
        #expect(try reader.summary().newest?.update == sample(2500))
        #expect(try directory.names == before)
    }

    @Test func readsTheStoreOfAKilledService() throws {
        let directory = try StoreDirectory()
        let outbox = try directory.open()
        for second in 1...10 { _ = try outbox.append(sample(second)) }
        try directory.copyStore(to: "killed")
        #expect(try OutboxReader(path: directory.path("killed")).summary().ledger == Ledger(accepted: 10, pending: 10))
    }

    @Test func reportsAMissingStore() throws {
        let directory = try StoreDirectory()
        let error = #expect(throws: OutboxError.self) { try OutboxReader(path: directory.store) }
        #expect(error == OutboxError(.missing, path: directory.store))
    }

    @Test func reportsAForbiddenStore() {
        let cause = SystemError(call: "open /o", number: EACCES)
        let message: ReportedText = "open /o: Permission denied"
        #expect(
            OutboxError(cause, path: "/o")
                == OutboxError(.forbidden, path: "/o", .system(number: EACCES, message: message)))
    }

    @Test func reportsADamagedStore() throws {
        let directory = try StoreDirectory()
        try directory.open().close()
        try directory.write(Array("text".utf8), to: "outbox.sqlite")
        let error = #expect(throws: OutboxError.self) { try OutboxReader(path: directory.store) }
        #expect(error?.code == .damaged)
    }

    @Test func acceptsAnyPath() throws {
        let directory = try StoreDirectory()
        let name = "50% of #1?.sqlite"
        let outbox = try directory.open(name)
        _ = try outbox.append(sample(1))
        try outbox.close()
        #expect(try OutboxReader(path: directory.path(name)).summary().ledger == Ledger(accepted: 1, pending: 1))
    }
}
