import LyingDisk
import Reporting

@testable import SQLiteOutbox

/// Work during which calls to the disk fail: either single calls, or all calls from one of them until the disk is
/// repaired. Then a power cut removes all unsynchronised data.
struct CallFaultTrial {
    let directory: StoreDirectory
    let disk: LyingDisk
    private let durability: OutboxDurability
    private var promises: Promises
    private var outbox: OutboxEngine?
    /// The number of calls to the outbox that failed.
    private(set) var failures = 0

    /// Whether the store may be replaced. After a single fault, it must not be replaced; after more faults, a
    /// replacement must lose nothing.
    private let mayBeReplaced: Bool

    /// The number of failed attempts after which the disk is repaired.
    private static let attemptsBeforeRepair = 3

    init(_ faults: [DiskFault], durability: OutboxDurability) throws {
        self.durability = durability
        promises = Promises(window: durability.window)
        directory = try StoreDirectory()
        disk = directory.lyingDisk(seed: UInt64(faults.reduce(0) { $0 + $1.number }))
        for fault in faults { disk.schedule(fault) }
        mayBeReplaced = faults.count > 1
    }

    /// Whether the work reached every call that should fail.
    var hasReachedFaults: Bool { disk.faults.allSatisfy { $0.number <= 0 } }

    /// Does the work. Returns whether it reached every call that should fail.
    ///
    /// - Throws: `BrokenPromise`, or the outbox's error if it doesn't work again.
    mutating func run() throws -> Bool {
        for second in 1...60 {
            let points = (0..<(second % 4)).map { sample(second * 10 - 5 + $0) }
            try retry { try $0.append(sample(second * 10), with: points, to: $1) }
            if second < 30 { try retry { try $0.deliver(from: $1, maximumPastLocations: 5) } }
            switch second {
            case 40, 55: try reopen()
            case 45: try retry { try $0.deliver(from: $1, maximumPastLocations: 8) }
            case 50:
                guard let victim = promises.pending.keys.max() else { continue }
                try retry { try $0.quarantine(victim, in: $1) }
            default: break
            }
        }
        let hasReachedFaults = hasReachedFaults
        disk.heal()
        disk.powerCut(keeping: 0)
        outbox = nil
        disk.powerOn()
        try promises.check(try open(), isReopened: true)
        if let recovery = directory.recoveries.first(where: { !mayBeReplaced || $0.lost.upperBound > 0 }) {
            throw BrokenPromise(description: "\(recovery)")
        }
        return hasReachedFaults
    }

    /// Repeats `work` after errors, as the service does, finally on the repaired disk.
    private mutating func retry(_ work: (inout Promises, OutboxEngine) throws -> Void) throws {
        var attempts = 0
        while true {
            do {
                let engine = try outbox ?? open()
                outbox = engine
                if failures > 0 { try promises.check(engine, isReopened: false) }
                return try work(&promises, engine)
            } catch let error as OutboxError {
                attempts = attempts + 1
                failures = failures + 1
                if attempts == Self.attemptsBeforeRepair { disk.heal() }
                if attempts == 2 * Self.attemptsBeforeRepair { throw error }
            }
        }
    }

    private func open() throws -> OutboxEngine {
        var settings = directory.configuration(on: disk)
        settings.durability = durability
        return try OutboxEngine(settings)
    }

    private mutating func reopen() throws {
        try retry { try $1.close() }
        outbox = nil
        try retry { try $0.check($1, isReopened: true) }
    }
}
