import Reporting
import TimeAndRandomness

/// A row of one of the outbox's tables. It contains a value per column, and a checksum of the sequence number and all
/// values. The checksum makes a row recognisable on a page that no longer belongs to a table, and in an old write-ahead
/// log. It also reveals a wrong sequence number.
struct StoredRow: Sendable {
    /// The columns of integers. They follow `sequence` in the table, and are followed by the note and the checksum.
    enum Column: Int, Sendable, CaseIterable {
        case time, latitude, longitude, altitude, speed, heading, accuracy, kind

        static let count = allCases.count

        /// The name of the column in the table. It ends with the unit of the column's integers, if they have one.
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
    /// The values of the integer columns; `nil` for NULL. They are stored inline and not in an array, because a repair
    /// reads up to a million rows.
    private var integers: [8 of Int64?]
    /// The counters in the ledger's row, or the reason in the row of a quarantined update; `nil` for a pending update.
    var note: [UInt8]? { didSet { readChecksum = nil } }
    /// The checksum that was read with the row, so that a repair need not compute it again. It is `nil` for a new or
    /// changed row.
    private var readChecksum: Int64?

    /// The names of all columns, for a SELECT whose rows `init(_:)` reads.
    static let columns = (["sequence"] + Column.allCases.map(\.name) + ["note", "checksum"]).joined(separator: ", ")

    /// The definitions of all columns, for the CREATE TABLE of a table of updates.
    static let definition =
        (["sequence INTEGER PRIMARY KEY"] + Column.allCases.map { "\($0.name) INTEGER" }
        + ["note TEXT", "checksum INTEGER"]).joined(separator: ", ")

    /// The number of columns, including the sequence number, the note and the checksum.
    static let columnCount = Column.count + 3

    /// The parameters of an INSERT, to which `SQLiteStatement.run(_:)` binds a row.
    static let parameters = (1...columnCount).map { "?\($0)" }.joined(separator: ", ")

    init(_ sequence: Int64) {
        self.sequence = sequence
        integers = [8 of Int64?](repeating: nil)
    }

    /// Reads the current row of `statement`. Returns `nil` if the checksum or the type of a value is wrong.
    init?(_ statement: borrowing SQLiteStatement) {
        self.init(statement.integer(0)) { statement.value(Int32($0)) }
    }

    /// Creates a row from `sequence` and the values of the other columns. `value` returns the value of a column, and is
    /// called with 1, 2, 3 and so on. Returns `nil` if the checksum or the type of a value is wrong.
    init?(_ sequence: Int64, valueOfColumn value: (Int) -> StoredValue?) {
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

    /// Binds the sequence number and all values to the `parameters` of `statement`.
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

    /// Whether the row belongs to a quarantined update. Apart from the ledger, only such rows contain a note.
    var isQuarantined: Bool { sequence != LedgerRecord.sequence && note != nil }

    /// The checksum of the sequence number, and of the type and content of each value.
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

    /// The range of plausible sequence numbers and numbers of updates. Within it, sums can't overflow, even if a
    /// damaged file contains arbitrary numbers.
    static let plausibleCounts = 0...OutboxCounters.Limit.record
    /// The range of plausible sequence numbers of updates. It doesn't contain 0, the ledger's number.
    static let plausibleSequences = 1...OutboxCounters.Limit.record
    /// The range of plausible times in milliseconds since 1970. Within it, the difference of two times can't overflow.
    static let plausibleTimes: ClosedRange<Int64> = -(1 << 60)...1 << 60
}

/// A value of a column. There is no case for floating-point numbers and blobs, because no column of a store contains
/// them.
enum StoredValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case text([UInt8])

    var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    var text: [UInt8]? { if case .text(let bytes) = self { bytes } else { nil } }
}

/// The CRC-32 checksum that Ethernet and zip use (reflected polynomial 0xEDB88320).
struct CRC32 {
    private var register: UInt32 = 0xffff_ffff
    /// A copy of `lookup`. Each access to the static property would check whether it has been computed yet.
    private let tables = Self.lookup

    var value: UInt32 { ~register }

    mutating func update(_ byte: UInt8) {
        register = tables[Int(UInt8(truncatingIfNeeded: register) ^ byte)] ^ (register >> 8)
    }

    /// Adds the eight bytes of `number` in one step ("slicing by 8"). The least significant byte comes first.
    mutating func update(_ number: Int64) {
        let bytes = UInt64(bitPattern: number) ^ UInt64(register)
        register = 0
        for index in 0..<8 {
            let byte = Int(UInt8(truncatingIfNeeded: bytes >> (8 * UInt64(index))))
            register ^= tables[(7 - index) * 256 + byte]
        }
    }

    /// Eight tables of 256 entries each. Entry `b` of table `n` is the checksum of the byte `b` followed by `n` zero
    /// bytes.
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
