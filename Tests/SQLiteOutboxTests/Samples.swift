import Reporting
import TimeAndRandomness

@testable import SQLiteOutbox

/// Returns an update like a receiver's, `second` seconds into the day.
func sample(_ second: Int) -> LocationUpdate {
    var update = LocationUpdate(
        timeOfFix: UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: second * 1000),
        latitude: Double(481_173_000 + second * 1000) / 1e7, longitude: 11.5166667)
    update.speedMetersPerSecond = 12.34
    update.headingDegrees = second % 360
    update.altitudeMeters = second % 2 == 0 ? 545.4 : nil
    update.horizontalAccuracyMeters = 2.5
    return update
}

/// Returns an update on a zigzag route, which is a kilometre wide and can't be thinned.
func zigzag(_ second: Int) -> LocationUpdate {
    var update = sample(second)
    if second % 2 == 0 { update.longitude = 11.5301667 }
    return update
}

extension StoredRow {
    /// The values of all columns, in the order of the table.
    var values: [StoredValue] {
        let integers = Column.allCases.map { self[$0] } + [checksum]
        var values = ([sequence] + integers).map { integer -> StoredValue in integer.map { .integer($0) } ?? .null }
        values.insert(note.map { .text($0) } ?? .null, at: values.count - 1)
        return values
    }

    /// A statement that inserts or replaces the row in its table.
    var sql: String {
        let values = values.map { value in
            switch value {
            case .null: "NULL"
            case .integer(let number): "\(number)"
            case .text(let bytes):
                "CAST(x'" + bytes.map { String(String(UInt16(256) + UInt16($0), radix: 16).dropFirst()) }.joined()
                    + "' AS TEXT)"
            }
        }
        let table = isQuarantined ? StoreSchema.quarantine : StoreSchema.updates
        return "REPLACE INTO \(table) VALUES (\(values.joined(separator: ", ")))"
    }

    /// The row's bytes in a page: payload size, sequence, header and values (fileformat2.html §1.6, §2.1).
    var cell: [UInt8] {
        func varint(_ value: Int) -> [UInt8] {
            value < 0x80 ? [UInt8(value)] : varint(value >> 7).map { $0 | 0x80 } + [UInt8(value & 0x7f)]
        }
        var types: [UInt8] = [0]
        var content: [UInt8] = []
        for value in values.dropFirst() {
            let (type, bytes) = value.stored
            types += varint(type)
            content += bytes
        }
        let payload = varint(types.count + 1) + types + content
        return varint(payload.count) + varint(Int(sequence)) + payload
    }
}

extension StoredValue {
    /// The value's type and bytes in a row.
    fileprivate var stored: (type: Int, bytes: [UInt8]) {
        switch self {
        case .null: return (0, [])
        case .integer(let number): return Self.stored(number)
        case .text(let bytes): return (13 + 2 * bytes.count, bytes)
        }
    }

    private static func stored(_ number: Int64) -> (type: Int, bytes: [UInt8]) {
        if 0...1 ~= number { return (8 + Int(number), []) }
        let types = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (6, 8)]
        let (type, size) =
            types.first { $0.1 == 8 || number == (number << (64 - 8 * $0.1)) >> (64 - 8 * $0.1) } ?? (6, 8)
        return (type, bytes(number, size))
    }

    private static func bytes(_ number: Int64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * Int64($0))) }
    }
}

extension OutboxEngine {
    /// Returns all pending updates.
    func pendingUpdates() throws -> [StoredUpdate] {
        let all = try nextBatch(maximumPastLocations: 1_000_000)?.pending ?? []
        return all.sorted { $0.sequence < $1.sequence }
    }

    /// Returns the sequences of the kept rows in quarantine.
    func quarantinedSequences() throws(OutboxError) -> [Int64] {
        try perform { store throws(OutboxError) in try store.rows.quarantined().map(\.stored.sequence) }
    }

    /// Limits the store to `count` pages of 1 KiB, like a full disk, until it is opened again.
    func limitPages(to count: Int) throws { try store?.connection.execute("PRAGMA max_page_count = \(count)") }

    /// Delivers the next batch.
    func deliverBatch(maximumPastLocations: Int = 50) throws {
        if let batch = try nextBatch(maximumPastLocations: maximumPastLocations) { try acknowledge(batch) }
    }
}
