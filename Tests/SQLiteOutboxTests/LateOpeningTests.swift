import LinuxPlatform
import LyingDisk
import Reporting
import Testing
import WaypostTestSupport

@testable import SQLiteOutbox

/// A disk on which the store can't be opened or written at first. The service keeps running in the meantime.
@Suite struct LateOpening {
    private let directory: StoreDirectory
    private let disk: LyingDisk
    private let seconds = Locked(0)

    init() throws {
        directory = try StoreDirectory()
        disk = directory.lyingDisk(seed: 1)
    }

    private var configuration: OutboxConfiguration {
        var configuration = directory.configuration(on: disk)
        configuration.uptime = { [seconds] in .seconds(seconds.withLock { $0 }) }
        return configuration
    }

    @Test(arguments: [
        (OutboxError.Code.readOnly, DiskErrno.readOnly), (.full, DiskErrno.noSpace), (.forbidden, DiskErrno.denied),
    ])
    func opensAsSoonAsTheDiskAllows(code: OutboxError.Code, number: CInt) async throws {
        disk.schedule(DiskFault(.error(number), at: 1, lasts: true))
        await #expect(throws: OutboxError.self) { try await SQLiteOutbox.open(configuration) }
        disk.heal()
        disk.schedule(DiskFault(.error(number), at: 1, lasts: true))
        let outbox = SQLiteOutbox(configuration)
        let failure = await #expect(throws: OutboxError.self) { try await outbox.open() }
        let error = await #expect(throws: OutboxError.self) { try await outbox.append(sample(1)) }
        #expect(error?.code == code)
        #expect(failure == error)
        await #expect(throws: OutboxError.self) { try await outbox.nextBatch(maximumPastLocations: 1) }
        disk.heal()
        await #expect(throws: OutboxError.self, "opening isn't tried at each call") {
            try await outbox.append(sample(2))
        }
        seconds.withLock { $0 += 2 }
        #expect(try await outbox.append(sample(3)).sequence == 1)
        try await outbox.close()
    }

    @Test func doesNotWaitForAnotherProcessOrAnotherRelease() async throws {
        let owner = try await SQLiteOutbox.open(configuration)
        let locked = await #expect(throws: OutboxError.self) { try await SQLiteOutbox(configuration).open() }
        #expect(locked?.code == .locked)
        try await owner.close()
        try directory.execute("CREATE TABLE tracks (id); PRAGMA user_version = 99")
        let newer = await #expect(throws: OutboxError.self) { try await SQLiteOutbox(configuration).open() }
        #expect(newer?.code == .newerSchema)
    }

    /// An outbox that is damaged again after its repair isn't repaired at each call.
    @Test func waitsLongerAfterARepairThatDidNotHelp() async throws {
        try directory.buildBacklog(10)
        try directory.breakHeader()
        let repairs = Locked(0)
        var settings = configuration
        settings.reportRecovery = { [directory] _ in
            if repairs.withLock({
                $0 += 1; return $0 < 2
            }) {
                try? directory.breakHeader()
            }
        }
        let outbox = SQLiteOutbox(settings)
        let failure = await #expect(throws: OutboxError.self) { try await outbox.open() }
        #expect(failure?.code == .damagedAgain)
        for time in [2, 599] {
            seconds.withLock { $0 = time }
            await #expect(throws: OutboxError.self) { try await outbox.append(sample(11)) }
        }
        #expect(repairs.withLock { $0 } == 1)
        seconds.withLock { $0 = 600 }
        #expect(try await outbox.append(sample(11)).sequence == 11)
        #expect(repairs.withLock { $0 } == 2)
    }

    @Test func outboxCanBeClosedBeforeItIsOpen() async throws {
        disk.isReadOnly = true
        let outbox = SQLiteOutbox(configuration)
        await #expect(throws: OutboxError.self) { try await outbox.open() }
        try await outbox.close()
        let error = await #expect(throws: OutboxError.self) { try await outbox.append(sample(1)) }
        #expect(error?.code == .closed)
    }

    /// The kernel makes a disk read-only after errors, while files are open.
    @Test func continuesAfterTheDiskWasReadOnly() async throws {
        var promises = Promises()
        let outbox = try OutboxEngine(configuration)
        for second in 1...20 { try promises.append(sample(second), to: outbox) }
        disk.isReadOnly = true
        for second in 21...23 {
            let error = #expect(throws: OutboxError.self) { try promises.append(sample(second), to: outbox) }
            // SQLite doesn't report why a commit failed; reopening does.
            if second > 21 { #expect(error?.code == .readOnly) }
        }
        disk.isReadOnly = false
        try promises.check(outbox, isReopened: true)
        try promises.append(sample(24), to: outbox)
        try promises.deliver(from: outbox, maximumPastLocations: 50)
        try outbox.close()
        #expect(directory.recoveries.isEmpty)
    }
}
