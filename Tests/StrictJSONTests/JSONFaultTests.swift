import StrictJSON
import Testing

@Suite struct JSONFaults {
    @Test(arguments: [
        ("", "line 1, column 1: the text is empty; write a JSON document"),
        (" \n", "line 2, column 1: the text is empty; write a JSON document"),
        ("{\"a\":1,\n\"a\":2}", "line 2, column 1: the key \"a\" is in this object twice; remove one of them"),
        ("{\"a\":1,\"\\u0061\":2}", "line 1, column 8: the key \"a\" is in this object twice; remove one of them"),
        // Commas.
        ("{\"a\":1,}", "line 1, column 7: a trailing comma; remove it"),
        ("{\n  \"a\": 1 ,\n\n}", "line 2, column 10: a trailing comma; remove it"),
        ("[1,]", "line 1, column 3: a trailing comma; remove it"),
        ("{\"a\":1,,\"b\":2}", "line 1, column 8: a key is missing here; write a key in double quotes"),
        (
            "[,1]",
            "line 1, column 2: a value is missing here; write text in double quotes, or a number, true, false or null"
        ),
        ("{\"a\":1 \"b\":2}", "line 1, column 7: a comma is missing here"),
        ("{\n\"a\": \"x\"\n  \"b\": 2\n}", "line 2, column 9: a comma is missing here"),
        ("{\"a\":1;\"b\":2}", "line 1, column 7: a semicolon; write a comma"),
        // Keys, colons, values.
        ("{a:2}", "line 1, column 2: a key without quotes; write it in double quotes"),
        ("{\"a\": 48,1}", "line 1, column 9: a comma in a number; write a point"),
        ("{\"a\" 1}", "line 1, column 6: \":\" is missing after the key"),
        ("{\"a\" = 1}", "line 1, column 6: \"=\"; write \":\""),
        ("{\"a\"}", "line 1, column 5: \":\" is missing after the key"),
        (
            "{\"a\":}",
            "line 1, column 6: a value is missing here; write text in double quotes, or a number, true, false or null"
        ),
        (
            "{\"a\": van-7}",
            "line 1, column 7: a value that isn't JSON; write text in double quotes, or a number, true, false or null"
        ),
        (
            "{\"a\": True}",
            "line 1, column 7: a value that isn't JSON; write text in double quotes, or a number, true, false or null"
        ),
        // Brackets, and the end of the text.
        ("{\"a\":[1}", "line 1, column 8: \"]\" is missing for the bracket on line 1"),
        ("{\n\"a\":{\"b\":1]}", "line 2, column 11: \"}\" is missing for the bracket on line 2"),
        ("{\"a\"", "line 1, column 5: \"}\" is missing for the bracket on line 1"),
        ("{\n\"a\":{\"b\":[]", "line 2, column 12: \"}\" is missing for the bracket on line 2"),
        ("{\"a\":1\n\n", "line 1, column 7: \"}\" is missing for the bracket on line 1"),
        ("[1,", "line 1, column 4: \"]\" is missing for the bracket on line 1"),
        ("{\"a\":1} x", "line 1, column 9: text after the end of the document; remove it"),
        ("{\"a\":1}}", "line 1, column 8: text after the end of the document; remove it"),
        (String(repeating: "[", count: 65), "line 1, column 65: nested deeper than 64 levels"),
        // Syntax of other languages.
        ("// a\n{}", "line 1, column 1: a comment, which JSON doesn't allow; remove it"),
        ("{\"a\":1 // b\n}", "line 1, column 8: a comment, which JSON doesn't allow; remove it"),
        ("{ /* b */ \"a\":1}", "line 1, column 3: a comment, which JSON doesn't allow; remove it"),
        ("{\"a\":1,\n# b\n}", "line 2, column 1: a comment, which JSON doesn't allow; remove it"),
        ("{“a”:1}", "line 1, column 2: a quote that JSON doesn't allow; write \""),
        ("```json\n{}", "line 1, column 1: a quote that JSON doesn't allow; write \""),
        ("{\"a\":'b'}", "line 1, column 6: a quote that JSON doesn't allow; write \""),
        ("<html>", "line 1, column 1: not JSON; a document begins with {"),
        ("vehicle:", "line 1, column 1: not JSON; a document begins with {"),
        ("\u{FEFF}{}", "line 1, column 1: an invisible character; save the text as UTF-8 without a byte order mark"),
        ("{\u{A0}\"a\":1}", "line 1, column 2: a space that JSON doesn't allow; write a plain space"),
        ("{\0}", "line 1, column 2: an invisible character; save the text as UTF-8 without a byte order mark"),
        // Strings.
        ("\"a", "line 1, column 1: a string without a closing quote on its line; add the quote"),
        ("{\"a\": \"x,\n\"b\": 1}", "line 1, column 7: a string without a closing quote on its line; add the quote"),
        (
            "{\"a\": \"x\"y\"}",
            "line 1, column 10: a value that isn't JSON; write text in double quotes, or a number, true, false or null"
        ),
        ("\"\t\"", "line 1, column 2: a control character in a string; write it as \\u and four digits"),
        ("\"C:\\x\"", "line 1, column 4: an unknown escape in a string; write a backslash as \\\\"),
        ("\"\\u12g4\"", "line 1, column 2: \\u without four hexadecimal digits"),
        ("\"\\ud800\"", "line 1, column 2: an unpaired surrogate in a string"),
        ("\"\\ud800\\u0041\"", "line 1, column 2: an unpaired surrogate in a string"),
        // Numbers.
        ("NaN", "line 1, column 1: not JSON; a document begins with {"),
        (
            "{\"a\": 0x1F}",
            "line 1, column 8: a value that isn't JSON; write text in double quotes, or a number, true, false or null"
        ),
        (
            "{\"a\": 10s}",
            "line 1, column 9: a value that isn't JSON; write text in double quotes, or a number, true, false or null"
        ),
        ("1.", "line 1, column 3: a digit is missing in this number"),
        ("-", "line 1, column 2: a digit is missing in this number"),
        ("[1e999]", "line 1, column 2: a number that is too large: 1e999"),
    ])
    func statePlaceAndRemedy(text: String, message: String) {
        let error = #expect(throws: JSONValue.ParseError.self) { try JSONValue(parsing: Array(text.utf8)) }
        #expect(error?.description == message)
    }

