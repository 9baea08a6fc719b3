/// Finds the words for the place at which a text stops being JSON: what people write there instead, and the remedy.
///
/// It is made only when a text is not JSON, so it may look at the text again; the parser keeps nothing for it. Its
/// words repeat nothing of the text, which may be secret there, but for single characters.
struct JSONFault {
    /// What has to come at the place.
    enum Wanted {
        /// The first value of all.
        case document
        case value
        case key
        /// The one between key and value.
        case colon
        /// A comma, or the end of the object or array.
        case separator
        case digit
        /// The rest of a string that begins at `opening`.
        case text(opening: Int)
        /// Nothing more.
        case end
    }

    let bytes: [UInt8]
    let offset: Int
    let wanted: Wanted

    var error: JSONValue.ParseError {
        let (problem, place) = finding
        return JSONValue.ParseError(problem, at: place, in: bytes)
    }

    /// Of a text that is not UTF-8.
    static func encodingError(of bytes: [UInt8]) -> JSONValue.ParseError {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return JSONValue.ParseError("UTF-16 text; save it as UTF-8", at: 0, in: bytes)
        }
        var parser = Unicode.UTF8.ForwardParser()
        var rest = bytes.makeIterator()
        var offset = 0
        while case .valid(let scalar) = parser.parseScalar(from: &rest) { offset += scalar.count }
        let byte = offset < bytes.count ? " 0x" + String(bytes[offset], radix: 16, uppercase: true) : ""
        return JSONValue.ParseError(
            "the byte\(byte), which is not UTF-8; save the text as UTF-8", at: offset, in: bytes)
    }

    private typealias Finding = (problem: String, place: Int)

    private var finding: Finding {
        switch wanted {
        case .text(let opening): return unfinishedString(from: opening)
        case .digit: return (missingDigit, offset)
        default: break
        }
        guard let byte = here else { return unfinished }
        if let foreign = foreignCharacter { return (foreign, offset) }
        return switch wanted {
        case .document, .value: missingValue(byte)
        case .key: missingKey(byte)
        case .colon: (missingColon(byte), offset)
        case .separator: missingSeparator(byte)
        case .end, .digit, .text: (excess(byte), offset)
        }
    }

    // MARK: What is wanted

    private func missingValue(_ byte: Character) -> Finding {
        let before = previous
        switch byte {
        case "}", "]":
            if before == "," { return trailingComma(before: byte) }
            return (before == ":" ? "a value is missing after \":\"" : mismatch(byte), offset)
        case ",": return (before == ":" ? "a value is missing before this comma" : strayComma, offset)
        case ":": return ("a second \":\"; remove it", offset)
        case "+": return ("a plus sign; JSON writes numbers without it", offset)
        case ".": return ("a number without a digit before its point; write 0 there", offset)
        case "<" where isDocument: return ("HTML or XML, not JSON", offset)
        default: break
        }
        guard byte.isLetter || byte == "_" else { return ("a value is expected here", offset) }
        let word = self.word.lowercased()
        switch word {
        case "true", "false", "null": return ("JSON writes \(word) in small letters", offset)
        case "yes", "on": return ("JSON writes true here", offset)
        case "no", "off": return ("JSON writes false here", offset)
        case "none", "nil", "undefined": return ("JSON writes null here", offset)
        case "nan", "inf", "infinity": return (Self.notANumber, offset)
        default: break
        }
        return (
            isDocument ? "not JSON; a document begins with {" : "text without quotes; write it in double quotes", offset
        )
    }

    private func missingKey(_ byte: Character) -> Finding {
        let before = previous
        let comma = previousOffset
        switch byte {
        case "{" where before == "{" && comma == offset - 1:
            return ("\"{{\", as templates write a placeholder; fill the template in first, or remove one brace", offset)
        case "}" where before == ",": return trailingComma(before: byte)
        case "}", "]": return (mismatch(byte), offset)
        case ",": return (strayComma, offset)
        default: break
        }
        if byte.isNumber, let comma, comma == offset - 1, comma > 0, Self.isDigit(bytes[comma - 1]) {
            return ("a decimal comma; JSON writes a point", comma)
        }
        return byte.isLetter || byte.isNumber || byte == "_"
            ? ("a key without quotes; write it in double quotes", offset)
            : ("a key in double quotes is expected here", offset)
    }

    private func missingColon(_ byte: Character) -> String {
        switch byte {
        case "=": "JSON writes \":\" between key and value, not \"=\""
        case ",", "}": "the key before has no value; write \":\" and a value"
        default: isAttachedToQuote ? Self.strayQuote : "\":\" is missing after the key before"
        }
    }

    private func missingSeparator(_ byte: Character) -> Finding {
        if let number = attachedToNumber { return (number, offset) }
        switch byte {
        case "}", "]": return (mismatch(byte), offset)
        case ";": return ("a semicolon; JSON separates with commas", offset)
        case ":":
            let isArray = opening.map { bytes[$0] == UInt8(ascii: "[") } ?? false
            return (
                isArray ? "\":\" in an array; keys are for objects, in braces" : "a second \":\"; is a comma missing?",
                offset
            )
        case "=": return ("\"=\", which JSON does not have", offset)
        default: break
        }
        if isAttachedToQuote, byte != "\"" { return (Self.strayQuote, offset) }
        return ("a comma is missing here", previousOffset.map { $0 + 1 } ?? offset)
    }

    private var missingDigit: String {
        if ["nan", "inf", "infinity"].contains(word.lowercased()) { return Self.notANumber }
        return previous == "."
            ? "a number that ends with its point; write a digit behind it" : "a digit is missing here"
    }

    private func excess(_ byte: Character) -> String {
        if let number = attachedToNumber { return number }
        return switch byte {
        case "}", "]": "a \"\(byte)\" too many"
        case ":", ",":
            previous == "}" || previous == "]"
                ? "text after the end of the document; is the bracket before it one too many?"
                : "more follows than one value; put braces around the whole document"
        case "{", "[": "a second value after the end of the document; keep one of the two"
        default: "text after the end of the document"
        }
    }

    private func unfinishedString(from opening: Int) -> Finding {
        guard let byte = here else { return ("the text ends within a string; its closing quote is missing", opening) }
        switch byte {
        case "\n", "\r", "\r\n":
            return ("a string that does not end in its line; its closing quote is missing", opening)
        case "\t": return ("a tab in a string; write it as \\t", offset)
        default:
            let code = String(bytes[offset], radix: 16)
            return ("a control character in a string; write it as \\u00\(code.count < 2 ? "0" : "")\(code)", offset)
        }
    }

    /// The text ends too early.
    private var unfinished: Finding {
        let end = previousOffset.map { $0 + 1 } ?? offset  // not a line behind, which is empty
        guard let opening else { return ("the text ends where a value is expected", end) }
        let isObject = bytes[opening] == UInt8(ascii: "{")
        return (
            "the text ends within \(isObject ? "an object" : "an array") that begins in line \(line(of: opening)); "
                + "its \"\(isObject ? "}" : "]")\" is missing", end
        )
    }

    // MARK: What stands there instead

    /// What JSON has at no place outside of strings.
    private var foreignCharacter: String? {
        let rest = bytes[offset...]
        if rest.starts(with: "//".utf8) || rest.starts(with: "/*".utf8) || rest.first == UInt8(ascii: "#") {
            return "comments are not JSON; remove it"
        }
        if ["<<<<<<<", "=======", ">>>>>>>"].contains(where: { rest.starts(with: $0.utf8) }) {
            return "a conflict mark of git; keep one of the two versions, and remove all three marks"
        }
        switch here {
        case "“", "”", "„", "«", "»": return "a curly quote; JSON has the straight one, \""
        case "`": return "a backtick, as pages put around examples; remove it"
        case "‘", "’", "‚", "'": return "a single quote; JSON has the double one, \""
        case "\0": return "a NUL character; if this is UTF-16 text, save it as UTF-8"
        case "\u{FEFF}": return "a byte order mark; save the text as UTF-8 without it"
        case let space? where space.isWhitespace || space == "\u{200B}":
            return
                "a space that is none of JSON's (U+\(String(space.unicodeScalars.first?.value ?? 0, radix: 16, uppercase: true))); write a plain one"
        default: return nil
        }
    }

    private func trailingComma(before bracket: Character) -> Finding {
        ("a trailing comma; JSON has none before \"\(bracket)\", remove it", previousOffset ?? offset)
    }

    private var strayComma: String {
        previous == "," ? "a second comma; remove it" : "a comma before the first value; remove it"
    }

    private func mismatch(_ bracket: Character) -> String {
        guard let opening else { return "a \"\(bracket)\" too many" }
        let isObject = bytes[opening] == UInt8(ascii: "{")
        guard (bracket == "}") != isObject else { return "a value is missing before \"\(bracket)\"" }
        return
            "\"\(bracket)\" where \(isObject ? "an object" : "an array") that begins in line \(line(of: opening)) is still open; "
            + "its \"\(isObject ? "}" : "]")\" is missing"
    }

    /// What is wrong with a number that goes on behind its end.
    private var attachedToNumber: String? {
        guard let byte = here, let last = previousOffset, last == offset - 1, Self.isDigit(bytes[last]),
            byte.isLetter || byte.isNumber || byte == "_" || byte == "."
        else { return nil }
        let isZero =
            bytes[last] == UInt8(ascii: "0")
            && !(last > 0 && (Self.isDigit(bytes[last - 1]) || bytes[last - 1] == UInt8(ascii: ".")))
        if isZero, byte == "x" || byte == "X" { return "a hexadecimal number; JSON has decimal ones only" }
        if isZero, byte.isNumber { return "a number with a leading zero; write it without" }
        return byte == "_"
            ? "an underscore in a number; leave it out"
            : "a number with more behind it; write its digits alone, or a text in double quotes"
    }

    private static let notANumber = "NaN and Infinity are no numbers in JSON"
    private static let strayQuote =
        "text right behind a quote; is a quote missing before, or one to be written as \\\"?"

    // MARK: The place

    private var isDocument: Bool { if case .document = wanted { true } else { false } }

    private var here: Character? {
        // A character is far shorter than this, and a combining mark behind a bracket is none of ours.
        offset < bytes.count
            ? String(decoding: bytes[offset..<min(offset + 16, bytes.count)], as: UTF8.self).first : nil
    }

    private var word: String {
        String(
            decoding: bytes[offset...].prefix { Self.isDigit($0) || $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A },
            as: UTF8.self)
    }

    /// The last byte before that is no space.
    private var previousOffset: Int? { bytes[..<offset].lastIndex { !" \t\r\n".utf8.contains($0) } }

    private var previous: Character? { previousOffset.map { Character(Unicode.Scalar(bytes[$0])) } }

    private var isAttachedToQuote: Bool { offset > 0 && bytes[offset - 1] == UInt8(ascii: "\"") }

    /// Where the innermost object or array begins that is open here. Everything before is JSON.
    private var opening: Int? {
        var open = [Int]()
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

    private func line(of offset: Int) -> Int { 1 + bytes[..<offset].count { $0 == UInt8(ascii: "\n") } }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0") <= byte && byte <= UInt8(ascii: "9") }
}
