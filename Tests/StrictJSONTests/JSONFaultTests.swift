import StrictJSON
import Testing

@Suite struct JSONFaults {
    @Test(arguments: [
        ("", "line 1, column 1: nothing is here; a JSON document is expected"),
        (" \n", "line 2, column 1: nothing is here; a JSON document is expected"),
        ("{\"a\":1,\n\"a\":2}", "line 2, column 1: the key \"a\" stands twice in this object; remove one"),
        ("{\"a\":1,\"\\u0061\":2}", "line 1, column 8: the key \"a\" stands twice in this object; remove one"),
        // Commas.
        ("{\"a\":1,}", "line 1, column 7: a trailing comma; JSON has none before \"}\", remove it"),
        ("{\n  \"a\": 1 ,\n\n}", "line 2, column 10: a trailing comma; JSON has none before \"}\", remove it"),
        ("[1,]", "line 1, column 3: a trailing comma; JSON has none before \"]\", remove it"),
        ("{\"a\":1,,\"b\":2}", "line 1, column 8: a second comma; remove it"),
        ("[1,,2]", "line 1, column 4: a second comma; remove it"),
        ("[,1]", "line 1, column 2: a comma before the first value; remove it"),
        ("{\"a\":1 \"b\":2}", "line 1, column 7: a comma is missing here"),
        ("{\n\"a\": \"x\"\n  \"b\": 2\n}", "line 2, column 9: a comma is missing here"),
        ("[1 2]", "line 1, column 3: a comma is missing here"),
        ("{\"a\":1;\"b\":2}", "line 1, column 7: a semicolon; JSON separates with commas"),
        // Keys, colons, values.
        ("{1:2}", "line 1, column 2: a key without quotes; write it in double quotes"),
        ("{a:2}", "line 1, column 2: a key without quotes; write it in double quotes"),
        ("{\"a\" 1}", "line 1, column 6: \":\" is missing after the key before"),
        ("{\"a\" = 1}", "line 1, column 6: JSON writes \":\" between key and value, not \"=\""),
        ("{\"a\"}", "line 1, column 5: the key before has no value; write \":\" and a value"),
        ("{\"a\":}", "line 1, column 6: a value is missing after \":\""),
        ("{\"a\":,\"b\":1}", "line 1, column 6: a value is missing before this comma"),
        ("{\"a\"::1}", "line 1, column 6: a second \":\"; remove it"),
        ("{\"a\":\"b\":1}", "line 1, column 9: a second \":\"; is a comma missing?"),
        ("[\"a\":1]", "line 1, column 5: \":\" in an array; keys are for objects, in braces"),
        ("{\n \"a\": tru }", "line 2, column 7: text without quotes; write it in double quotes"),
        ("{\"a\": van-7}", "line 1, column 7: text without quotes; write it in double quotes"),
        ("{\"a\": True}", "line 1, column 7: JSON writes true in small letters"),
        ("{\"a\": None}", "line 1, column 7: JSON writes null here"),
        ("{\"a\": yes}", "line 1, column 7: JSON writes true here"),
        ("{\"a\": off}", "line 1, column 7: JSON writes false here"),
        ("{\"a\": (1)}", "line 1, column 7: a value is expected here"),
        (
            "{\"a\": {{ van }}}",
            "line 1, column 8: \"{{\", as templates write a placeholder; fill the template in first, or remove one brace"
        ),
        // Brackets and ends.
        (
            "{\"a\":[1}",
            "line 1, column 8: \"}\" where an array that begins in line 1 is still open; its \"]\" is missing"
        ),
        (
            "{\n\"a\":{\"b\":1]}",
            "line 2, column 11: \"]\" where an object that begins in line 2 is still open; its \"}\" is missing"
        ),
        ("{\"a\"", "line 1, column 5: the text ends within an object that begins in line 1; its \"}\" is missing"),
        (
            "{\n\"a\":{\"b\":[]",
            "line 2, column 12: the text ends within an object that begins in line 2; its \"}\" is missing"
        ),
        ("[1,", "line 1, column 4: the text ends within an array that begins in line 1; its \"]\" is missing"),
        ("{\"a\":1} x", "line 1, column 9: text after the end of the document"),
        ("{\"a\":1}}", "line 1, column 8: a \"}\" too many"),
        (
            "{\"a\":{}},\"b\":1}",
            "line 1, column 9: text after the end of the document; is the bracket before it one too many?"
        ),
        (
            "{\"a\":1\n\n",
            "line 1, column 7: the text ends within an object that begins in line 1; its \"}\" is missing"
        ),
        ("\"a\": 1", "line 1, column 4: more follows than one value; put braces around the whole document"),
        (String(repeating: "[", count: 65), "line 1, column 65: nested deeper than 64 levels"),
        // What other languages have.
        ("// a\n{}", "line 1, column 1: comments are not JSON; remove it"),
        ("{\"a\":1 // b\n}", "line 1, column 8: comments are not JSON; remove it"),
        ("{ /* b */ \"a\":1}", "line 1, column 3: comments are not JSON; remove it"),
        ("{\"a\":1,\n# b\n}", "line 2, column 1: comments are not JSON; remove it"),
        ("{“a”:1}", "line 1, column 2: a curly quote; JSON has the straight one, \""),
        ("{\"ä\": ”x”}", "line 1, column 7: a curly quote; JSON has the straight one, \""),
        ("```json\n{}", "line 1, column 1: a backtick, as pages put around examples; remove it"),
        ("{'a':1}", "line 1, column 2: a single quote; JSON has the double one, \""),
        ("{\"a\":'b'}", "line 1, column 6: a single quote; JSON has the double one, \""),
        ("<html>", "line 1, column 1: HTML or XML, not JSON"),
        (
            "<<<<<<< HEAD\n{}",
            "line 1, column 1: a conflict mark of git; keep one of the two versions, and remove all three marks"
        ),
        (
            "{\n<<<<<<< HEAD\n\"a\":1\n}",
            "line 2, column 1: a conflict mark of git; keep one of the two versions, and remove all three marks"
        ),
        (
            "{\"a\":1\n=======\n}",
            "line 2, column 1: a conflict mark of git; keep one of the two versions, and remove all three marks"
        ),
        ("{}{}", "line 1, column 3: a second value after the end of the document; keep one of the two"),
        ("vehicle:", "line 1, column 1: not JSON; a document begins with {"),
        ("\u{FEFF}{}", "line 1, column 1: a byte order mark; save the text as UTF-8 without it"),
        ("{\u{A0}\"a\":1}", "line 1, column 2: a space that is none of JSON's (U+A0); write a plain one"),
        ("{\0}", "line 1, column 2: a NUL character; if this is UTF-16 text, save it as UTF-8"),
        // Strings.
        ("\"a", "line 1, column 1: the text ends within a string; its closing quote is missing"),
        (
            "{\"a\": \"x,\n\"b\": 1}",
            "line 1, column 7: a string that does not end in its line; its closing quote is missing"
        ),
        (
            "{\"a: \"x\"}",
            "line 1, column 7: text right behind a quote; is a quote missing before, or one to be written as \\\"?"
        ),
        (
            "{\"a\": \"x\"y\"}",
            "line 1, column 10: text right behind a quote; is a quote missing before, or one to be written as \\\"?"
        ),
        ("\"\t\"", "line 1, column 2: a tab in a string; write it as \\t"),
        ("\"\u{1}\"", "line 1, column 2: a control character in a string; write it as \\u0001"),
        ("\"a\\", "line 1, column 1: the text ends within a string; its closing quote is missing"),
        ("\"C:\\x\"", "line 1, column 4: an unknown escape in a string; a backslash of its own is written as \\\\"),
        ("\"\\u12g4\"", "line 1, column 2: \\u without four hexadecimal digits"),
        ("\"\\ud800\"", "line 1, column 2: half of a surrogate pair in a string"),
        ("\"\\ud800\\u0041\"", "line 1, column 2: half of a surrogate pair in a string"),
        // Numbers.
        ("NaN", "line 1, column 1: NaN and Infinity are no numbers in JSON"),
        ("[-Infinity]", "line 1, column 3: NaN and Infinity are no numbers in JSON"),
        ("{\"a\": 0x1F}", "line 1, column 8: a hexadecimal number; JSON has decimal ones only"),
        ("01", "line 1, column 2: a number with a leading zero; write it without"),
        ("{\"a\": -007}", "line 1, column 9: a number with a leading zero; write it without"),
        ("+1", "line 1, column 1: a plus sign; JSON writes numbers without it"),
        (".5", "line 1, column 1: a number without a digit before its point; write 0 there"),
        ("1.", "line 1, column 3: a number that ends with its point; write a digit behind it"),
        ("{\"a\": 1.}", "line 1, column 9: a number that ends with its point; write a digit behind it"),
        ("{\"a\": 1,5}", "line 1, column 8: a decimal comma; JSON writes a point"),
        ("{\"a\": 9_600}", "line 1, column 8: an underscore in a number; leave it out"),
        (
            "{\"a\": 10s}",
            "line 1, column 9: a number with more behind it; write its digits alone, or a text in double quotes"
        ),
        (
            "{\"a\": 1.2.3}",
            "line 1, column 10: a number with more behind it; write its digits alone, or a text in double quotes"
        ),
        ("-", "line 1, column 2: a digit is missing here"),
        ("[1e]", "line 1, column 4: a digit is missing here"),
        ("[1e999]", "line 1, column 2: a number that is too large: 1e999"),
    ])
    func nameThePlaceAndTheRemedy(text: String, words: String) {
        let error = #expect(throws: JSONValue.ParseError.self) { try JSONValue(parsing: Array(text.utf8)) }
        #expect(error?.description == words)
    }

    @Test(arguments: [
        (
            [0x7B, 0x0A, 0x22, 0xFC, 0x22] as [UInt8],
            "line 2, column 2: the byte 0xFC, which is not UTF-8; save the text as UTF-8"
        ),
        ([0xFF, 0xFE, 0x7B, 0, 0x7D, 0], "line 1, column 1: UTF-16 text; save it as UTF-8"),
        ([0xFE, 0xFF, 0, 0x7B, 0, 0x7D], "line 1, column 1: UTF-16 text; save it as UTF-8"),
        ([0x7B, 0, 0x7D, 0], "line 1, column 2: a NUL character; if this is UTF-16 text, save it as UTF-8"),
    ])
    func nameTheEncoding(bytes: [UInt8], words: String) {
        let error = #expect(throws: JSONValue.ParseError.self) { try JSONValue(parsing: bytes) }
        #expect(error?.description == words)
    }

    /// The words repeat nothing that may be secret, wherever the text breaks: each prefix of a document, with each of
    /// what people put in by mistake behind it, is an error without a secret, and no prefix crashes.
    @Test func repeatNoValue() {
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
