import Glibc
import LyingDisk
import Reporting
import Testing
import TimeAndRandomness

@testable import SQLiteOutbox

/// A store that is damaged at random after a power cut, and opened again.
struct DamageTrial {
    /// The files of a store, with the bytes of every pending row.
    struct Sample: Sendable {
        let accepted: Int64
        let database, log: [UInt8]
        /// The log at an earlier time.
        let earlierLog: [UInt8]
        let cells: [Int64: [UInt8]]
        fileprivate let offsets: RowOffsets

        init(rows: Int, maximumBytes: Int64 = 64_000_000) throws {
            let directory = try StoreDirectory()
            let outbox = try OutboxEngine(directory.configuration(maximumBytes: maximumBytes))
            var earlierLog: [UInt8] = []
            for second in 1...rows {
                _ = try outbox.append(SQLiteOutboxTests.sample(second))
                if second == rows / 3 { earlierLog = try directory.read("outbox.sqlite-wal") }
                if second % 200 == 0 { try outbox.deliverBatch(maximumPastLocations: 20) }
            }
            var cells: [Int64: [UInt8]] = [:]
            for record in try outbox.store?.rows.oldest(limit: rows) ?? [] {
                cells[record.stored.sequence] = record.row.cell
            }
            self.cells = cells
            self.earlierLog = earlierLog
            accepted = try outbox.ledger().accepted
            database = try directory.read("outbox.sqlite")
            log = try directory.read("outbox.sqlite-wal")
            offsets = RowOffsets(cells, database: database, log: log)
        }
    }

    private(set) var rowCount = 0
    /// The number of pending rows whose bytes are undamaged.
    private(set) var soundCount = 0
    private(set) var salvagedCount = 0
    private(set) var countedAsLost: Int64 = 0
    private(set) var slowestOpening = Duration.zero

    /// Damages a copy of `sample` and opens it.
    mutating func run(_ sample: Sample, seed: UInt64) throws {
        var chance = SplitMix64(seed: seed)
        var database = sample.database
        var log = sample.log
        let damage = Self.damage(&database, &log, of: sample, using: &chance)
        let directory = try StoreDirectory()
        try directory.write(database, to: "outbox.sqlite")
        try directory.write(log, to: "outbox.sqlite-wal")

        let begin = Self.processorTime
        let outbox = try directory.open()
        let took = Self.processorTime - begin
        try #require(took < .seconds(2), "seed \(seed), \(damage)")
        slowestOpening = max(slowestOpening, took)

        let found = Set(try outbox.pendingUpdates().map(\.sequence))
        let sound = sample.cells.filter {
            sample.offsets.isSound($0.key, cell: $0.value, database: database, log: log)
        }.map(\.key)
        let kept = sound.filter(found.contains)
        try #require(kept.count * 100 >= sound.count * 99, "seed \(seed), \(damage): \(kept.count) of \(sound.count)")
        let ledger = try outbox.ledger()
        try #require(ledger.balances, "seed \(seed), \(damage)")
        let lost = Set(sample.cells.keys).subtracting(found).count
        let reported = try outbox.summary().evictions[.damage].count + sample.accepted - ledger.accepted
        try #require(Int64(lost) <= reported, "seed \(seed), \(damage): \(lost) are lost, \(reported) are counted")
        _ = try outbox.append(SQLiteOutboxTests.sample(86_000))
        rowCount += sample.cells.count
        soundCount += sound.count
        salvagedCount += kept.count
        countedAsLost += ledger.evicted
    }

    /// The processor time of this process, because the elapsed time would include the load of the machine.
    private static var processorTime: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private static func damage(
        _ database: inout [UInt8], _ log: inout [UInt8], of sample: Sample, using chance: inout SplitMix64
    ) -> String {
        func flip(_ bytes: inout [UInt8], _ count: Int) {
            for _ in 0..<count where !bytes.isEmpty {
                let index = Int.random(in: bytes.indices, using: &chance)
                bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
            }
        }
        func zero(_ bytes: inout [UInt8], pages: Int) {
            for _ in 0..<pages where bytes.count > 1024 {
                let page = Int.random(in: 0..<bytes.count / 1024, using: &chance)
                bytes.replaceSubrange(page * 1024..<(page + 1) * 1024, with: repeatElement(0, count: 1024))
            }
        }
        func cut(_ bytes: inout [UInt8]) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &chance)) }
        func randomBytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255, using: &chance) } }

        let count = Int.random(in: 1...20, using: &chance)
        switch Int.random(in: 0..<14, using: &chance) {
        case 0, 1: flip(&database, count); return "\(count) bits of the database"
        case 2, 3: flip(&log, count); return "\(count) bits of the log"
        case 4: cut(&database); return "database cut"
        case 5: cut(&log); return "log cut"
        case 6: zero(&database, pages: count); return "\(count) pages of the database zeroed"
        case 7: zero(&log, pages: count); return "\(count) pages of the log zeroed"
        case 8: log = sample.earlierLog; return "log from an earlier time"
        case 9: log = []; return "log gone"
        case 10: log = randomBytes(log.count); return "noise instead of the log"
        case 11: database = [UInt8](repeating: 0, count: database.count); return "database zeroed"
        case 12: database = randomBytes(5000); return "noise instead of the database"
        default:
            database = Array(log[1024...])
            log = []
            return "a piece of the log instead of the database"
        }
    }
}

/// The offsets of rows in the two files, found once by their first bytes.
private struct RowOffsets {
    private var found: [Int64: [(isLog: Bool, offset: Int)]] = [:]

    init(_ cells: [Int64: [UInt8]], database: [UInt8], log: [UInt8]) {
        for (isLog, bytes) in [(false, database), (true, log)] {
            var offsets: [UInt32: [Int]] = [:]
            for offset in 0..<max(0, bytes.count - 4) {
                offsets[Self.key(in: bytes, at: offset), default: []].append(offset)
            }
            for (sequence, cell) in cells {
                for offset in offsets[Self.key(in: cell, at: 0)] ?? [] where Self.contains(cell, in: bytes, at: offset)
                {
                    found[sequence, default: []].append((isLog, offset))
                }
            }
        }
    }

    func isSound(_ sequence: Int64, cell: [UInt8], database: [UInt8], log: [UInt8]) -> Bool {
        (found[sequence] ?? []).contains { Self.contains(cell, in: $0.isLog ? log : database, at: $0.offset) }
    }

    private static func key(in bytes: [UInt8], at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func contains(_ cell: [UInt8], in bytes: [UInt8], at offset: Int) -> Bool {
        offset + cell.count <= bytes.count && bytes[offset..<offset + cell.count] == cell[...]
    }
}
