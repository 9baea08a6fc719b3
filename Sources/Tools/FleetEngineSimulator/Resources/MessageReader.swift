import StrictJSON
package import TimeAndRandomness

/// A reader of JSON messages that checks every name, type and range against a schema. It doesn't stop at the first
/// error.
struct MessageReader {
    private(set) var violations: [ErrorAnswer.Violation] = []

    /// Returns the message with camelCase names, numbers as JSON numbers, and times in UTC. An invalid field is left
    /// out and added to `violations`.
    mutating func readMessage(_ value: JSONValue, _ schema: MessageSchema, at path: String) -> JSONValue? {
        guard let members = value.objectValue else {
            return addViolation(at: path, "expected an object, not \(value.kind)")
        }
        var message: [String: JSONValue] = [:]
        for (written, member) in members.sorted(by: { $0.key < $1.key }) {
            let place = path.isEmpty ? written : "\(path).\(written)"
            guard let name = schema.fieldName(for: written), let rule = schema.fields[name] else {
                _ = addViolation(at: place, "Unknown name \"\(written)\": Cannot find field.")
                continue
            }
            guard message[name] == nil else {
                _ = addViolation(at: place, "the field is set twice, in both spellings")
                continue
            }
            guard !member.isNull else { continue }
            message[name] = read(member, rule.kind, at: place)
        }
        return .object(message)
    }

    private mutating func read(_ value: JSONValue, _ kind: FieldRule.Kind, at path: String) -> JSONValue? {
        switch kind {
        case .string:
            return value.stringValue == nil ? addViolation(at: path, "expected a string, not \(value.kind)") : value
        case .bool:
            return value.boolValue == nil ? addViolation(at: path, "expected true or false, not \(value.kind)") : value
        case .int32(let range):
            let number = value.integerValue ?? value.stringValue.flatMap { Int64($0) }
            guard let number else { return addViolation(at: path, "expected an integer, not \(value.kind)") }
            guard range.contains(number) else {
                return addViolation(at: path, "\(number) is out of range [\(range.lowerBound), \(range.upperBound)]")
            }
            return .integer(number)
        case .double(let range):
            let number = value.doubleValue ?? value.stringValue.flatMap { Double($0) }
            guard let number, number.isFinite else {
                return addViolation(at: path, "expected a finite number, not \(value.kind)")
            }
            guard range.contains(number) else {
                return addViolation(at: path, "\(number) is out of range \(text(for: range))")
            }
            return value.doubleValue == nil ? .number(number) : value
        case .timestamp:
            guard let time = value.stringValue.flatMap(WireTime.init) else {
                return addViolation(
                    at: path, "expected an RFC 3339 time with a zone, such as \"2026-01-05T10:15:30.250Z\"")
            }
            return .string(time.description)
        case .duration:
            guard let text = value.stringValue, text.hasSuffix("s"), let seconds = Double(text.dropLast()),
                seconds.isFinite
            else { return addViolation(at: path, "expected a duration, such as \"803.5s\"") }
            return value
        case .bytes:
            let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_="
            guard let text = value.stringValue, text.allSatisfy({ alphabet.contains($0) }) else {
                return addViolation(at: path, "expected base64")
            }
            return value
        case .enumeration(let numbers, let reserved):
            let name =
                value.stringValue ?? value.integerValue.flatMap { number in numbers.first { $0.value == number }?.key }
            guard let name, numbers[name] != nil else {
                return addViolation(at: path, "\(value.text) is not a value of this enum")
            }
            guard !reserved.contains(name) else {
                return addViolation(at: path, "\(name) may be set only by the server")
            }
            return .string(name)
        case .message(let schema): return readMessage(value, schema, at: path)
        case .list(let kind, let maximumCount): return readList(value, of: kind, upTo: maximumCount, at: path)
        case .route:
            return value.objectValue == nil ? addViolation(at: path, "expected an object, not \(value.kind)") : value
        }
    }

    private mutating func readList(
        _ value: JSONValue, of kind: FieldRule.Kind, upTo maximumCount: Int, at path: String
    ) -> JSONValue? {
        guard let elements = value.arrayValue else {
            return addViolation(at: path, "expected an array, not \(value.kind)")
        }
        guard elements.count <= maximumCount else {
            return addViolation(at: path, "more than \(maximumCount) elements")
        }
        var list: [JSONValue] = []
        for (index, element) in elements.enumerated() {
            if let element = read(element, kind, at: "\(path)[\(index)]") { list.append(element) }
        }
        return .array(list)
    }

    private func text(for range: ClosedRange<Double>) -> String {
        range.upperBound == .greatestFiniteMagnitude
            ? "(at least \(range.lowerBound))" : "[\(range.lowerBound), \(range.upperBound)]"
    }

    private mutating func addViolation(at path: String, _ problem: String) -> JSONValue? {
        if violations.count < 20 { violations.append(ErrorAnswer.Violation(field: path, description: problem)) }
        return nil
    }
}

