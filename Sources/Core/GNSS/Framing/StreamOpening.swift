/// The first three bytes of a stream, which show whether it is UTF-16 text.
struct StreamOpening: Sendable {
    private var bytes: UInt32 = 0
    private static let length = 3

    /// Adds the bytes of `chunk` that belong to the opening. `offset` is the number of bytes that precede `chunk` in
    /// the stream. Returns whether the opening is now complete.
    mutating func add(_ chunk: UnsafeBufferPointer<UInt8>, atOffset offset: Int) -> Bool {
        guard offset < Self.length else { return false }
        for index in offset..<min(Self.length, offset + chunk.count) {
            unsafe bytes |= UInt32(chunk[index - offset]) << UInt32(index * 8)
        }
        return offset + chunk.count >= Self.length
    }

    /// Whether the stream begins with a UTF-16 byte order mark, or with a `$` encoded in two bytes.
    var isUTF16: Bool {
        let first = bytes & 0xFFFF
        return first == 0xFEFF || first == 0xFFFE || first == UInt32(UInt8(ascii: "$")) && bytes >> 16 != 0
    }
}
