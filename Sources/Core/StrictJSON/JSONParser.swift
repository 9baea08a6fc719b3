/// A recursive descent parser for the bytes of one JSON document (RFC 8259).
struct JSONParser {
    /// The maximum nesting depth, which limits the use of the stack.
    private static let maximumDepth = 64

    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONValue.ParseError) -> JSONValue {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw JSONFault.encodingError(of: bytes) }
        skipSpace()
        guard index < bytes.count else { throw error("the text is empty; write a JSON document") }
        let value = try value(depth: 0, .document)
        skipSpace()
        guard index == bytes.count else { throw unexpected(.end) }
        return value
    }

    private mutating func value(
        depth: Int, _ expected: JSONFault.ExpectedToken = .value
    ) throws(JSONValue.ParseError) -> JSONValue {
        guard let first = peek else { throw unexpected(expected) }
        switch first {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default:
            if take("true") { return .bool(true) }
            if take("false") { return .bool(false) }
            if take("null") { return .null }
            throw unexpected(expected)
        }
    }

    private mutating func object(depth: Int) throws(JSONValue.ParseError) -> JSONValue {
        try enter(depth)
        var members: [String: JSONValue] = [:]
        skipSpace()
        if take("}") { return .object(members) }
        repeat {
            skipSpace()
            let start = index
            guard peek == UInt8(ascii: "\"") else { throw unexpected(.key) }
            let key = try string()
            guard members[key] == nil else {
                throw error("the key \"\(key.prefix(60))\" is in this object twice; remove one of them", at: start)
            }
            skipSpace()
            guard take(":") else { throw unexpected(.colon) }
            skipSpace()
            members[key] = try value(depth: depth)
            skipSpace()
        } while take(",")
        guard take("}") else { throw unexpected(.separator) }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(JSONValue.ParseError) -> JSONValue {
        try enter(depth)
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return .array(elements) }
        repeat {
            skipSpace()
            elements.append(try value(depth: depth))
            skipSpace()
        } while take(",")
        guard take("]") else { throw unexpected(.separator) }
        return .array(elements)
    }

    /// Skips an opening bracket. Throws an error if the nesting is too deep.
    private mutating func enter(_ depth: Int) throws(JSONValue.ParseError) {
        guard depth <= Self.maximumDepth else { throw error("nested deeper than \(Self.maximumDepth) levels") }
        index += 1
    }

    private mutating func number() throws(JSONValue.ParseError) -> JSONValue {
        let start = index
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
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

    private mutating func digits() throws(JSONValue.ParseError) {
        let start = index
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        guard index > start else { throw unexpected(.digit) }
    }

    private mutating func string() throws(JSONValue.ParseError) -> String {
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
                text.unicodeScalars.append(try escape(inStringFrom: opening))
                plain = index
            case ..<0x20: throw unexpected(.text(opening: opening))
            default: index += 1
            }
        }
        throw unexpected(.text(opening: opening))
    }

    /// Reads an escape sequence in the string that begins at `opening`. If two sequences form a surrogate pair, reads
    /// both.
    private mutating func escape(inStringFrom opening: Int) throws(JSONValue.ParseError) -> Unicode.Scalar {
        let start = index
        index += 1
        guard let kind = peek else { throw unexpected(.text(opening: opening)) }
        index += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(kind)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            var code = try hexadecimal(from: start)
            if (0xD800..<0xDC00).contains(code), take("\\u") {
                let low = try hexadecimal(from: start)
                if (0xDC00..<0xE000).contains(low) { code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00) }
            }
            if let scalar = Unicode.Scalar(code) { return scalar }
            throw error("half of a surrogate pair in a string", at: start)
        default: throw error("an unknown escape in a string; write a backslash as \\\\", at: start)
        }
    }

    private mutating func hexadecimal(from start: Int) throws(JSONValue.ParseError) -> UInt32 {
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

    private mutating func take(_ word: String) -> Bool {
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

    private func unexpected(_ expected: JSONFault.ExpectedToken) -> JSONValue.ParseError {
        JSONFault(bytes: bytes, offset: index, expected: expected).error
    }
}
