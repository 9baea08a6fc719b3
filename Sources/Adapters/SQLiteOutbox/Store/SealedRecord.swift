import TimeAndChance

/// The common form of everything stored: a kind with its version, a checksum, the payload.
///
/// The checksum is a CRC-32 over kind, row id and payload, so that a record proves itself wherever it is found: on a
/// page without a tree, in an old write-ahead log, under the wrong id.
enum SealedRecord {
    /// High digit: what it is; low digit: version of its format.
    enum Kind: UInt8, Sendable {
        case update = 0x11
        case ledger = 0x21
        case quarantined = 0x31
    }

    private static let headerCount = 5

    static func seal(_ kind: Kind, id: Int64, payload: [UInt8]) -> [UInt8] {
        let checksum = checksum(kind, id: id, payload: payload[...])
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headerCount + payload.count)
        bytes.append(kind.rawValue)
        for shift in stride(from: UInt32(0), to: 32, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: checksum >> shift))
        }
        bytes += payload
        return bytes
    }

    /// Kind and payload; `nil` when the checksum does not agree.
    static func open(_ bytes: ArraySlice<UInt8>, id: Int64) -> (kind: Kind, payload: RecordReader)? {
        guard bytes.count >= headerCount, let kind = Kind(rawValue: bytes[bytes.startIndex]) else { return nil }
        var stated: UInt32 = 0
        for offset in 0..<4 { stated |= UInt32(bytes[bytes.startIndex + 1 + offset]) << UInt32(8 * offset) }
        let payload = bytes[(bytes.startIndex + headerCount)...]
        guard checksum(kind, id: id, payload: payload) == stated else { return nil }
        return (kind, RecordReader(payload))
    }

    private static func checksum(_ kind: Kind, id: Int64, payload: ArraySlice<UInt8>) -> UInt32 {
        var checksum = CRC32()
        checksum.update(kind.rawValue)
        for shift in stride(from: Int64(0), to: 64, by: 8) {
            checksum.update(UInt8(truncatingIfNeeded: id >> shift))
        }
        checksum.update(payload)
        return checksum.value
    }
}

/// Reads what `RecordWriter` wrote; `nil` when the bytes end too early or make no sense.
struct RecordReader {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: ArraySlice<UInt8>) { (self.bytes, position) = (bytes, bytes.startIndex) }

    /// What has not been read yet.
    var rest: ArraySlice<UInt8> { bytes[position...] }

    mutating func byte() -> UInt8? {
        guard position < bytes.endIndex else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func unsigned() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            guard let next = byte() else { return nil }
            value |= UInt64(next & 0x7f) << UInt64(shift)
            if next & 0x80 == 0 { return value }
        }
        return nil
    }

    mutating func signed() -> Int64? {
        unsigned().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }

    /// All that are left.
    mutating func numbers() -> [Int64] {
        var numbers: [Int64] = []
        while let number = signed() { numbers.append(number) }
        return numbers
    }

    /// A number of updates, or of one: whatever else the bytes say, sums of these do not overflow.
    mutating func count() -> Int64? { signed().flatMap { Self.plausibleCounts.contains($0) ? $0 : nil } }

    /// A time; the distance between any two of them does not overflow.
    mutating func time() -> UTCTime? {
        signed().flatMap { Self.plausibleTimes.contains($0) ? UTCTime(millisecondsSince1970: $0) : nil }
    }

    private static let plausibleCounts = -OutboxCounters.Limit.record...OutboxCounters.Limit.record
    /// Of rows.
    static let plausibleSequences = 1...OutboxCounters.Limit.record
    private static let plausibleTimes: ClosedRange<Int64> = -(1 << 60)...1 << 60

    mutating func double() -> Double? {
        guard bytes.endIndex - position >= 8 else { return nil }
        var pattern: UInt64 = 0
        for offset in 0..<8 { pattern |= UInt64(bytes[position + offset]) << UInt64(8 * offset) }
        position += 8
        return Double(bitPattern: pattern)
    }
}

/// Builds the bytes of a record: integers in as few bytes as they need, decimals as integers where nothing is lost.
struct RecordWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(byte: UInt8) { bytes.append(byte) }

    mutating func write(bytes more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    /// Seven bits a byte, lowest first; the high bit says that more follow (LEB128).
    mutating func write(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// The sign in the lowest bit, so that small negative numbers are short too.
    mutating func write(_ value: Int64) { write(UInt64(bitPattern: (value << 1) ^ (value >> 63))) }

    mutating func write(bitsOf value: Double) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value.bitPattern >> shift))
        }
    }
}

/// The checksum of Ethernet and zip (reflected polynomial 0xEDB88320), byte by byte from a table.
struct CRC32 {
    private var register: UInt32 = 0xffff_ffff

    var value: UInt32 { ~register }

    mutating func update(_ byte: UInt8) {
        register = Self.table[Int(UInt8(truncatingIfNeeded: register) ^ byte)] ^ (register >> 8)
    }

    mutating func update(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { update(byte) }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
    }
}
