import FoundationEssentials

/// Any JSON value, for documents whose shape is not ours.
package enum TokenJSON: Sendable, Hashable, Decodable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([TokenJSON])
    case object([String: TokenJSON])

    /// - Throws: what the decoder says when `bytes` are not one JSON document.
    package init(parsing bytes: some Sequence<UInt8>) throws {
        self = try JSONDecoder().decode(TokenJSON.self, from: Data(bytes))
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([TokenJSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: TokenJSON].self))
        }
    }

    /// What kind of value it is, for errors that must not show the value.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    package var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// A number, or a string that holds one.
    package var number: Double? {
        switch self {
        case .number(let value): value
        case .string(let text): Double(text.filter { !$0.isWhitespace })
        default: nil
        }
    }

    package var object: [String: TokenJSON]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// The value under `path`: a key as it stands, or keys with dots between them, as `data.token.jwt`.
    package subscript(path path: String) -> TokenJSON? {
        guard case .object(let members) = self else { return nil }
        if let value = members[path] { return value }
        guard let dot = path.firstIndex(of: ".") else { return nil }
        return members[String(path[..<dot])]?[path: String(path[path.index(after: dot)...])]
    }
}
