/// Operations on eight bytes at once (SIMD within a register). Byte 0 is the least significant.
enum SWAR {
    /// The most significant bit of every byte. In a result, this bit is set in each byte that is marked.
    static let highBits: UInt64 = 0x8080_8080_8080_8080

    @inline(__always)
    static func repeated(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }

    /// Returns the eight bytes that begin at `place`. All of them must be readable.
    @inline(__always)
    static func word(at place: UnsafePointer<UInt8>) -> UInt64 {
        unsafe UInt64(littleEndian: UnsafeRawPointer(place).loadUnaligned(as: UInt64.self))
    }

    /// Returns marks of the bytes that equal `byte`. The lowest mark is correct, but bytes above it may be marked by
    /// mistake.
    @inline(__always)
    static func marks(of byte: UInt8, in word: UInt64) -> UInt64 {
        let difference = word ^ repeated(byte)
        return (difference &- repeated(1)) & ~difference & highBits
    }

    /// Returns marks of the bytes that equal `byte`, and of no others.
    @inline(__always)
    static func exactMarks(of byte: UInt8, in word: UInt64) -> UInt64 {
        let difference = word ^ repeated(byte)
        let nonZero = ((difference & ~highBits) &+ ~highBits) | difference
        return ~nonZero & highBits
    }

    @inline(__always)
    static func count(of byte: UInt8, in word: UInt64) -> Int {
        // Multiplying by a word with 1 in every byte adds up all bytes in the highest byte.
        Int(truncatingIfNeeded: (exactMarks(of: byte, in: word) >> 7 &* repeated(1)) >> 56)
    }

    /// Returns the XOR of the word's eight bytes.
    @inline(__always)
    static func foldedXOR(_ word: UInt64) -> UInt8 {
        let half = word ^ (word >> 32)
        let quarter = half ^ (half >> 16)
        return UInt8(truncatingIfNeeded: quarter ^ (quarter >> 8))
    }
}

/// The search for the bytes that may end a sentence.
extension SWAR {
    /// Returns marks of the bytes that end a sentence: `*`, `$`, control bytes, DEL and non-ASCII bytes. The lowest
    /// mark is correct, but bytes above it may be marked by mistake.
    @inline(__always)
    static func marksOfSentenceEnd(in word: UInt64) -> UInt64 {
        let control = (word &- repeated(0x20)) & ~word
        let beyondText = ((word & ~highBits) &+ repeated(1)) | word
        return ((control | beyondText) & highBits) | marks(of: UInt8(ascii: "*"), in: word)
            | marks(of: UInt8(ascii: "$"), in: word)
    }

    /// Returns marks of the bytes below the comma or above `~`, which are rare before a sentence's end. The lowest mark
    /// is correct, but bytes above it may be marked by mistake.
    @inline(__always)
    static func marksOfUnusualBytes(in word: UInt64) -> UInt64 {
        // The addition carries only out of bytes that are marked themselves.
        let fromComma = word &+ repeated(0x80 - UInt8(ascii: ","))
        let beyondText = (word &+ repeated(1)) | word
        return (~fromComma | beyondText) & highBits
    }
}
