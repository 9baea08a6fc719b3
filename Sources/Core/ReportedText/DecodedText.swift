/// A decoded text that maps each byte to the range of the original text from which the byte was decoded.
struct DecodedText {
    private(set) var bytes: [UInt8] = []
    private(set) var origins: [Range<Int>] = []

    init(_ original: [UInt8]) {
        bytes = original
        origins = original.indices.map { $0..<$0 + 1 }
    }

    private init() {}

    /// The texts that result from decoding this text as percent-encoding, as JSON escapes, and as base64. A base64 part
    /// may begin at any of four positions, so there are four such results.
    var readings: [DecodedText] {
        let unescaped = [percentDecoded, unescapedJSON].filter { $0.bytes.count < bytes.count }
        let digits = zip(bytes, origins).compactMap { byte, origin in
            Self.base64Values[Int(byte)].map { (value: $0, origin: origin) }
        }
        return unescaped + (0..<4).map { Self.base64Decoded(digits.dropFirst($0)) }.filter { !$0.bytes.isEmpty }
    }

    private var percentDecoded: DecodedText {
        replacingEscapes { index in
            guard bytes[index] == UInt8(ascii: "%"), let value = hexadecimalValue(at: index + 1, digits: 2) else {
                return nil
            }
            return (3, [UInt8(value)])
        }
    }

    private var unescapedJSON: DecodedText {
        replacingEscapes { index in
            guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count else { return nil }
            if let value = Self.escapes[bytes[index + 1]] { return (2, [value]) }
            guard let high = codeUnit(at: index) else { return nil }
            guard UTF16.isLeadSurrogate(high), let low = codeUnit(at: index + 6) else {
                return (6, Array(String(decoding: [high], as: UTF16.self).utf8))
            }
            return (12, Array(String(decoding: [high, low], as: UTF16.self).utf8))
        }
    }

    /// Returns this text with each escape sequence replaced. `escape` returns the length of the sequence that begins at
    /// an index, and the bytes that the sequence stands for; `nil` if no sequence begins there.
    private func replacingEscapes(_ escape: (_ index: Int) -> (length: Int, bytes: [UInt8])?) -> DecodedText {
        var result = DecodedText()
        var index = 0
        while index < bytes.count {
            guard let found = escape(index) else {
                result.append(bytes[index], from: origins[index])
                index += 1
                continue
            }
            for byte in found.bytes { result.append(byte, from: origin(of: index..<index + found.length)) }
            index += found.length
        }
        return result
    }

    /// Returns the bytes that the characters of both base64 alphabets encode, ignoring all others, such as line breaks.
    /// Text around the encoded part results in meaningless bytes.
    private static func base64Decoded(_ digits: ArraySlice<(value: UInt8, origin: Range<Int>)>) -> DecodedText {
        var result = DecodedText()
        for index in digits.indices.dropFirst() {
            let offset = UInt8((index - digits.startIndex) % 4)
            guard offset > 0 else { continue }
            let first = digits[index - 1]
            let second = digits[index]
            let value = first.value << (2 * offset) | second.value >> (6 - 2 * offset)
            result.append(value, from: first.origin.lowerBound..<second.origin.upperBound)
        }
        return result
    }

    private mutating func append(_ byte: UInt8, from origin: Range<Int>) {
        bytes.append(byte)
        origins.append(origin)
    }

    /// Returns the range of the original text from which the given range was decoded.
    func origin(of range: Range<Int>) -> Range<Int> {
        origins[range.lowerBound].lowerBound..<origins[range.upperBound - 1].upperBound
    }

    /// Returns the UTF-16 code unit for which the escape sequence at `index` stands; `nil` if there is no such
    /// sequence.
    private func codeUnit(at index: Int) -> UInt16? {
        guard bytes[min(index, bytes.count)...].starts(with: "\\u".utf8) else { return nil }
        return hexadecimalValue(at: index + 2, digits: 4)
    }

    private func hexadecimalValue(at start: Int, digits: Int) -> UInt16? {
        guard start + digits <= bytes.count else { return nil }
        var value: UInt16 = 0
        for byte in bytes[start..<start + digits] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    private static let escapes: [UInt8: UInt8] = Dictionary(
        uniqueKeysWithValues: zip("\"\\/bfnrt".utf8, "\"\\/\u{8}\u{C}\n\r\t".utf8))

    private static let base64Values: [UInt8?] = {
        var values = [UInt8?](repeating: nil, count: 256)
        for last in ["+/", "-_"] {
            let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last
            for (value, character) in alphabet.utf8.enumerated() { values[Int(character)] = UInt8(value) }
        }
        return values
    }()
}
