/// Eight characters looked at together, the first one lowest; the places of those taken away hold zeros.
struct DigitWord {
    /// The characters less `0`: a digit is its value.
    private var bytes: UInt64

    @inline(__always)
    private init(bytes: UInt64) { self.bytes = bytes }

    /// Of eight bytes of text.
    @inline(__always)
    init(_ text: UInt64) { bytes = text ^ WordScan.repeated(UInt8(ascii: "0")) }

    /// The first `count` characters, 1...8, moved to the end.
    @inline(__always)
    func first(_ count: Int) -> Self { Self(bytes: bytes &<< UInt64(truncatingIfNeeded: 64 &- count &* 8)) }

    /// The last `count` characters, 1...8.
    @inline(__always)
    func last(_ count: Int) -> Self {
        Self(bytes: bytes & .max &<< UInt64(truncatingIfNeeded: 64 &- count &* 8))
    }

    /// A point's place: the lowest bit of its byte; 0 when there is none.
    @inline(__always)
    var firstPoint: UInt64 {
        let marks = WordScan.marks(of: UInt8(ascii: ".") ^ UInt8(ascii: "0"), in: bytes)
        return (marks & (0 &- marks)) >> 7
    }

    /// Without the character at `place`: those before it move up.
    @inline(__always)
    func without(_ place: UInt64) -> Self {
        let before = place &- 1
        return Self(bytes: (bytes & before) << 8 | bytes & ~(before << 8 | 0xFF))
    }

    @inline(__always)
    var hasOnlyDigits: Bool {
        // A sum carries only out of a byte that is none.
        ((bytes &+ WordScan.repeated(0x80 - 10)) | bytes) & WordScan.high == 0
    }

    /// The number that eight digits make.
    @inline(__always)
    var number: UInt32 {
        // Neighbours join: digits to pairs, pairs to fours, fours to the number.
        let pairs = bytes &* 10 &+ (bytes >> 8)
        let even = (pairs & 0x0000_00FF_0000_00FF) &* (100 + 1_000_000 << 32)
        let odd = (pairs >> 16 & 0x0000_00FF_0000_00FF) &* (1 + 10_000 << 32)
        return UInt32(truncatingIfNeeded: (even &+ odd) >> 32)
    }
}
