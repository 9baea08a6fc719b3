/// A description of a syntax error and its remedy in one sentence. It covers the errors that people make when they
/// write JSON by hand.
///
/// A fault is created only if text isn't JSON, so it can afford to scan the text again. The sentence quotes nothing
/// from the text, because the text may be a secret.
struct JSONFault {
    /// The token that the parser expected at `offset`.
    enum ExpectedToken {
        case document
        case value
        case key
        case colon
        /// A comma, or the end of the object or array.
        case separator
        case digit
        /// The rest of a string whose opening quote is at `opening`.
        case restOfString(opening: Int)
        /// The end of the document.
        case endOfDocument
    }

    let bytes: [UInt8]
    let offset: Int
    let expected: ExpectedToken

    private static let values = "write text in double quotes, or a number, true, false or null"

    var error: JSONValue.ParseError {
        if case .restOfString(let opening) = expected {
            guard let byte = here, byte != "\n", byte != "\r", byte != "\r\n" else {
                return error("a string without a closing quote on its line; add the quote", at: opening)
            }
            return error("a control character in a string; write it as \\u and four digits")
        }
        if let foreignCharacter { return error(foreignCharacter) }
        if here == "}" || here == "]", previous == "," {
            return error("a trailing comma; remove it", at: previousOffset ?? offset)
        }
        let afterPrevious = previousOffset.map { $0 + 1 } ?? offset
        switch (here, expected) {
        case (nil, .digit), (_, .digit): return error("a digit is missing in this number")
        case (nil, _), ("}", .separator), ("]", .separator):
            guard let opening else { return error("the document is incomplete", at: afterPrevious) }
            let closing = bytes[opening] == UInt8(ascii: "{") ? "}" : "]"
            let line = 1 + bytes[..<opening].count { $0 == UInt8(ascii: "\n") }
            return error(
                "\"\(closing)\" is missing for the bracket on line \(line)", at: here == nil ? afterPrevious : offset)
        case (_, .document): return error("not JSON; a document begins with {")
        case (","?, .value), (":"?, .value), ("}"?, .value), ("]"?, .value):
            return error("a value is missing here; \(Self.values)")
        case (_, .value): return error("a value that isn't JSON; \(Self.values)")
        case (let digit?, .key) where digit.isNumber && previous == ",":
            return error("a comma in a number; write a point", at: previousOffset ?? offset)
        case (let letter?, .key) where letter.isLetter: return error("a key without quotes; write it in double quotes")
        case (_, .key): return error("a key is missing here; write a key in double quotes")
        case (_, .colon): return error("\":\" is missing after the key")
        case (_, .separator):
            let isAttached = afterPrevious == offset && here != "\""
            return isAttached
                ? error("a value that isn't JSON; \(Self.values)")
                : error("a comma is missing here", at: afterPrevious)
        case (_, .endOfDocument), (_, .restOfString): return error("text after the end of the document; remove it")
        }
    }

    /// Returns the error for text that isn't UTF-8.
    static func encodingError(of bytes: [UInt8]) -> JSONValue.ParseError {
        var parser = Unicode.UTF8.ForwardParser()
        var rest = bytes.makeIterator()
        var offset = 0
        while case .valid(let scalar) = parser.parseScalar(from: &rest) { offset += scalar.count }
        return JSONValue.ParseError("the text is not UTF-8; save it as UTF-8", at: offset, in: bytes)
    }

    /// The problem with a character that JSON doesn't allow outside strings; `nil` if the character is allowed.
    private var foreignCharacter: String? {
        let rest = bytes[offset...]
        if rest.starts(with: "//".utf8) || rest.starts(with: "/*".utf8) || rest.first == UInt8(ascii: "#") {
            return "a comment, which JSON doesn't allow; remove it"
        }
        switch here {
        case "“", "”", "„", "«", "»", "‘", "’", "‚", "'", "`":
            return "a quote that JSON doesn't allow; write \""
        case ";": return "a semicolon; write a comma"
        case "=": return "\"=\"; write \":\""
        case "\0", "\u{FEFF}": return "an invisible character; save the text as UTF-8 without a byte order mark"
        case let space? where space.isWhitespace: return "a space that JSON doesn't allow; write a plain space"
        default: return nil
        }
    }

    private func error(_ problem: String, at place: Int? = nil) -> JSONValue.ParseError {
        JSONValue.ParseError(problem, at: place ?? offset, in: bytes)
    }

    private var here: Character? {
        // No character that is compared with `here` is longer than 16 bytes.
        String(decoding: bytes[offset..<min(offset + 16, bytes.count)], as: UTF8.self).first
    }

    /// The offset of the last byte before `offset` that isn't white space; `nil` if there is none.
    private var previousOffset: Int? { bytes[..<offset].lastIndex { !" \t\r\n".utf8.contains($0) } }

    private var previous: Character? { previousOffset.map { Character(Unicode.Scalar(bytes[$0])) } }

    /// The offset of the bracket that opens the innermost object or array around `offset`; `nil` if there is none. This
    /// is reliable, because everything before `offset` is valid JSON.
    private var opening: Int? {
        var open: [Int] = []
        var isString = false
        var index = 0
        while index < min(offset, bytes.count) {
            switch bytes[index] {
            case UInt8(ascii: "\\"): index += 1
            case UInt8(ascii: "\""): isString.toggle()
            case UInt8(ascii: "{") where !isString, UInt8(ascii: "[") where !isString: open.append(index)
            case UInt8(ascii: "}") where !isString, UInt8(ascii: "]") where !isString: _ = open.popLast()
            default: break
            }
            index += 1
        }
        return open.last
    }
}
