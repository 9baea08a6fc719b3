/// Questions asked of eight bytes at once; byte 0 is the lowest.
///
/// Where a function marks bytes, the lowest mark is exact; marks above it may be spurious.
enum WordScan {
    @inline(__always)
    static func repeated(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }

    static let high: UInt64 = 0x8080_8080_8080_8080

    /// Marks the bytes that equal `byte`.
    @inline(__always)
    static func marks(of byte: UInt8, in word: UInt64) -> UInt64 {
        let difference = word ^ repeated(byte)
        return (difference &- repeated(1)) & ~difference & high
    }

    /// Marks what ends the run of a sentence's bytes: `*`, `$`, control bytes, DEL and non-ASCII bytes.
    @inline(__always)
    static func marksOfSentenceEnd(in word: UInt64) -> UInt64 {
        let control = (word &- repeated(0x20)) & ~word
        let beyondText = ((word & ~high) &+ repeated(1)) | word
        return ((control | beyondText) & high) | marks(of: UInt8(ascii: "*"), in: word)
            | marks(of: UInt8(ascii: "$"), in: word)
    }

    /// How many bytes equal `byte`; exact.
    @inline(__always)
    static func count(of byte: UInt8, in word: UInt64) -> Int {
        let difference = word ^ repeated(byte)
        let nonZero = ((difference & ~high) &+ ~high) | difference
        return (~nonZero & high).nonzeroBitCount
    }

    /// XOR of the eight bytes.
    @inline(__always)
    static func foldedXOR(_ word: UInt64) -> UInt8 {
        let half = word ^ (word >> 32)
        let quarter = half ^ (half >> 16)
        return UInt8(truncatingIfNeeded: quarter ^ (quarter >> 8))
    }
}
