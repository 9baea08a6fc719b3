/// Eight characters in a word, with the first character in the lowest bits. Characters that have been removed are
/// zeros.
struct PackedDigits {
    /// The characters, each XORed with the character `0`. So the byte of a digit is the digit's value.
    private var bytes: UInt64

    @inline(__always)
    private init(bytes: UInt64) { self.bytes = bytes }

    @inline(__always)
    init(_ text: UInt64) { bytes = text ^ SWAR.repeated(UInt8(ascii: "0")) }

    /// Returns the first `count` characters (1...8), moved to the highest bytes.
    @inline(__always)
    func first(_ count: Int) -> Self { Self(bytes: bytes &<< UInt64(truncatingIfNeeded: 64 &- count &* 8)) }

    /// Returns the last `count` characters (1...8).
    @inline(__always)
    func last(_ count: Int) -> Self {
        Self(bytes: bytes & .max &<< UInt64(truncatingIfNeeded: 64 &- count &* 8))
    }

    /// The lowest bit of the byte with the first decimal point; 0 if there is no point.
    @inline(__always)
    var firstPointBit: UInt64 {
        let marks = SWAR.marks(of: UInt8(ascii: ".") ^ UInt8(ascii: "0"), in: bytes)
        return (marks & (0 &- marks)) >> 7
    }

    /// Returns the characters without the one at `bit`, which is a value of `firstPointBit`. The characters before it
    /// move up by one byte.
    @inline(__always)
    func removingCharacter(at bit: UInt64) -> Self {
        let before = bit &- 1
        return Self(bytes: (bytes & before) << 8 | bytes & ~(before << 8 | 0xFF))
    }

    @inline(__always)
    var hasOnlyDigits: Bool {
        // The addition carries only out of bytes that aren't digits.
        ((bytes &+ SWAR.repeated(0x80 - 10)) | bytes) & SWAR.highBits == 0
    }

    /// The number that the eight digits form.
    @inline(__always)
    var number: UInt32 {
        // Digits are combined into pairs, pairs into groups of four, and the two groups into the number.
        let pairs = bytes &* 10 &+ (bytes >> 8)
        let even = (pairs & 0x0000_00FF_0000_00FF) &* (100 + 1_000_000 << 32)
        let odd = (pairs >> 16 & 0x0000_00FF_0000_00FF) &* (1 + 10_000 << 32)
        return UInt32(truncatingIfNeeded: (even &+ odd) >> 32)
    }
}