    @Test(arguments: [
        ([0x7B, 0x0A, 0x22, 0xFC, 0x22] as [UInt8], "line 2, column 2: the text is not UTF-8; save it as UTF-8"),
        ([0xFF, 0xFE, 0x7B, 0, 0x7D, 0], "line 1, column 1: the text is not UTF-8; save it as UTF-8"),
    ])
    func reportTextThatIsNotUTF8(bytes: [UInt8], message: String) {
        let error = #expect(throws: JSONValue.ParseError.self) { try JSONValue(parsing: bytes) }
        #expect(error?.description == message)
    }

    /// Each prefix of a document, followed by each common error, yields an error message that shows no value of the
    /// document.
    @Test func showNoValues() {
        let text = Array("{\"a\": [\"hush\", 1.5e3, {\"b\": \"hush\\n\"}], \"c\": null, \"d\": -0.5}".utf8)
        for end in text.indices {
            for mistake in [
                "", ",", "}", "]", ":", "'", "“", "hush", "0", "x", "//", "\n", "\"", "\\", "\u{FEFF}", "\0",
            ] {
                do { _ = try JSONValue(parsing: text[..<end] + Array(mistake.utf8)) } catch {
                    #expect(!error.description.contains("hush"), "\(error)")
                    #expect(!error.problem.isEmpty && error.line == 1 + (mistake == "\n" && error.offset > end ? 1 : 0))
                }
            }
        }
    }
}
