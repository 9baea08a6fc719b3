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
