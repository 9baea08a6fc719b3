/// Counts whole NMEA 0183 sentences with a right checksum in a stream of bytes, however it is cut.
///
/// It tells a receiver from noise, and nothing else: what a sentence says is the decoder's affair.
struct SentenceCounter: Sendable {
    private enum Place: Sendable {
        case outside, payload
        case checksum(high: UInt8?)
    }

    private var place = Place.outside
    private var computed: UInt8 = 0

    /// How many sentences end within `bytes`.
    mutating func count(in bytes: Span<UInt8>) -> Int {
        var sentences = 0
        for index in bytes.indices where take(bytes[index]) { sentences += 1 }
        return sentences
    }

    /// Whether `byte` completes a sentence.
    private mutating func take(_ byte: UInt8) -> Bool {
        if byte == UInt8(ascii: "$") || byte == UInt8(ascii: "!") {
            (place, computed) = (.payload, 0)
            return false
        }
        switch place {
        case .outside:
            return false
        case .payload where byte == UInt8(ascii: "*"):
            place = .checksum(high: nil)
        case .payload where (0x20...0x7E).contains(byte):
            computed ^= byte
        case .payload:
            place = .outside
        case .checksum(let high):
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init) else {
                place = .outside
                return false
            }
            guard let high else {
                place = .checksum(high: digit)
                return false
            }
            place = .outside
            return high << 4 | digit == computed
        }
        return false
    }
}
