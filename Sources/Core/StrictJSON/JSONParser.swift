/// A recursive descent parser for the bytes of one JSON document (RFC 8259).
struct JSONParser {
    /// The maximum nesting depth, which limits the use of the stack.
    private static let maximumDepth = 64

    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func parseDocument() throws(JSONValue.ParseError) -> JSONValue {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw JSONFault.encodingError(of: bytes) }
        skipSpace()
        guard index < bytes.count else { throw error("the text is empty; write a JSON document") }
        let value = try parseValue(depth: 0, .document)
        skipSpace()
        guard index == bytes.count else { throw error(expecting: .endOfDocument) }
        return value
    }

    private mutating func parseValue(
        depth: Int, _ expected: JSONFault.ExpectedToken = .value
    ) throws(JSONValue.ParseError) -> JSONValue {
        guard let first = peek else { throw error(expecting: expected) }
        switch first {
        case UInt8(ascii: "{"): return try parseObject(depth: depth + 1)
        case UInt8(ascii: "["): return try parseArray(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try parseString())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try parseNumber()
        default:
            if consume("true") { return .bool(true) }
            if consume("false") { return .bool(false) }
            if consume("null") { return .null }
            throw error(expecting: expected)
        }
    }

    private mutating func parseObject(depth: Int) throws(JSONValue.ParseError) -> JSONValue {
        try skipOpeningBracket(atDepth: depth)
        var members: [String: JSONValue] = [:]
        skipSpace()
        if consume("}") { return .object(members) }
        repeat {
            skipSpace()
            let start = index
            guard peek == UInt8(ascii: "\"") else { throw error(expecting: .key) }
            let key = try parseString()
            guard members[key] == nil else {
                throw error("the key \"\(key.prefix(60))\" is in this object twice; remove one of them", at: start)
            }
            skipSpace()
            guard consume(":") else { throw error(expecting: .colon) }
            skipSpace()
            members[key] = try parseValue(depth: depth)
            skipSpace()
        } while consume(",")
        guard consume("}") else { throw error(expecting: .separator) }
        return .object(members)
    }

    private mutating func parseArray(depth: Int) throws(JSONValue.ParseError) -> JSONValue {
        try skipOpeningBracket(atDepth: depth)
        var elements: [JSONValue] = []
        skipSpace()
        if consume("]") { return .array(elements) }
        repeat {
            skipSpace()
            elements.append(try parseValue(depth: depth))
            skipSpace()
        } while consume(",")
        guard consume("]") else { throw error(expecting: .separator) }
        return .array(elements)
    }

    /// Skips an opening bracket. Throws an error if the nesting is too deep.
    private mutating func skipOpeningBracket(atDepth depth: Int) throws(JSONValue.ParseError) {
        guard depth <= Self.maximumDepth else { throw error("nested deeper than \(Self.maximumDepth) levels") }
        index += 1
    }

    private mutating func parseNumber() throws(JSONValue.ParseError) -> JSONValue {
        let start = index
        _ = consume("-")
        if !consume("0") { try skipDigits() }
        if consume(".") { try skipDigits() }
        if consume("e") || consume("E") {
            if !consume("+") { _ = consume("-") }
            try skipDigits()
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else {
            throw error("a number that is too large: \(text.prefix(40))", at: start)
        }
        // Above 2^53, a `Double` can't distinguish neighbouring integers.
        if abs(number) <= 9_007_199_254_740_992, let integer = Int64(exactly: number) { return .integer(integer) }
        return .number(number)
    }

    private mutating func skipDigits() throws(JSONValue.ParseError) {
        let start = index
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        guard index > start else { throw error(expecting: .digit) }
    }

    private mutating func parseString() throws(JSONValue.ParseError) -> String {
        let opening = index
        index += 1
        var text = ""
        var plain = index
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                text += String(decoding: bytes[plain..<index], as: UTF8.self)
                index += 1
                return text
            case UInt8(ascii: "\\"):
                text += String(decoding: bytes[plain..<index], as: UTF8.self)
                text.unicodeScalars.append(try parseEscape(inStringFrom: opening))
                plain = index
            case ..<0x20: throw error(expecting: .restOfString(opening: opening))
            default: index += 1
            }
        }
        throw error(expecting: .restOfString(opening: opening))
    }

    /// Reads an escape sequence in the string that begins at `opening`, and returns its character. If two sequences
    /// form a surrogate pair, reads both.
    private mutating func parseEscape(inStringFrom opening: Int) throws(JSONValue.ParseError) -> Unicode.Scalar {
        let start = index
        index += 1
        guard let kind = peek else { throw error(expecting: .restOfString(opening: opening)) }
        index += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(kind)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            var code = try parseHexadecimal(from: start)
            if (0xD800..<0xDC00).contains(code), consume("\\u") {
                let low = try parseHexadecimal(from: start)
                if (0xDC00..<0xE000).contains(low) { code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00) }
            }
            if let scalar = Unicode.Scalar(code) { return scalar }
            throw error("an unpaired surrogate in a string", at: start)
        default: throw error("an unknown escape in a string; write a backslash as \\\\", at: start)
        }
    }

    private mutating func parseHexadecimal(from start: Int) throws(JSONValue.ParseError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("\\u without four hexadecimal digits", at: start)
            }
            code = code << 4 | UInt32(digit)
            index += 1
        }
        return code
    }

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func consume(_ word: String) -> Bool {
        let word = word.utf8
        guard bytes[index...].starts(with: word) else { return false }
        index += word.count
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    }

    private func error(_ problem: String, at offset: Int? = nil) -> JSONValue.ParseError {
        JSONValue.ParseError(problem, at: offset ?? index, in: bytes)
    }

    private func error(expecting expected: JSONFault.ExpectedToken) -> JSONValue.ParseError {
        JSONFault(bytes: bytes, offset: index, expected: expected).error
    }
}
