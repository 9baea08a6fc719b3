/// `Codable` support without Foundation, for objects, arrays, strings, booleans, integers and doubles.
extension JSONValue {
    /// Encodes `value`, omitting optional members that are `nil`.
    package init(encoding value: some Encodable) throws {
        let node = EncodingNode()
        try node.set(value)
        self = node.value
    }

    /// Returns a `Value` decoded from this JSON value. Members that `type` doesn't have are ignored.
    package func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        let plain: Any? =
            switch type {
            case is String.Type: stringValue
            case is Bool.Type: boolValue
            case is Double.Type: doubleValue
            case is Int.Type: integerValue.flatMap(Int.init(exactly:))
            case is Int64.Type: integerValue
            default: try type.init(from: DecodedTree(self))
            }
        guard let value = plain as? Value else { throw JSONShapeError() }
        return value
    }
}

/// The error for a value that doesn't have the expected shape.
struct JSONShapeError: Error {}

/// A value that is being encoded. It also serves as the container for its elements.
private final class EncodingNode: Encoder, UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private var plain = JSONValue.null
    fileprivate var members: [String: EncodingNode]?
    private var elements: [EncodingNode]?

    var count: Int { elements?.count ?? 0 }

    var value: JSONValue {
        if let members { return .object(members.mapValues(\.value)) }
        return elements.map { .array($0.map(\.value)) } ?? plain
    }

    func set(_ value: some Encodable) throws {
        switch value {
        case let text as String: plain = .string(text)
        case let isTrue as Bool: plain = .bool(isTrue)
        case let number as Double: plain = .number(number)
        case let number as any BinaryInteger: plain = .integer(Int64(clamping: number))
        default: try value.encode(to: self)
        }
    }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        members = members ?? [:]
        return KeyedEncodingContainer(EncodedMembers(node: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        elements = elements ?? []
        return self
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// The value to encode next, which is a new element if this is an array, and otherwise this value itself.
    private var next: EncodingNode {
        guard elements != nil else { return self }
        let element = EncodingNode()
        elements?.append(element)
        return element
    }

    func encodeNil() { next.plain = .null }
    func encode(_ value: some Encodable) throws { try next.set(value) }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next.unkeyedContainer() }
    func superEncoder() -> any Encoder { next }

    func nestedContainer<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> { next.container(keyedBy: type) }
}

/// The members of an object that is being encoded.
private struct EncodedMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: EncodingNode
    var codingPath: [any CodingKey] { [] }

    private func member(forKey key: Key) -> EncodingNode {
        let member = EncodingNode()
        node.members?[key.stringValue] = member
        return member
    }

    func encodeNil(forKey key: Key) { _ = member(forKey: key) }
    func encode(_ value: some Encodable, forKey key: Key) throws { try member(forKey: key).set(value) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        member(forKey: key).unkeyedContainer()
    }
    func superEncoder(forKey key: Key) -> any Encoder { member(forKey: key) }
    func superEncoder() -> any Encoder { node }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        member(forKey: key).container(keyedBy: type)
    }
}

/// A value that is being decoded.
private struct DecodedTree: Decoder, SingleValueDecodingContainer {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let members = value.objectValue else { throw JSONShapeError() }
        return KeyedDecodingContainer(DecodedMembers(members: members))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = value.arrayValue else { throw JSONShapeError() }
        return DecodedElements(elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { value.isNull }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value.decoded() }
}

/// The elements of an array that is being decoded.
private struct DecodedElements: UnkeyedDecodingContainer {
    let elements: [JSONValue]
    let codingPath: [any CodingKey] = []
    private(set) var currentIndex = 0

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    private mutating func nextElement() throws -> JSONValue {
        guard !isAtEnd else { throw JSONShapeError() }
        defer { currentIndex += 1 }
        return elements[currentIndex]
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex].isNull else { return false }
        return try nextElement().isNull
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try nextElement().decoded() }
    mutating func superDecoder() throws -> any Decoder { DecodedTree(try nextElement()) }

    mutating func nestedContainer<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try DecodedTree(nextElement()).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try DecodedTree(nextElement()).unkeyedContainer()
    }
}

/// The members of an object that is being decoded.
private struct DecodedMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [String: JSONValue]
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { members.keys.compactMap(Key.init) }

    private func member(forKey key: Key) throws -> JSONValue {
        guard let member = members[key.stringValue] else { throw JSONShapeError() }
        return member
    }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try member(forKey: key).isNull }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try member(forKey: key).decoded()
    }
    func superDecoder(forKey key: Key) throws -> any Decoder { try DecodedTree(member(forKey: key)) }
    func superDecoder() -> any Decoder { DecodedTree(.object(members)) }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try DecodedTree(member(forKey: key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try DecodedTree(member(forKey: key)).unkeyedContainer()
    }
}
