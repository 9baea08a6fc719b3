extension JSONValue {
    /// The document on one line, the keys of objects in order; a number that is not finite, which JSON cannot say, is
    /// `null`.
    package var text: String { written(isPretty: false) }

    /// The same for people to read, a member or element a line.
    package var prettyText: String { written(isPretty: true) }

    private func written(isPretty: Bool) -> String {
        var writer = JSONWriter(isPretty: isPretty)
        writer.write(self)
        return writer.text
    }
}

/// Writes JSON to the end of a text.
private struct JSONWriter {
    let isPretty: Bool
    var text = ""
    private var depth = 0

    init(isPretty: Bool) { self.isPretty = isPretty }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value) where value.isFinite:
            let digits = value.description
            text += digits.hasSuffix(".0") ? String(digits.dropLast(2)) : digits
        case .number: text += "null"
        case .string(let value): write(value)
        case .array(let elements): list(elements, "[", "]") { $0.write($1) }
        case .object(let members):
            list(members.sorted { $0.key < $1.key }, "{", "}") { writer, member in
                writer.write(member.key)
                writer.text += writer.isPretty ? " : " : ":"
                writer.write(member.value)
            }
        }
    }

    private mutating func list<Element>(
        _ elements: [Element], _ opening: String, _ closing: String, _ write: (inout JSONWriter, Element) -> Void
    ) {
        text += opening
        depth += 1
        for (place, element) in elements.enumerated() {
            if place > 0 { text += "," }
            beginLine()
            write(&self, element)
        }
        depth -= 1
        if isPretty, elements.isEmpty { text += "\n" }
        beginLine()
        text += closing
    }

    private mutating func beginLine() {
        if isPretty { text += "\n" + String(repeating: "  ", count: depth) }
    }

    private mutating func write(_ string: String) {
        text += "\""
        defer { text += "\"" }
        // Most have nothing to be escaped.
        guard string.utf8.contains(where: Self.isEscaped) else { return text += string }
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{8}": text += "\\b"
            case "\u{C}": text += "\\f"
            case ..<" ": text += (scalar.value < 0x10 ? "\\u000" : "\\u00") + String(scalar.value, radix: 16)
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }
}
