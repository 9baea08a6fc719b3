import StrictJSON
import Testing

@Suite struct JSONValues {
    @Test(arguments: [
        ("null", JSONValue.null), ("true", .bool(true)), ("false", .bool(false)), ("271", .integer(271)),
        ("271.0", .integer(271)), ("1e2", .integer(100)), ("-7", .integer(-7)), ("-0", .integer(0)),
        ("271.5", .number(271.5)), ("1E-1", .number(0.1)), ("9223372036854775807", .integer(.max)),
        ("99999999999999999999", .number(1e20)), ("\"\"", .string("")), ("\"aé\\u00e9\"", .string("aéé")),
        ("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", .string("\"\\/\u{8}\u{C}\n\r\t")), ("\"\\ud83d\\ude9a\"", .string("🚚")),
        ("[]", .array([])), ("{}", .object([:])), (" {\"a\" : 1 }\r\n", .object(["a": .integer(1)])),
        ("[1,2.5,\"x\",null]", .array([.integer(1), .number(2.5), .string("x"), .null])),
        (
            "{\"a\":{\"b\":[true]},\"c\":{\"a\":1}}",
            .object(["a": .object(["b": .array([.bool(true)])]), "c": .object(["a": .integer(1)])])
        ),
    ])
    func areParsed(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: Array(text.utf8)) == value)
    }

    @Test func areAccessedByKeyAndIndex() throws {
        let value = try JSONValue(parsing: Array("{\"a\":[1,\"x\",2.5,false,null]}".utf8))
        #expect(value["a"]?[0]?.integerValue == 1)
        #expect(value["a"]?[0]?.doubleValue == 1)
        #expect(value["a"]?[1]?.stringValue == "x")
        #expect(value["a"]?[2]?.integerValue == nil)
        #expect(value["a"]?[2]?.doubleValue == 2.5)
        #expect(value["a"]?[3]?.boolValue == false)
        #expect(value["a"]?[4]?.isNull == true)
        #expect(value["a"]?[5] == nil)
        #expect(value["b"] == nil)
        #expect(value["a"]?.kind == "an array")
    }
}
