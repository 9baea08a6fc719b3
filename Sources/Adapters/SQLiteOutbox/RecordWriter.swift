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
