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
    func isRead(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: Array(text.utf8)) == value)
    }

    @Test(arguments: [
        ("", "line 1, column 1: is empty; a JSON document is expected"),
        (" \n", "line 2, column 1: is empty; a JSON document is expected"),
        ("{\"a\":1,\n\"a\":2}", "line 2, column 1: has the key \"a\" twice in one object"),
        ("{\"a\":1,\"\\u0061\":2}", "line 1, column 8: has the key \"a\" twice in one object"),
        ("{\"a\":1,}", "line 1, column 8: expects a key in double quotes"),
        ("[1,]", "line 1, column 4: expects a value here"),
        ("<html>", "line 1, column 1: expects a value here"),
        ("{\"a\":1} x", "line 1, column 9: continues after the end of the document"),
        ("{\n \"a\": tru }", "line 2, column 7: expects a value here"),
        ("{1:2}", "line 1, column 2: expects a key in double quotes"),
        ("{\"a\"", "line 1, column 5: expects \":\" after the key \"a\""),
        ("{\"a\":", "line 1, column 6: ends in the middle of the document"),
        ("{\"a\":1 \"b\":2}", "line 1, column 8: expects a comma or \"}\""),
        ("[1 2]", "line 1, column 4: expects a comma or \"]\""),
        ("\"a", "line 1, column 1: has a string without its closing quote"),
        ("\"a\\", "line 1, column 3: has an unknown escape in a string"),
        ("\"\\x\"", "line 1, column 2: has an unknown escape in a string"),
        ("\"\\u12g4\"", "line 1, column 2: has \"\\u\" without four hexadecimal digits"),
        ("\"\\ud800\"", "line 1, column 2: has half of a surrogate pair in a string"),
        ("\"\\ud800\\u0041\"", "line 1, column 2: has half of a surrogate pair in a string"),
        ("\"\t\"", "line 1, column 2: has a control character in a string; write it as an escape"),
        ("NaN", "line 1, column 1: expects a value here"),
        ("01", "line 1, column 2: continues after the end of the document"),
        ("+1", "line 1, column 1: expects a value here"), ("1.", "line 1, column 3: expects a digit"),
        ("-", "line 1, column 2: expects a digit"), ("1e", "line 1, column 3: expects a digit"),
        ("[1e999]", "line 1, column 2: has a number that is too large: 1e999"),
        (String(repeating: "[", count: 65), "line 1, column 65: is nested deeper than 64 levels"),
        ("{\0}", "line 1, column 2: expects a key in double quotes"),
    ])
    func isRefused(text: String, words: String) {
        let error = #expect(throws: JSONValue.ParseError.self) { try JSONValue(parsing: Array(text.utf8)) }
        #expect(error?.description == words)
    }

    @Test func mustBeUTF8() {
        #expect(throws: JSONValue.ParseError.self) { try JSONValue(parsing: [0x22, 0xFF, 0x22]) }
        #expect(throws: JSONValue.ParseError.self) { try JSONValue(parsing: [0xFF, 0xFE, 0x7B, 0, 0x7D, 0]) }
    }

    @Test func isAskedByKeyAndPlace() throws {
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
