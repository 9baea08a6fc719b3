import LinuxPlatform
import LocationReporting
import LyingDisk
import Testing
import TimeAndChance

@testable import SQLiteOutbox

/// Work on a disk that loses power again and again, each time with what it promised compared with what it kept.
struct PowerTrial {
    private(set) var cuts = 0
    private(set) var accepted: Int64 = 0
    private(set) var repeated = 0
    /// Accepted within the window, and taken by a cut.
    private(set) var lost = 0

    /// Longer than any batch, shorter than what a checkpoint lets pass.
    private static let longestBatch = 50

    let folder: StoreFolder
    let disk: LyingDisk
    private var chance: SplitMix64
    private let durability: OutboxDurability
    private let uptime = Locked(Duration.zero)
    private var promises: Promises
    private var second = 0
    private var times: Set<Int> = []

    init(seed: UInt64, durability: OutboxDurability = .full) throws {
        folder = try StoreFolder()
        disk = folder.lyingDisk(seed: seed)
        chance = SplitMix64(seed: seed &+ 1)
        self.durability = durability
        promises = Promises(window: durability.window)
    }

    /// Cuts the power `count` times, at any call of any piece of work, opening and closing among them.
    mutating func run(cuts count: Int) throws {
        for _ in 0..<count {
            let calls = Bool.random(using: &chance) ? 40 : 2500
            disk.order(DiskFault(.powerCut, at: Int.random(in: 1...calls, using: &chance)))
            do { try workUntilCut() } catch let error as OutboxError {
                try #require(disk.isOff, "it failed before the power went: \(error)")
            }
            cuts += 1
            disk.powerOn()
            let outbox = try open()
            let again = try promises.check(outbox, isReopened: true, at: now)
            try #require(again <= 1, "cut \(cuts): only the live acknowledgement may be repeated")
            repeated += again
            try outbox.close()
        }
        (accepted, lost) = (promises.accepted, promises.lost)
        try #require(folder.recoveries.isEmpty, "a power cut is no damage: \(folder.recoveries)")
    }

    private mutating func workUntilCut() throws {
        var outbox: OutboxEngine? = try openUnlessCut()
        while !disk.isOff {
            guard let engine = outbox else {
                outbox = try openUnlessCut()
                continue
            }
            for _ in 0..<Int.random(in: 0...5, using: &chance) {
                uptime.withLock { $0 += OutboxEngine.maintenanceInterval }
                _ = try engine.maintain()
            }
            switch Int.random(in: 0..<100, using: &chance) {
            case 0..<45:
                for _ in 0..<Int.random(in: 1...20, using: &chance) {
                    repeat { second += Int.random(in: -3...10, using: &chance) } while !times.insert(second).inserted
                    try promises.append(sample(second), to: engine, at: now)
                }
            case 45..<85:
                let limit = Int.random(in: 0...Self.longestBatch, using: &chance)
                try promises.deliver(from: engine, maximumPastLocations: limit)
            case 85..<92:
                guard let victim = promises.pending.keys.sorted().randomElement(using: &chance) else { continue }
                try promises.quarantine(victim, in: engine)
            default:
                if Bool.random(using: &chance) { try engine.close() }
                outbox = nil
            }
        }
    }

    private func openUnlessCut() throws -> OutboxEngine? {
        disk.isOff ? nil : try open()
    }

    private var now: Duration { uptime.withLock { $0 } }

    private func open() throws -> OutboxEngine {
        var settings = folder.configuration(on: disk)
        settings.durability = durability
        settings.uptime = { [uptime] in uptime.withLock { $0 } }
        return try OutboxEngine(settings)
    }
}
