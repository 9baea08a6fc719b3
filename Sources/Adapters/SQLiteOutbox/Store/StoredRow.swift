import Reporting
import TimeAndChance

/// A row of the outbox: one value per column, and a checksum over all of them and the sequence, so that a row proves
/// itself wherever it is found: on a page without a tree, in an old write-ahead log, under a wrong sequence.
struct StoredRow: Sendable, Hashable {
    /// The columns between `sequence` and `checksum`, in the order of the table.
    enum Column: Int, Sendable, CaseIterable {
        case time, latitude, longitude, altitude, speed, heading, accuracy, kind, note

        static let count = allCases.count

        /// The column's name, which ends with the unit of its integers.
        fileprivate var name: String {
            switch self {
            case .time: "time_ms"
            case .latitude, .longitude: "\(self)_e7"
            case .altitude, .accuracy: "\(self)_cm"
            case .speed: "speed_cm_s"
            case .heading, .kind, .note: "\(self)"
            }
        }

        fileprivate var definition: String { "\(name) \(self == .note ? "TEXT" : "INTEGER")" }
    }

    let sequence: Int64
    private var values: [StoredValue]

    /// The names of all columns, for a SELECT that `init(_:)` reads.
    static let columns = (["sequence"] + Column.allCases.map(\.name) + ["checksum"]).joined(separator: ", ")

    /// The columns of a table of rows, as CREATE TABLE has them.
    static let definition =
        (["sequence INTEGER PRIMARY KEY"] + Column.allCases.map(\.definition) + ["checksum INTEGER"])
        .joined(separator: ", ")

    /// The parameters of an INSERT that `SQLiteStatement.run(_:)` binds.
    static let parameters = (1...Column.count + 2).map { "?\($0)" }.joined(separator: ", ")

    init(_ sequence: Int64) {
        self.sequence = sequence
        values = [StoredValue](repeating: .null, count: Column.count)
    }

    /// Reads the row that `statement` is at. Returns `nil` if it isn't what was written.
    init?(_ statement: borrowing SQLiteStatement) {
        let checksumColumn = Int32(Column.count + 1)
        var values: [StoredValue] = []
        values.reserveCapacity(Column.count)
        for column in 1..<checksumColumn {
            guard let value = statement.value(column) else { return nil }
            values.append(value)
        }
        self.init(statement.integer(0), values, checksum: statement.value(checksumColumn))
    }

    /// Makes a row of the values that follow the sequence, the checksum last. Returns `nil` if the checksum is wrong.
    init?(_ sequence: Int64, _ found: [StoredValue]) {
        guard found.count == Column.count + 1 else { return nil }
        self.init(sequence, Array(found.dropLast()), checksum: found.last)
    }

    private init?(_ sequence: Int64, _ values: [StoredValue], checksum stated: StoredValue?) {
        self.sequence = sequence
        self.values = values
        guard checksum == stated else { return nil }
    }

    subscript(column: Column) -> StoredValue {
        get { values[column.rawValue] }
        set { values[column.rawValue] = newValue }
    }

    /// The values to bind to `parameters`.
    var parameters: [StoredValue] {
        var all: [StoredValue] = []
        all.reserveCapacity(Column.count + 2)
        all.append(.integer(sequence))
        all += values
        all.append(checksum)
        return all
    }

    /// Whether the row is one of a quarantined update: only these and the ledger have a note.
    var isQuarantined: Bool { sequence != LedgerRecord.sequence && self[.note] != .null }

    private var checksum: StoredValue {
        var checksum = CRC32()
        checksum.update(sequence)
        for value in values { value.add(to: &checksum) }
        return .integer(Int64(Int32(bitPattern: checksum.value)))
    }

    /// A number of updates or the sequence of one: sums of these don't overflow, whatever a file says.
    static let plausibleCounts = 0...OutboxCounters.Limit.record
    /// The sequences of updates; 0 is the ledger's.
    static let plausibleSequences = 1...OutboxCounters.Limit.record
    /// Milliseconds since 1970: the distance between any two of them doesn't overflow.
    static let plausibleTimes: ClosedRange<Int64> = -(1 << 60)...1 << 60
}

/// A value of SQLite's, except for floating-point numbers and blobs, which no column has.
enum StoredValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case text([UInt8])

    /// The number of units in `value`, rounded; NULL if `value` is `nil` or has too many.
    static func count(in value: Double?, unitsPerOne: Double) -> Self {
        value.flatMap { Int64(exactly: ($0 * unitsPerOne).rounded()) }.map { .integer($0) } ?? .null
    }

    var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    var text: [UInt8]? { if case .text(let bytes) = self { bytes } else { nil } }

    fileprivate func add(to checksum: inout CRC32) {
        switch self {
        case .null: checksum.update(0 as UInt8)
        case .integer(let value):
            checksum.update(1 as UInt8)
            checksum.update(value)
        case .text(let bytes):
            checksum.update(2 as UInt8)
            checksum.update(Int64(bytes.count))
            for byte in bytes { checksum.update(byte) }
        }
    }
}

/// The checksum of Ethernet and zip (reflected polynomial 0xEDB88320).
struct CRC32 {
    private var register: UInt32 = 0xffff_ffff

    var value: UInt32 { ~register }

    mutating func update(_ byte: UInt8) {
        register = Self.tables[Int(UInt8(truncatingIfNeeded: register) ^ byte)] ^ (register >> 8)
    }

    /// Adds the eight bytes of `number`, the lowest first, in one step ("slicing by 8").
    mutating func update(_ number: Int64) {
        let bytes = UInt64(bitPattern: number) ^ UInt64(register)
        register = 0
        for index in 0..<8 {
            let byte = Int(UInt8(truncatingIfNeeded: bytes >> (8 * UInt64(index))))
            register ^= Self.tables[(7 - index) * 256 + byte]
        }
    }

    /// Eight tables of 256: entry `b` of table `n` is the checksum of the byte `b` followed by `n` zeros.
    private static let tables: [UInt32] = {
        var tables: [UInt32] = (0..<256).map { (index: UInt32) -> UInt32 in
            (0..<8).reduce(index) { (value: UInt32, _: Int) -> UInt32 in
                value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1
            }
        }
        for index in 256..<8 * 256 {
            let shorter = tables[index - 256]
            tables.append(tables[Int(UInt8(truncatingIfNeeded: shorter))] ^ (shorter >> 8))
        }
        return tables
    }()
}
