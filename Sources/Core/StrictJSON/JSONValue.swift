/// A JSON value, for documents whose shape isn't known in advance, such as error bodies and token responses.
///
/// A whole number that fits into an `Int64` is an `integer`, even if it is written as `271.0` or `2.71e2`. This follows
/// protobuf's JSON mapping.
package enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Parses one document strictly (RFC 8259). The document must be UTF-8 without trailing text or duplicate keys, and
    /// nested at most 64 levels deep.
    package init(parsing bytes: [UInt8]) throws(ParseError) {
        var parser = JSONParser(bytes)
        self = try parser.parseDocument()
    }

    /// The reason why text isn't an acceptable JSON document.
    package struct ParseError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The problem and its remedy, such as `a trailing comma; remove it`.
        package let problem: String
        /// The offset of the problem in bytes, counted from 0.
        package let offset: Int
        /// The line of the problem, counted from 1.
        package let line: Int
        /// The column of the problem in Unicode scalars, counted from 1.
        package let column: Int

        init(_ problem: String, at offset: Int, in bytes: [UInt8]) {
            let before = bytes[..<min(offset, bytes.count)]
            let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            self.problem = problem
            self.offset = before.endIndex
            line = 1 + before.count { $0 == UInt8(ascii: "\n") }
            column = 1 + before[start...].count { $0 & 0xC0 != 0x80 }
        }

        /// A description for use after the name of the text, such as `line 3, column 7: a trailing comma; remove it`.
        package var description: String { "line \(line), column \(column): \(problem)" }
    }
}

extension JSONValue {
    /// The member with the given key; `nil` if there is no such member or this value isn't an object.
    package subscript(key: String) -> JSONValue? { objectValue?[key] }

    /// The element at `index`; `nil` if there is no such element or this value isn't an array.
    package subscript(index: Int) -> JSONValue? {
        guard let elements = arrayValue, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    package var isNull: Bool { self == .null }

    package var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The value if it is a whole number that fits; otherwise `nil`.
    package var integerValue: Int64? { if case .integer(let value) = self { value } else { nil } }

    /// The value if it is a number, whether whole or not; otherwise `nil`.
    package var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    package var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    package var arrayValue: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    package var objectValue: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }

    /// The kind of this value with an article, for use in error messages, such as `a string`.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer: "an integer"
        case .number: "a number with a fraction"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
