import FoundationEssentials
import LyingDisk
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import SQLiteOutbox

/// Runs in each of which a different call of a given kind fails. With `make damage-test` and 100 seeds or more, every
/// call fails in one run; with `make test`, only a few do.
@Suite(.enabled(if: !Sanitizer.isActive, "computes for a long time on one thread"))
struct FailingCalls {
    static let isLongRun = (ProcessInfo.processInfo.environment["DAMAGE_SEEDS"].flatMap { UInt64($0) } ?? 0) >= 100
    private static let callNumbers = isLongRun ? Array(1...200) : [1, 2, 3, 5, 9, 33, 129]
    private static let errors =
        [DiskErrno.inputOutput, DiskErrno.noSpace] + (isLongRun ? [DiskErrno.readOnly, DiskErrno.interrupted] : [])

    @Test(arguments: DiskCall.allCases, OutboxDurability.allCases)
    func loseNoUpdates(call: DiskCall, durability: OutboxDurability) throws {
        let failures = Self.errors.map { DiskFault.Failure.error($0) } + (call == .write ? [.shortWrite] : [])
        var runs = 0
        var failed = 0
        for failure in failures {
            for lasts in [false, true] {
                for number in Self.callNumbers {
                    let fault = DiskFault(failure, at: number, of: call, lasts: lasts)
                    var trial = try CallFaultTrial([fault], durability: durability)
                    do { if try !trial.run() { break } } catch { Issue.record(error, "\(fault)") }
                    runs = runs + 1
                    failed = failed + trial.failures
                }
            }
        }
        #expect(runs > 0)
        print("faults of \(call), \(durability): \(runs) runs, \(failed) calls to the outbox failed, lost 0")
    }

    /// The first failure must not mislead the handling of the second.
    @Test(arguments: OutboxDurability.allCases)
    func loseNoUpdatesWhenTwoCallsFail(durability: OutboxDurability) throws {
        var chance = SplitMix64(seed: 1)
        let pairs = Self.isLongRun ? 1000 : 60
        var failed = 0
        for _ in 0..<pairs {
            let first = Self.fault(at: 1...40, using: &chance)
            let isSame = Bool.random(using: &chance)
            let second =
                isSame
                ? DiskFault(first.failure, at: first.number + .random(in: 1...4, using: &chance), of: first.call)
                : Self.fault(at: 1...40, using: &chance)
            var trial = try CallFaultTrial([first, second], durability: durability)
            do { _ = try trial.run() } catch { Issue.record(error, "\(first), \(second)") }
            failed += trial.failures
        }
        #expect(failed > pairs / 4)
        print("two faults, \(durability): \(pairs) runs, \(failed) calls to the outbox failed, lost 0")
    }

    /// Tries each pair of syncs, because random choices miss the few that matter.
    @Test(arguments: isLongRun ? OutboxDurability.allCases : [.economy])
    func loseNoUpdatesWhenTwoSyncsFail(durability: OutboxDurability) throws {
        let last = Self.isLongRun ? 40 : 20
        for first in 1..<last {
            for second in first + 1...last {
                let faults = [first, second].map { DiskFault(.error(DiskErrno.inputOutput), at: $0, of: .sync) }
                var trial = try CallFaultTrial(faults, durability: durability)
                do {
                    if try !trial.run() { break }  // no syncs are left
                } catch { Issue.record(error, "\(first), \(second)") }
            }
        }
    }

    private static func fault(at numbers: ClosedRange<Int>, using chance: inout SplitMix64) -> DiskFault {
        let calls = [DiskCall.read, .write, .sync, .truncate, .open]
        let call = calls[Int.random(in: 0..<calls.count, using: &chance)]
        let failure: DiskFault.Failure =
            call == .write && Bool.random(using: &chance) ? .shortWrite : .error(DiskErrno.inputOutput)
        return DiskFault(failure, at: .random(in: numbers, using: &chance), of: call)
    }

    /// A log whose sync has failed isn't used again while a reader keeps it from being emptied.
    @Test func causeRejectionsWhileAReaderKeepsTheLog() throws {
        let directory = try StoreDirectory()
        let disk = directory.lyingDisk(seed: 1)
        var outbox: OutboxEngine? = try directory.open(on: disk)
        _ = try outbox?.append(sample(1))
        do {
            let reader = try SQLiteConnection(path: directory.store, access: .readOnly, on: disk)
            try reader.execute("BEGIN; SELECT * FROM updates")
            disk.schedule(DiskFault(.error(DiskErrno.inputOutput), at: 1, of: .sync))
            #expect(throws: OutboxError.self) { try outbox?.append(sample(2)) }
            let error = #expect(throws: OutboxError.self) { try outbox?.append(sample(3)) }
            #expect(error?.code == .busy)
        }
        let stored = try #require(try outbox?.append(sample(4)))
        disk.powerCut(keeping: 0)
        outbox = nil
        disk.powerOn()
        #expect(try directory.open(on: disk).pendingUpdates().contains(stored))
    }

    /// The log's directory entry is on the disk before anything is accepted, although SQLite ignores its failed sync.
    @Test func doNotLoseTheLogsDirectoryEntry() throws {
        let directory = try StoreDirectory()
        let disk = directory.lyingDisk(seed: 1)
        try directory.open(on: disk).close()
        var outbox: OutboxEngine? = try directory.open(on: disk)
        disk.schedule(DiskFault(.error(DiskErrno.inputOutput), at: 2, of: .sync))  // the log's own is the first
        _ = try outbox?.append(sample(1))
        disk.powerCut(keeping: 0)
        outbox = nil
        disk.powerOn()
        #expect(try directory.open(on: disk).pendingUpdates().count == 1)
    }
}
