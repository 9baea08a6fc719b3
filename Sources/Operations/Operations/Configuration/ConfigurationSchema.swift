import BackendAuthorization
package import StrictJSON

/// The JSON schema (draft 2020-12) of the configuration, generated from the declared keys.
///
/// The schema describes neither the content of strings, such as URLs, nor rules that involve two keys. Only the code
/// that reads the configuration checks these.
package enum ConfigurationSchema {
    package static let document: JSONValue = {
        guard case .object(var schema) = sectionSchema(at: "", among: ConfigurationKey.all) else { return .null }
        schema["$schema"] = .string("https://json-schema.org/draft/2020-12/schema")
        schema["title"] = .string("Configuration of Waypost")
        schema["$defs"] = .object([
            "reference": reference(hasScheme: false), "headerReference": reference(hasScheme: true),
        ])
        return .object(schema)
    }()

    /// Returns the schema of the section at `path`.
    private static func sectionSchema(at path: String, among keys: [ConfigurationKey]) -> JSONValue {
        let members = keys.filter { parent(of: $0.path) == path }
        let common = members.filter { $0.type == nil }
        guard case .choice(let types)? = common.first(where: { $0.name == "type" })?.form else {
            return objectSchema(with: members, among: keys, isClosed: true)
        }
        // Editors show the best messages if the schema lists the allowed keys separately for each type.
        let cases = types.map { type -> JSONValue in
            let isType = object([
                "properties": .object(["type": .object(["const": .string(type)])]), "required": list(["type"]),
            ])
            let then = objectSchema(
                with: members.filter { $0.type == type || $0.type == nil }, among: keys, isClosed: true)
            return object(["if": isType, "then": then])
        }
        guard case .object(var schema) = objectSchema(with: common, among: keys, isClosed: false) else { return .null }
        schema["allOf"] = .array(cases)
        return .object(schema)
    }

    private static func objectSchema(with members: [ConfigurationKey], among keys: [ConfigurationKey], isClosed: Bool)
        -> JSONValue
    {
        var schema: [String: JSONValue] = [
            "type": .string("object"),
            "properties": .object(
                Dictionary(
                    members.map { ($0.name, keySchema(of: $0, among: keys)) },
                    uniquingKeysWith: { first, _ in first })),
        ]
        let required = members.filter(\.isRequired).map(\.name)
        if !required.isEmpty { schema["required"] = list(required) }
        if isClosed { schema["additionalProperties"] = .bool(false) }
        return .object(schema)
    }

    private static func keySchema(of key: ConfigurationKey, among keys: [ConfigurationKey]) -> JSONValue {
        var schema = valueSchema(of: key, among: keys).objectValue ?? [:]
        schema["description"] = .string(key.description)
        if let fallback = key.fallback { schema["default"] = fallback }
        return .object(schema)
    }

    private static func valueSchema(of key: ConfigurationKey, among keys: [ConfigurationKey]) -> JSONValue {
        switch key.form {
        case .section: sectionSchema(at: key.path, among: keys)
        case .string: orReference(nonEmptyString)
        case .choice(let words): orReference(object(["enum": list(words)]))
        case .flag: object(["type": .string("boolean")])
        case .integer(let range, nil): integer(in: range)
        case .integer(let range, let word?): anyOf([integer(in: range), object(["const": .string(word)])])
        case .number(let numbers, let word):
            object(["enum": .array(numbers.map { .integer(Int64($0)) } + [.string(word)])])
        case .seconds(let range): number(in: range)
        case .strings:
            object([
                "type": .string("array"), "minItems": .integer(1),
                "items": orReference(object(["type": .string("string")])),
            ])
        case .circles(let count):
            object([
                "type": .string("array"), "maxItems": .integer(Int64(count)),
                "items": object([
                    "type": .string("object"), "additionalProperties": .bool(false),
                    "required": list(CircleMember.all.map(\.name)),
                    "properties": object(
                        Dictionary(uniqueKeysWithValues: CircleMember.all.map { ($0.name, number(in: $0.range)) })),
                ]),
            ])
        case .secret: orReference(object(["type": .string("string")]))
        case .secrets(let asHeaders):
            object([
                "type": .string("object"),
                "additionalProperties": orReference(
                    object(["type": .string("string")]), to: asHeaders ? "headerReference" : "reference"),
            ])
        }
    }

    private static let nonEmptyString = object(["type": .string("string"), "minLength": .integer(1)])

    private static func integer(in range: ClosedRange<Int>) -> JSONValue {
        object([
            "type": .string("integer"), "minimum": .integer(Int64(range.lowerBound)),
            "maximum": .integer(Int64(range.upperBound)),
        ])
    }

    private static func number(in range: ClosedRange<Double>) -> JSONValue {
        object(["type": .string("number"), "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)])
    }

    private static func orReference(_ schema: JSONValue, to definition: String = "reference") -> JSONValue {
        anyOf([schema, object(["$ref": .string("#/$defs/\(definition)")])])
    }

    private static func reference(hasScheme: Bool) -> JSONValue {
        anyOf(
            ValueReference.keys.map { key in
                var properties = [key: nonEmptyString]
                if hasScheme {
                    properties["scheme"] = object(["enum": list(HeaderTemplate.Scheme.allCases.map(\.rawValue))])
                }
                return object([
                    "type": .string("object"), "properties": .object(properties), "required": list([key]),
                    "additionalProperties": .bool(false),
                ])
            })
    }

    private static func anyOf(_ schemas: [JSONValue]) -> JSONValue { object(["anyOf": .array(schemas)]) }
    private static func object(_ members: [String: JSONValue]) -> JSONValue { .object(members) }
    private static func list(_ words: [String]) -> JSONValue { .array(words.map(JSONValue.string)) }

    private static func parent(of path: String) -> String {
        path.lastIndex(of: ".").map { String(path[..<$0]) } ?? ""
    }
}
