import Reporting
import TimeAndChance

/// A row of the outbox: one value per column, and a checksum over all values and the sequence.
///
/// The checksum makes a row recognisable anywhere: on a page outside the tree, in an old write-ahead log, or with a
/// wrong sequence.
struct StoredRow: Sendable {
    /// The integer columns, which follow `sequence` in the table; the note and the checksum come last.
    enum Column: Int, Sendable, CaseIterable {
        case time, latitude, longitude, altitude, speed, heading, accuracy, kind

        static let count = allCases.count

        /// The column's name, which ends with the unit of its integers.
        fileprivate var name: String {
            switch self {
            case .time: "time_ms"
            case .latitude, .longitude: "\(self)_e7"
            case .altitude, .accuracy: "\(self)_cm"
            case .speed: "speed_cm_s"
            case .heading, .kind: "\(self)"
            }
        }
    }

    let sequence: Int64
    /// The values of the columns; `nil` for NULL. A row has no array of values, because a repair reads a million rows.
    private var integers: [8 of Int64?]
    /// The counters of the ledger, or the reason for a quarantine; `nil` for a pending update.
    var note: [UInt8]? { didSet { readChecksum = nil } }
    /// The checksum with which the row was read; `nil` for a new or changed row. A repair doesn't compute it again.
    private var readChecksum: Int64?

    /// The names of all columns, for a SELECT that `init(_:)` reads.
    static let columns = (["sequence"] + Column.allCases.map(\.name) + ["note", "checksum"]).joined(separator: ", ")

    /// The column definitions of a table of rows, for CREATE TABLE.
    static let definition =
        (["sequence INTEGER PRIMARY KEY"] + Column.allCases.map { "\($0.name) INTEGER" }
        + ["note TEXT", "checksum INTEGER"]).joined(separator: ", ")

    /// The number of columns.
    static let columnCount = Column.count + 3

    /// The parameters of an INSERT that `SQLiteStatement.run(_:)` binds.
    static let parameters = (1...columnCount).map { "?\($0)" }.joined(separator: ", ")

    init(_ sequence: Int64) {
        self.sequence = sequence
        integers = [8 of Int64?](repeating: nil)
    }

    /// Reads the current row of `statement`. Returns `nil` if the row is damaged.
    init?(_ statement: borrowing SQLiteStatement) {
        self.init(statement.integer(0)) { statement.value(Int32($0)) }
    }

    /// Creates a row from the values in the columns after the sequence number. `value` is called with 1, 2, 3 and so
    /// on. Returns `nil` if the row is damaged.
    init?(_ sequence: Int64, _ value: (Int) -> StoredValue?) {
        self.init(sequence)
        for index in 0..<Column.count {
            switch value(index + 1) {
            case .integer(let integer): integers[index] = integer
            case .null: break
            default: return nil
            }
        }
        switch value(Column.count + 1) {
        case .text(let bytes): note = bytes
        case .null: break
        default: return nil
        }
        let expected = checksum
        guard case .integer(expected) = value(Column.count + 2) else { return nil }
        readChecksum = expected
    }

    subscript(column: Column) -> Int64? {
        get { integers[column.rawValue] }
        set {
            integers[column.rawValue] = newValue
            readChecksum = nil
        }
    }

    /// Binds the values to `parameters`.
    func bind(to statement: borrowing SQLiteStatement) throws(OutboxError) {
        try statement.bind(sequence, at: 1)
        for index in 0..<Column.count {
            let value: StoredValue = integers[index].map { .integer($0) } ?? .null
            try statement.bind(value, at: Int32(index + 2))
        }
        let text: StoredValue = note.map { .text($0) } ?? .null
        try statement.bind(text, at: Int32(Column.count + 2))
        try statement.bind(readChecksum ?? checksum, at: Int32(Column.count + 3))
    }

    /// Whether the row holds a quarantined update: only such rows and the ledger have a note.
    var isQuarantined: Bool { sequence != LedgerRecord.sequence && note != nil }

    /// The checksum of the sequence and of each value, with its type.
    var checksum: Int64 {
        var checksum = CRC32()
        checksum.update(sequence)
        for index in 0..<Column.count {
            guard let integer = integers[index] else {
                checksum.update(0 as UInt8)
                continue
            }
            checksum.update(1 as UInt8)
            checksum.update(integer)
        }
        if let note {
            checksum.update(2 as UInt8)
            checksum.update(Int64(note.count))
            for byte in note { checksum.update(byte) }
        } else {
            checksum.update(0 as UInt8)
        }
        return Int64(Int32(bitPattern: checksum.value))
    }

    /// The range of accepted update counts and sequence numbers: sums don't overflow, whatever a file contains.
    static let plausibleCounts = 0...OutboxCounters.Limit.record
    /// The range of accepted sequence numbers of updates; 0 is the ledger's.
    static let plausibleSequences = 1...OutboxCounters.Limit.record
    /// The range of accepted times in milliseconds since 1970: the difference of any two doesn't overflow.
    static let plausibleTimes: ClosedRange<Int64> = -(1 << 60)...1 << 60
}

/// An SQLite value, except for floating-point numbers and blobs, which no column has.
enum StoredValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case text([UInt8])

    var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    var text: [UInt8]? { if case .text(let bytes) = self { bytes } else { nil } }
}

/// The checksum of Ethernet and zip (reflected polynomial 0xEDB88320).
struct CRC32 {
    private var register: UInt32 = 0xffff_ffff
    /// `lookup`, so that not every byte checks whether it has been computed.
    private let tables = Self.lookup

    var value: UInt32 { ~register }

    mutating func update(_ byte: UInt8) {
        register = tables[Int(UInt8(truncatingIfNeeded: register) ^ byte)] ^ (register >> 8)
    }

    /// Adds the eight bytes of `number`, least significant first, in one step ("slicing by 8").
    mutating func update(_ number: Int64) {
        let bytes = UInt64(bitPattern: number) ^ UInt64(register)
        register = 0
        for index in 0..<8 {
            let byte = Int(UInt8(truncatingIfNeeded: bytes >> (8 * UInt64(index))))
            register ^= tables[(7 - index) * 256 + byte]
        }
    }

    /// Eight tables of 256: entry `b` of table `n` is the checksum of the byte `b` followed by `n` zeros.
    private static let lookup: [UInt32] = {
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
