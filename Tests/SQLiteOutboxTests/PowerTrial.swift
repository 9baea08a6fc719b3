import LinuxPlatform
import LyingDisk
import Reporting
import Testing
import TimeAndRandomness

@testable import SQLiteOutbox

/// Work on a disk that loses power repeatedly. After each power cut, the outbox's promises are compared with its
/// content.
struct PowerTrial {
    private(set) var cuts = 0
    private(set) var accepted: Int64 = 0
    private(set) var repeated = 0
    /// The number of updates lost to power cuts, all within the window that the durability allows.
    private(set) var lost = 0

    private static let maximumShapePoints = 4
    /// The maximum number of past locations in a batch.
    private static let maximumPastLocations = 50

    let directory: StoreDirectory
    let disk: LyingDisk
    private var chance: SplitMix64
    private let durability: OutboxDurability
    private let uptime = Locked(Duration.zero)
    private var promises: Promises
    /// The second of the day of the newest sample. It starts late enough that steps back stay within the day.
    private var second = 60
    private var usedSeconds: Set<Int> = []

    init(seed: UInt64, durability: OutboxDurability = .full) throws {
        directory = try StoreDirectory()
        disk = directory.lyingDisk(seed: seed)
        chance = SplitMix64(seed: seed &+ 1)
        self.durability = durability
        promises = Promises(window: durability.window)
    }

    /// Cuts the power `count` times, each time at a random disk call. The outbox may be opening or closing at that
    /// time.
    mutating func run(cuts count: Int) throws {
        for _ in 0..<count {
            let calls = Bool.random(using: &chance) ? 40 : 2500
            disk.schedule(DiskFault(.powerCut, at: Int.random(in: 1...calls, using: &chance)))
            do { try workUntilCut() } catch let error as OutboxError {
                try #require(disk.isOff, "failed before the power was cut: \(error)")
            }
            cuts += 1
            disk.powerOn()
            let outbox = try open()
            let again = try promises.check(outbox, isReopened: true, at: now)
            try #require(
                again <= 1 + Self.maximumShapePoints, "\(cuts): only a live update and its points may be repeated")
            repeated += again
            try outbox.close()
        }
        accepted = promises.accepted
        lost = promises.lost
        try #require(directory.recoveries.isEmpty, "a power cut isn't damage: \(directory.recoveries)")
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
                    let points = (0..<max(0, Int.random(in: -4...Self.maximumShapePoints, using: &chance))).map { _ in
                        nextSample(after: 1...3)
                    }
                    let update = nextSample(after: points.isEmpty ? -3...10 : 1...10)
                    try promises.append(update, with: points, to: engine, at: now)
                }
            case 45..<85:
                let limit = Int.random(in: 0...Self.maximumPastLocations, using: &chance)
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

    private mutating func nextSample(after seconds: ClosedRange<Int>) -> LocationUpdate {
        repeat { second += Int.random(in: seconds, using: &chance) } while !usedSeconds.insert(second).inserted
        return sample(second)
    }

    private func openUnlessCut() throws -> OutboxEngine? {
        disk.isOff ? nil : try open()
    }

    private var now: Duration { uptime.withLock { $0 } }

    private func open() throws -> OutboxEngine {
        var settings = directory.configuration(on: disk)
        settings.durability = durability
        settings.uptime = { [uptime] in uptime.withLock { $0 } }
        return try OutboxEngine(settings)
    }
}
