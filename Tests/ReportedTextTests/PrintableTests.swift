import ReportedText
import Testing

@Suite struct Printable {
    @Test(arguments: [
        ("", ""), ("plain ~ text", "plain ~ text"), ("Zürich 東 ±4 m…", "Zürich 東 ±4 m…"), ("a\tb\nc\rd", "a b c d"),
        ("a\r\nb", "a  b"), ("a\u{85}b\u{2028}c\u{2029}d", "a b c d"), ("\u{1B}[2J", "\u{FFFD}[2J"),
        ("a\u{0}b\u{7F}c\u{9B}d", "a\u{FFFD}b\u{FFFD}c\u{FFFD}d"), ("van\u{202E}7", "van\u{FFFD}7"),
    ])
    func removesControlSequences(text: String, shown: String) {
        #expect(text.printable == shown)
        #expect(text.printable.printable == shown)
    }

    @Test func keepsRequestedLineBreaks() {
        #expect("one\n\n\u{7}two\n".printableLines == "one\n\n\u{FFFD}two\n")
    }
}