/// The fields that a message may have, by their JSON names.
struct MessageSchema: Sendable {
    let fields: [String: FieldRule]

    /// Returns the JSON name of a field; `nil` if there is no such field. Clients may write the name in camelCase, or
    /// in snake case as in the proto file.
    func fieldName(for written: String) -> String? {
        if fields[written] != nil { return written }
        guard written.contains("_"), written == written.lowercased() else { return nil }
        let words = written.split(separator: "_", omittingEmptySubsequences: false)
        let camel = words.dropFirst().reduce(into: String(words[0])) {
            $0 += $1.prefix(1).uppercased() + $1.dropFirst()
        }
        return fields[camel] == nil ? nil : camel
    }
}

/// The rule for one field of a message.
struct FieldRule: Sendable {
    /// The type of a field in protobuf's JSON mapping, with the range that the field's documentation states.
    enum Kind: Sendable {
        case string
        case bytes
        case bool
        case int32(ClosedRange<Int64>)
        case double(ClosedRange<Double>)
        case timestamp
        case duration
        /// An enumeration, given by the names and numbers of its values. A name in `reserved` is an error, because only
        /// the server may set it.
        case enumeration([String: Int64], reserved: Set<String> = [])
        case message(MessageSchema)
        indirect case list(Kind, maximumCount: Int = 10_000)
        /// Route data, which only the navigation SDK sends. Its content isn't checked, except that it must be an
        /// object.
        case route
    }

    /// Whether the client, the server or both may set the field.
    enum Direction: Sendable {
        case both
        /// The server sets the field. A client's value is ignored, and an update mask can't contain the field.
        case outputOnly
        /// The client sets the field, which is never contained in a response.
        case inputOnly
    }

    let kind: Kind
    let direction: Direction

    init(_ kind: Kind, _ direction: Direction = .both) {
        self.kind = kind
        self.direction = direction
    }

    static let anyInt32: Kind = .int32(Int64(Int32.min)...Int64(Int32.max))
    static let anyDouble: Kind = .double(-Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude)
    /// The kind of fields that state an accuracy in metres or degrees, which can't be negative.
    static let accuracy: Kind = .double(0...Double.greatestFiniteMagnitude)
    static let heading: Kind = .int32(0...359)
}

/// The fields that an update changes, each given as a path of JSON names.
struct UpdateMask: Sendable, Hashable {
    let paths: [[String]]

    /// Parses the `updateMask` parameter. It must list known fields that a client may write, separated by commas
    /// without spaces.
    init(_ text: String?, schema: MessageSchema) throws(ErrorAnswer) {
        guard let text, !text.isEmpty else { throw .invalid(field: "updateMask", "update_mask cannot be empty") }
        var paths: [[String]] = []
        for entry in text.split(separator: ",", omittingEmptySubsequences: false) {
            paths.append(try Self.path(of: entry, in: schema))
        }
        self.paths = paths
    }

    private static func path(of entry: Substring, in schema: MessageSchema) throws(ErrorAnswer) -> [String] {
        var path: [String] = []
        var level: MessageSchema? = schema
        for part in entry.split(separator: ".", omittingEmptySubsequences: false) {
            guard let schema = level, let name = schema.fieldName(for: String(part)), let rule = schema.fields[name]
            else {
                throw .invalid(field: "updateMask", "the mask contains an unknown field: \"\(entry)\"")
            }
            guard rule.direction != .outputOnly else {
                throw .invalid(field: "updateMask", "\"\(entry)\" is set by the server and can't be in the mask")
            }
            if case .message(let inner) = rule.kind { level = inner } else { level = nil }
            path.append(name)
        }
        return path
    }

    /// Whether the mask contains the top-level field `name` or a field within it.
    func contains(_ name: String) -> Bool { paths.contains { $0.first == name } }
}

/// A time in protobuf's JSON mapping: RFC 3339 with a time zone and up to nanoseconds, but without leap seconds.
package struct WireTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let time: UTCTime
    /// The nanoseconds to add to `time`, which is in whole milliseconds; 0..<1,000,000.
    private let nanoseconds: Int

    /// Parses a time such as `2026-01-05T10:15:30.25Z`, or one with an offset from UTC. Returns `nil` for other text.
    package init?(_ text: String) {
        guard let read = RFC3339Time(text), !read.isLeapSecond else { return nil }
        time = read.time
        nanoseconds = read.nanoseconds
    }

    package static func < (one: Self, other: Self) -> Bool {
        (one.time, one.nanoseconds) < (other.time, other.nanoseconds)
    }

    /// The time in UTC with 3, 6 or 9 decimals.
    package var description: String {
        guard nanoseconds > 0 else { return time.description }
        let digits = String(1_000_000 + nanoseconds).dropFirst()
        return "\(time.description.dropLast())\(nanoseconds % 1000 == 0 ? digits.dropLast(3) : digits)Z"
    }
}
