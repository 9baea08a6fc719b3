import ReportedText
import Testing

@Suite struct LiteralSearch {
    @Test(arguments: [
        ("https://a.b", "://", 5..<8), ("://", "://", 0..<3), ("a:/:///", "://", 3..<6), ("a:/", "://", nil),
        ("", "://", nil), ("äb", "b", 2..<3), ("a\r\nb", "\n", 2..<3),
    ])
    func findsTheFirstMatch(text: String, literal: String, expected: Range<Int>?) {
        let found = text.firstRange(of: literal)
        #expect(found.map { text.utf8.offset(of: $0) } == expected)
        #expect(text.contains(literal) == (expected != nil))
    }

    @Test(arguments: [
        ("a\"b\"", "\"", "\\\"", "a\\\"b\\\""), ("aaa", "aa", "b", "ba"), ("none", "x", "y", "none"),
        ("{a}/{a}", "{a}", "{a}{a}", "{a}{a}/{a}{a}"),
        // A quotation mark with an accent is a single character to a reader, but a quotation mark to a parser.
        ("\"\u{301}", "\"", "\\\"", "\\\"\u{301}"),
    ])
    func replacesEachMatch(text: String, literal: String, replacement: String, expected: String) {
        #expect(Array(text.replacing(literal, with: replacement).utf8) == Array(expected.utf8))
    }

    @Test func keepsTheIndicesOfASubstring() {
        let text = "no://, yes://"
        let part = text.dropFirst(6)
        #expect(part.firstRange(of: "://").map { text[..<$0.lowerBound] } == "no://, yes")
    }
}

extension String.UTF8View {
    fileprivate func offset(of range: Range<Index>) -> Range<Int> {
        distance(from: startIndex, to: range.lowerBound)..<distance(from: startIndex, to: range.upperBound)
    }
}
