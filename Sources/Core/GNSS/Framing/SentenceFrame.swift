/// The boundaries of one NMEA 0183 sentence, and the result of checking its checksum.
///
/// A sentence is complete at its second checksum digit, even if its line hasn't ended yet.
@safe struct SentenceFrame {
    enum Outcome {
        /// A complete sentence, whose address and fields are between the start byte and `end`.
        case sentence
        case rejected(SentenceRejection)
        /// A start byte without an address, for example in text or noise.
        case loneStartByte
        /// More bytes are needed to decide whether there is a sentence.
        case incomplete
    }

    /// The maximum length in bytes from the start byte to the second checksum digit. The standard allows 82 bytes;
    /// receivers send up to 205.
    static let maximumLength = 255

    let outcome: Outcome
    /// The index of the `*`, or of the line break if the sentence has no checksum.
    let end: Int
    /// The index at which scanning continues.
    let resumeIndex: Int
}

extension SentenceFrame {
    /// Creates the frame of the sentence that may begin with the `$` or `!` at `start`. If `acceptsMissingChecksum`, a
    /// line break also completes the sentence.
    @inline(__always)
    init(in bytes: UnsafeBufferPointer<UInt8>, startingAt start: Int, acceptsMissingChecksum: Bool) {
        guard let base = bytes.baseAddress else {
            self.init(outcome: .incomplete, end: start, resumeIndex: start)
            return
        }
        let limit = min(bytes.count, start + Self.maximumLength - 2)
        var index = start + 1
        var sum: UInt64 = 0
        var stop: UInt64 = 0
        while index &+ 16 <= limit {
            let word = unsafe SWAR.word(at: base + index)
            let next = unsafe SWAR.word(at: base + index + 8)
            guard SWAR.marksOfUnusualBytes(in: word) | SWAR.marksOfUnusualBytes(in: next) == 0 else { break }
            sum ^= word ^ next
            index &+= 16
        }
        while index &+ 8 <= limit {
            let word = unsafe SWAR.word(at: base + index)
            stop = SWAR.marksOfUnusualBytes(in: word)
            // The marked byte is nearly always the `*`. Otherwise it may be part of the text, such as a space, so the
            // search is repeated for bytes that can end a sentence.
            if stop != 0, unsafe bytes[index &+ stop.trailingZeroBitCount / 8] != UInt8(ascii: "*") {
                stop = SWAR.marksOfSentenceEnd(in: word)
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
            while index < limit, unsafe !Self.isSentenceEnd(bytes[index]) {
                unsafe sum ^= UInt64(bytes[index])
                index += 1
            }
            if index == limit {
                self =
                    limit < bytes.count
                    ? Self(outcome: .rejected(.tooLong), end: index, resumeIndex: index)
                    : Self(outcome: .incomplete, end: index, resumeIndex: start)
                return
            }
        }
        unsafe self.init(
            in: bytes, start: start, end: index, sum: SWAR.foldedXOR(sum),
            acceptsMissingChecksum: acceptsMissingChecksum)
    }

    /// Checks a sentence whose fields end at `end` and whose bytes have the checksum `sum`.
    @inline(__always)
    private init(
        in bytes: UnsafeBufferPointer<UInt8>, start: Int, end: Int, sum: UInt8, acceptsMissingChecksum: Bool
    ) {
        if end &+ 2 < bytes.count, unsafe bytes[end] == UInt8(ascii: "*"),
            unsafe Self.isChecksum(sum, in: bytes, at: end &+ 1)
        {
            self.init(outcome: .sentence, end: end, resumeIndex: end &+ 3)
        } else {
            unsafe self.init(
                unusualIn: bytes, start: start, end: end, sum: sum,
                acceptsMissingChecksum: acceptsMissingChecksum)
        }
    }

    /// Checks a sentence that isn't followed by a correct checksum in capital hexadecimal digits.
    @inline(never)
    private init(
        unusualIn bytes: UnsafeBufferPointer<UInt8>, start: Int, end: Int, sum: UInt8, acceptsMissingChecksum: Bool
    ) {
        guard unsafe Self.isAddress(in: bytes, from: start + 1, to: end) else {
            self.init(outcome: .loneStartByte, end: end, resumeIndex: end)
            return
        }
        switch unsafe bytes[end] {
        case UInt8(ascii: "*"):
            guard end + 2 < bytes.count else {
                // If the first character isn't a hexadecimal digit, the checksum is malformed whatever follows.
                let cannotBecomeValid = unsafe end + 1 < bytes.count && Self.hexDigit(bytes[end + 1]) > 15
                self =
                    cannotBecomeValid
                    ? Self(outcome: .rejected(.malformedChecksum), end: end, resumeIndex: end + 1)
                    : Self(outcome: .incomplete, end: end, resumeIndex: start)
                return
            }
            let high = unsafe Self.hexDigit(bytes[end + 1])
            let low = unsafe Self.hexDigit(bytes[end + 2])
            if high | low > 15 {
                self.init(outcome: .rejected(.malformedChecksum), end: end, resumeIndex: end + 1)
            } else if high << 4 | low != sum {
                self.init(outcome: .rejected(.checksumMismatch), end: end, resumeIndex: end + 3)
            } else {
                self.init(outcome: .sentence, end: end, resumeIndex: end + 3)
            }
        case UInt8(ascii: "\r"), UInt8(ascii: "\n"):
            self.init(
                outcome: acceptsMissingChecksum ? .sentence : .rejected(.missingChecksum), end: end, resumeIndex: end)
        default:
            self.init(outcome: .rejected(.interrupted), end: end, resumeIndex: end)
        }
    }

    /// Whether the bytes after a start byte look like an address. In text such as `READY!` or `5$ more`, they don't.
    private static func isAddress(in bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Bool {
        guard end - start >= 2 else { return false }
        return unsafe isCapital(bytes[start]) && isCapital(bytes[start + 1])
    }

    private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

    /// Whether the two characters at `place` are `sum` in capital hexadecimal digits, as receivers write it. Both
    /// characters are compared at once, without a branch, because a processor can't predict whether a digit is a
    /// letter.
    @inline(__always)
    private static func isChecksum(_ sum: UInt8, in bytes: UnsafeBufferPointer<UInt8>, at place: Int) -> Bool {
        let digits = UInt16(sum >> 4) | UInt16(sum & 15) << 8
        // Adding 6 sets bit 4 if the digit is above 9 and is therefore written as a letter.
        let letters = (digits &+ 0x0606) >> 4 & 0x0101
        let text = digits &+ 0x3030 &+ letters &* UInt16(UInt8(ascii: "A") - UInt8(ascii: "9") - 1)
        return unsafe UInt16(bytes[place]) | UInt16(bytes[place &+ 1]) << 8 == text
    }

    @inline(__always)
    private static func isSentenceEnd(_ byte: UInt8) -> Bool {
        byte &- 0x20 > 0x7E - 0x20 || byte == UInt8(ascii: "*") || byte == UInt8(ascii: "$")
    }

    /// Returns the value of a hexadecimal digit in upper or lower case; 255 for any other byte.
    @inline(__always)
    private static func hexDigit(_ byte: UInt8) -> UInt8 {
        let decimal = byte &- UInt8(ascii: "0")
        if decimal < 10 { return decimal }
        let letter = (byte | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : 255
    }
}

/// The reason why a sentence is rejected.
package enum SentenceRejection: Int, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case checksumMismatch
    /// The line ends without a `*`.
    case missingChecksum
    /// The `*` isn't followed by two hexadecimal digits.
    case malformedChecksum
    /// A control byte, a non-ASCII byte or the start of another sentence comes before the sentence's end.
    case interrupted
    /// The sentence doesn't end within `SentenceFrame.maximumLength` bytes.
    case tooLong
    /// A field doesn't have the form that its sentence type requires.
    case malformedField
    /// A field contains a number that no receiver on earth can measure.
    case outOfRange

    package var description: String {
        switch self {
        case .checksumMismatch: "wrong checksum"
        case .missingChecksum: "no checksum"
        case .malformedChecksum: "checksum not two hexadecimal digits"
        case .interrupted: "interrupted before its end"
        case .tooLong: "longer than \(SentenceFrame.maximumLength) bytes"
        case .malformedField: "a field is malformed"
        case .outOfRange: "a field is out of range"
        }
    }
}
