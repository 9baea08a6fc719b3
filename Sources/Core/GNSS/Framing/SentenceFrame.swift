/// Where one sentence lies, or why there is none: framing and checksum of NMEA 0183.
///
/// A sentence is complete at its second checksum digit; nothing waits for the line's end.
@safe struct SentenceFrame {
    enum Outcome {
        /// Address and fields lie behind the start byte and before `end`.
        case sentence
        /// No sentence; scanning continues at `next`.
        case refused(SentenceRefusal)
        /// A start byte without an address, as in text or noise.
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
}

extension SentenceFrame {
    /// Frames what begins with `$` or `!` at `start`.
    ///
    /// - Parameters:
    ///   - bytes: the buffer.
    ///   - start: index of the start byte.
    ///   - acceptsMissingChecksum: whether a line end in place of `*` completes the sentence.
    @inline(__always)
    init(in bytes: UnsafeBufferPointer<UInt8>, startingAt start: Int, acceptsMissingChecksum: Bool) {
        guard let base = bytes.baseAddress else {
            self.init(outcome: .incomplete, end: start, next: start)
            return
        }
        let limit = min(bytes.count, start + Self.maximumLength - 2)
        var index = start + 1
        var sum: UInt64 = 0
        var stop: UInt64 = 0
        while index &+ 16 <= limit {
            let word = unsafe WordScan.word(at: base + index)
            let next = unsafe WordScan.word(at: base + index + 8)
            guard WordScan.marksOfUnusual(in: word) | WordScan.marksOfUnusual(in: next) == 0 else { break }
            sum ^= word ^ next
            index &+= 16
        }
        while index &+ 8 <= limit {
            let word = unsafe WordScan.word(at: base + index)
            stop = WordScan.marksOfUnusual(in: word)
            // Nearly always it is the `*`; what else is unusual may be text, as a space.
            if stop != 0, unsafe bytes[index &+ stop.trailingZeroBitCount / 8] != UInt8(ascii: "*") {
                stop = WordScan.marksOfSentenceEnd(in: word)
            }
            if stop != 0 {
                let place = stop.trailingZeroBitCount & ~7
                sum ^= word & ((1 &<< UInt64(place)) &- 1)
                index &+= place / 8
                break
            }
            sum ^= word
            index &+= 8
        }
        if stop == 0 {
            while index < limit, unsafe !Self.ends(bytes[index]) {
                unsafe sum ^= UInt64(bytes[index])
                index += 1
            }
            if index == limit {
                self =
                    limit < bytes.count
                    ? Self(outcome: .refused(.tooLong), end: index, next: index)
                    : Self(outcome: .incomplete, end: index, next: start)
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
        if end &+ 2 < bytes.count, unsafe bytes[end] == UInt8(ascii: "*"),
            unsafe Self.states(sum, in: bytes, at: end &+ 1)
        {
            self.init(outcome: .sentence, end: end, next: end &+ 3)
        } else {
            unsafe self.init(closelyIn: bytes, start: start, end: end, sum: sum, acceptsMissingChecksum)
        }
    }

    /// Judges a run of bytes behind which the checksum does not stand as receivers write it.
    @inline(never)
    private init(
        closelyIn bytes: UnsafeBufferPointer<UInt8>, start: Int, end: Int, sum: UInt8, _ acceptsMissingChecksum: Bool
    ) {
        guard unsafe Self.isAddress(bytes, from: start + 1, to: end) else {
            self.init(outcome: .startAlone, end: end, next: end)
            return
        }
        switch unsafe bytes[end] {
        case UInt8(ascii: "*"):
            guard end + 2 < bytes.count else {
                // One digit may be enough to see that there will not be two.
                let cannotBecomeValid = unsafe end + 1 < bytes.count && Self.hexDigit(bytes[end + 1]) > 15
                self =
                    cannotBecomeValid
                    ? Self(outcome: .refused(.malformedChecksum), end: end, next: end + 1)
                    : Self(outcome: .incomplete, end: end, next: start)
                return
            }
            let high = unsafe Self.hexDigit(bytes[end + 1])
            let low = unsafe Self.hexDigit(bytes[end + 2])
            if high | low > 15 {
                self.init(outcome: .refused(.malformedChecksum), end: end, next: end + 1)
            } else if high << 4 | low != sum {
                self.init(outcome: .refused(.checksumMismatch), end: end, next: end + 3)
            } else {
                self.init(outcome: .sentence, end: end, next: end + 3)
            }
        case UInt8(ascii: "\r"), UInt8(ascii: "\n"):
            self.init(
                outcome: acceptsMissingChecksum ? .sentence : .refused(.missingChecksum), end: end, next: end)
        default:
            self.init(outcome: .refused(.interrupted), end: end, next: end)
        }
    }

    /// Whether the bytes after a start byte begin like an address; in text such as `READY!` or `5$ more` they don't.
    private static func isAddress(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Bool {
        guard end - start >= 2 else { return false }
        return unsafe isCapital(bytes[start]) && isCapital(bytes[start + 1])
    }

    private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

    /// Whether `sum` stands at `place` as receivers write it, with letters in capitals. Its two digits are made and
    /// compared together: whether a digit is a letter is nothing that a branch could foresee.
    @inline(__always)
    private static func states(_ sum: UInt8, in bytes: UnsafeBufferPointer<UInt8>, at place: Int) -> Bool {
        let digits = UInt16(sum >> 4) | UInt16(sum & 15) << 8
        // Where a digit is above 9, six more than it is above 15.
        let letters = (digits &+ 0x0606) >> 4 & 0x0101
        let text = digits &+ 0x3030 &+ letters &* UInt16(UInt8(ascii: "A") - UInt8(ascii: "9") - 1)
        return unsafe UInt16(bytes[place]) | UInt16(bytes[place &+ 1]) << 8 == text
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
