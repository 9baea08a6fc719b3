import GNSS

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

    /// A number of updates, or of one: whatever else the bytes say, sums of these do not overflow.
    mutating func count() -> Int64? { signed().flatMap { Self.plausibleCounts.contains($0) ? $0 : nil } }

    /// A time; the distance of any two of them can be told.
    mutating func time() -> UTCTime? {
        signed().flatMap { Self.plausibleTimes.contains($0) ? UTCTime(millisecondsSince1970: $0) : nil }
    }

    private static let plausibleCounts = -OutboxAccount.Limit.record...OutboxAccount.Limit.record
    /// Of rows.
    static let plausibleSequences = 1...OutboxAccount.Limit.record
    private static let plausibleTimes: ClosedRange<Int64> = -(1 << 60)...1 << 60

    mutating func double() -> Double? {
        guard bytes.endIndex - position >= 8 else { return nil }
        var pattern: UInt64 = 0
        for offset in 0..<8 { pattern |= UInt64(bytes[position + offset]) << UInt64(8 * offset) }
        position += 8
        return Double(bitPattern: pattern)
    }
}
