/// Cuts a stream of bytes into lines of bounded length, wherever the reads cut it.
///
/// A longer line is passed over to its end.
struct LineSplitter: Sendable {
    /// gpsd's own lines end at 10 KiB.
    private static let longestLine = 1 << 16

    private var line: [UInt8] = []
    private var isPassingOver = false

    /// Takes the next bytes and hands out every line that ends in them, without its line feed.
    mutating func take(_ bytes: Span<UInt8>, _ deliver: ([UInt8]) -> Void) {
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\n") {
                if !isPassingOver { deliver(line) }
                line.removeAll(keepingCapacity: true)
                isPassingOver = false
            } else if line.count == Self.longestLine {
                line.removeAll()
                isPassingOver = true
            } else if !isPassingOver {
                line.append(byte)
            }
        }
    }
}
