/// Where one sentence lies, or why there is none: framing and checksum of NMEA 0183.
///
/// A sentence is complete at its second checksum digit; nothing waits for the line's end.
@safe struct SentenceFrame {
    enum Outcome {
        /// Address and fields lie behind the start byte and before `end`.
        case sentence
        /// No sentence; scanning continues at `next`.
        case refused(SentenceRefusal)
        /// A start byte without an address: one of several in a row, or in noise. Nothing was to be had from it.
        case startAlone
        /// More bytes are needed to decide.
        case incomplete
    }

    /// Start byte to second checksum digit; receivers exceed the standard's 82 up to 205.
    static let maximumLength = 255

    let outcome: Outcome
    /// Index of `*`, or of the line end of a sentence without checksum.
    let end: Int
    /// Index of the first byte that does not belong to it.
    let next: Int

    private init(_ outcome: Outcome, end: Int, next: Int) {
        (self.outcome, self.end, self.next) = (outcome, end, next)
    }

    /// Frames what begins with `$` or `!` at `start`.
    ///
    /// - Parameters:
    ///   - bytes: the buffer.
    ///   - start: index of the start byte.
    ///   - acceptsMissingChecksum: whether a line end in place of `*` completes the sentence.
    @inline(__always)
    init(in bytes: UnsafeBufferPointer<UInt8>, startingAt start: Int, acceptsMissingChecksum: Bool) {
        let limit = min(bytes.count, start + Self.maximumLength - 2)
        var index = start + 1
        var sum: UInt64 = 0
        var stop: UInt64 = 0
        let raw = UnsafeRawBufferPointer(bytes)
        while index + 8 <= limit {
            let word = unsafe UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            stop = WordScan.marksOfSentenceEnd(in: word)
            if stop != 0 {
                let place = stop.trailingZeroBitCount & ~7
                sum ^= word & ((1 << UInt64(place)) &- 1)
                index += place / 8
                break
            }
            sum ^= word
            index += 8
        }
        if stop == 0 {
            while index < limit, unsafe !Self.ends(bytes[index]) {
                unsafe sum ^= UInt64(bytes[index])
                index += 1
            }
            if index == limit {
                self =
                    limit < bytes.count
                    ? Self(.refused(.tooLong), end: index, next: index) : Self(.incomplete, end: index, next: start)
                return
            }
        }
        unsafe self.init(in: bytes, start: start, end: index, sum: WordScan.foldedXOR(sum), acceptsMissingChecksum)
    }

    /// Judges a sentence whose run of bytes has ended at `end`.
    @inline(__always)
    private init(
        in bytes: UnsafeBufferPointer<UInt8>, start: Int, end: Int, sum: UInt8, _ acceptsMissingChecksum: Bool
    ) {
        switch unsafe bytes[end] {
        case UInt8(ascii: "*"):
            guard end + 2 < bytes.count else {
                // One digit may be enough to see that there will not be two.
                let cannotBecomeValid = unsafe end + 1 < bytes.count && Self.hexDigit(bytes[end + 1]) > 15
                self =
                    cannotBecomeValid
                    ? Self(.refused(.malformedChecksum), end: end, next: end + 1)
                    : Self(.incomplete, end: end, next: start)
                return
            }
            let (high, low) = unsafe (Self.hexDigit(bytes[end + 1]), Self.hexDigit(bytes[end + 2]))
            if high | low > 15 {
                self.init(.refused(.malformedChecksum), end: end, next: end + 1)
            } else if high << 4 | low != sum {
                self.init(.refused(.checksumMismatch), end: end, next: end + 3)
            } else {
                self.init(.sentence, end: end, next: end + 3)
            }
        case UInt8(ascii: "\r"), UInt8(ascii: "\n"):
            self.init(
                acceptsMissingChecksum ? .sentence : .refused(.missingChecksum), end: end, next: end)
        default:
            self.init(end == start + 1 ? .startAlone : .refused(.interrupted), end: end, next: end)
        }
    }

    @inline(__always)
    private static func ends(_ byte: UInt8) -> Bool {
        byte &- 0x20 > 0x7E - 0x20 || byte == UInt8(ascii: "*") || byte == UInt8(ascii: "$")
    }

    /// The digit's value in either case; 255 for any other byte.
    @inline(__always)
    private static func hexDigit(_ byte: UInt8) -> UInt8 {
        let decimal = byte &- UInt8(ascii: "0")
        if decimal < 10 { return decimal }
        let letter = (byte | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : 255
    }
}

/// Why bytes that began like a sentence are not used.
package enum SentenceRefusal: Int, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// Stated and computed checksum differ.
    case checksumMismatch
    /// The sentence ends with its line, without `*`.
    case missingChecksum
    /// What follows `*` is not two hexadecimal digits.
    case malformedChecksum
    /// A control or non-ASCII byte, or the start of another sentence, before the end.
    case interrupted
    /// More than `SentenceFrame.maximumLength` bytes without an end.
    case tooLong
    /// A field is not what its sentence type has in that place.
    case malformedField
    /// A field is a number that no receiver on earth can state there.
    case outOfRange

    package var description: String {
        switch self {
        case .checksumMismatch: "checksum does not agree"
        case .missingChecksum: "no checksum"
        case .malformedChecksum: "checksum is not two hexadecimal digits"
        case .interrupted: "interrupted before its end"
        case .tooLong: "longer than \(SentenceFrame.maximumLength) bytes"
        case .malformedField: "a field is malformed"
        case .outOfRange: "a field is out of range"
        }
    }
}

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
