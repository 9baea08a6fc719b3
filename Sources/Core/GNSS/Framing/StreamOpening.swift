/// The first bytes of a stream, which show text of another encoding.
struct StreamOpening: Sendable {
    private var bytes: UInt32 = 0
    private static let length = 3

    /// Takes what is still missing of the opening from `chunk`, which follows `count` bytes; `true` when that made it
    /// complete.
    mutating func add(_ chunk: UnsafeBufferPointer<UInt8>, after count: Int) -> Bool {
        guard count < Self.length else { return false }
        for index in count..<min(Self.length, count + chunk.count) {
            unsafe bytes |= UInt32(chunk[index - count]) << UInt32(index * 8)
        }
        return count + chunk.count >= Self.length
    }

    /// Whether there is a byte order mark of UTF-16, or a `$` of two bytes.
    var isUTF16: Bool {
        let first = bytes & 0xFFFF
        return first == 0xFEFF || first == 0xFFFE || first == UInt32(UInt8(ascii: "$")) && bytes >> 16 != 0
    }
}
