extension JSONValue {
    /// The value as JSON on one line, with sorted keys. Numbers that aren't finite become `null`.
    package var text: String { String(decoding: utf8, as: UTF8.self) }

    /// The UTF-8 bytes of `text`.
    package var utf8: [UInt8] { serialized(isPretty: false) }

    /// The value as JSON with one member or element per line, for people to read.
    package var prettyText: String { String(decoding: serialized(isPretty: true), as: UTF8.self) }

    private func serialized(isPretty: Bool) -> [UInt8] {
        var writer = JSONWriter(isPretty: isPretty)
        writer.write(self)
        return writer.bytes
    }
}

/// A writer of JSON as UTF-8 bytes.
private struct JSONWriter {
    let isPretty: Bool
    private(set) var bytes: [UInt8] = []
    private var depth = 0

    init(isPretty: Bool) { self.isPretty = isPretty }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .integer(let value): append(String(value))
        case .number(let value) where value.isFinite:
            let digits = value.description
            append(digits.hasSuffix(".0") ? String(digits.dropLast(2)) : digits)
        case .number: append("null")
        case .string(let value): write(value)
        case .array(let elements): writeList(elements, opening: "[", closing: "]") { $0.write($1) }
        case .object(let members):
            writeList(members.sorted { $0.key < $1.key }, opening: "{", closing: "}") { writer, member in
                writer.write(member.key)
                writer.append(writer.isPretty ? " : " : ":")
                writer.write(member.value)
            }
        }
    }

    private mutating func writeList<Element>(
        _ elements: [Element], opening: String, closing: String, _ write: (inout JSONWriter, Element) -> Void
    ) {
        append(opening)
        depth += 1
        for (place, element) in elements.enumerated() {
            if place > 0 { append(",") }
            beginLine()
            write(&self, element)
        }
        depth -= 1
        if isPretty, elements.isEmpty { append("\n") }
        beginLine()
        append(closing)
    }

    private mutating func beginLine() {
        if isPretty { append("\n" + String(repeating: "  ", count: depth)) }
    }

    private mutating func write(_ string: String) {
        append("\"")
        defer { append("\"") }
        // Most strings need no escape.
        guard string.utf8.contains(where: Self.isEscaped) else { return append(string) }
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""): append("\\\"")
            case UInt8(ascii: "\\"): append("\\\\")
            case UInt8(ascii: "\n"): append("\\n")
            case UInt8(ascii: "\r"): append("\\r")
            case UInt8(ascii: "\t"): append("\\t")
            case 0x08: append("\\b")
            case 0x0C: append("\\f")
            case ..<0x20: append((byte < 0x10 ? "\\u000" : "\\u00") + String(byte, radix: 16))
            default: bytes.append(byte)
            }
        }
    }

    private mutating func append(_ text: String) { bytes += text.utf8 }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }
}
