import TimeAndRandomness

/// A tag block before a sentence, such as `\s:r3669961,c:1120959341*51\` (NMEA 0183 4.0). It contains the sender and
/// the time of sending.
@safe enum TagBlock {
    enum Outcome {
        /// A block with a correct checksum. `transmittedAt` is the time in its field `c:`, if there is one.
        case block(length: Int, transmittedAt: UTCTime?)
        case notABlock
        /// More bytes are needed to decide whether there is a block.
        case incomplete
    }

    static let mark = UInt8(ascii: "\\")
    /// The maximum length in bytes, including both backslashes.
    static let maximumLength = 255
    /// The minimum value of field `c:` that is in milliseconds since 1970 (a time in 1973). Smaller values are in
    /// seconds, up to the year 5138.
    private static let minimumMilliseconds: Int64 = 100_000_000_000
    /// The start of GPS time. Only clocks that were never set show earlier times.
    private static let startOfGPSTime = UTCTime(year: 1980, month: 1, day: 6)

    /// Returns whether a tag block begins at `start`, with its length and time. A block can't contain the start byte of
    /// a sentence.
    static func outcome(in bytes: UnsafeBufferPointer<UInt8>, startingAt start: Int) -> Outcome {
        let limit = start + maximumLength
        var end = start + 1
        while end < limit, end < bytes.count, unsafe bytes[end] != mark {
            let byte = unsafe bytes[end]
            guard 0x20...0x7E ~= byte, byte != UInt8(ascii: "$"), byte != UInt8(ascii: "!") else { return .notABlock }
            end += 1
        }
        if end == limit { return .notABlock }
        if end == bytes.count { return .incomplete }
        let body = unsafe UnsafeBufferPointer(rebasing: bytes[(start + 1)..<end])
        guard body.count > 3, unsafe body[body.count - 3] == UInt8(ascii: "*"),
            let stated = unsafe UInt8(String(decoding: body.suffix(2), as: UTF8.self), radix: 16),
            unsafe body.dropLast(3).reduce(0, ^) == stated
        else { return .notABlock }
        return .block(length: end + 1 - start, transmittedAt: unsafe time(in: body.dropLast(3)))
    }

    /// Returns the time in field `c:`; `nil` if the field is missing, malformed or before the start of GPS time.
    private static func time(in fields: Slice<UnsafeBufferPointer<UInt8>>) -> UTCTime? {
        let key = Array("c:".utf8)
        let field = unsafe fields.split(separator: UInt8(ascii: ",")).first { unsafe $0.starts(with: key) }
        guard let field = unsafe field, let number = unsafe Int64(String(decoding: field.dropFirst(2), as: UTF8.self)),
            (0..<1000 * minimumMilliseconds).contains(number)
        else { return nil }
        let time = UTCTime(millisecondsSince1970: number < minimumMilliseconds ? number * 1000 : number)
        return time < startOfGPSTime ? nil : time
    }
}
