import StrictJSON

/// The line of a configuration with a syntax error, followed by a line with a caret that marks the error.
///
/// Only punctuation and words known to Waypost are shown, because any other text may be a secret.
struct BrokenLine {
    /// The line and the caret's line, each preceded by a line feed; empty if there is nothing to show.
    let lines: String

    /// The words that may be shown: the names of all keys, and JSON's literals.
    static let visibleWords = Set(
        ConfigurationKey.all.map(\.name) + ValueReference.keys + ["scheme", "true", "false", "null"])

    /// The maximum number of characters to show of a line.
    private static let maximumWidth = 100
    private static let quotes: Set<Unicode.Scalar> = ["\"", "'", "`", "“", "”", "„", "‘", "’", "‚", "«", "»"]

    init(of bytes: [UInt8], _ error: JSONValue.ParseError) {
        let start = bytes[..<error.offset].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let end = bytes[error.offset...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        let line = Array(String(decoding: bytes[start..<end], as: UTF8.self).unicodeScalars)
        let place = error.column - 1
        var text = ""[...]
        var caret: Int?
        var index = 0
        while index < line.count {
            let next = Self.end(ofTokenAt: index, in: line)
            let shown = Self.visibleText(of: line[index..<next])
            if caret == nil, next > place { caret = text.count + min(place - index, shown.count - 1) }
            text += shown
            index = next
        }
        guard text.contains(where: { $0 != " " }) else {
            lines = ""
            return
        }
        var mark = caret ?? text.count
        if text.count > Self.maximumWidth {
            let start = max(0, min(mark - Self.maximumWidth * 2 / 3, text.count - Self.maximumWidth))
            let window = text.dropFirst(start).prefix(Self.maximumWidth)
            text = (start > 0 ? "…" : "") + window + (start + window.count < text.count ? "…" : "")
            mark = mark - start + (start > 0 ? 1 : 0)
        }
        let margin = String(repeating: " ", count: "\(error.line)".count)
        lines = "\n  \(error.line) | \(text)\n  \(margin) | \(String(repeating: " ", count: mark))^"
    }

    /// Returns the end of the token at `start`. A token is a string in double quotes, a punctuation character or a
    /// word.
    private static func end(ofTokenAt start: Int, in line: [Unicode.Scalar]) -> Int {
        var index = start + 1
        if line[start] == "\"" {
            while index < line.count, line[index] != "\"" { index += line[index] == "\\" ? 2 : 1 }
            return min(index + 1, line.count)
        }
        if isPunctuation(line[start]) { return index }
        while index < line.count, !isPunctuation(line[index]) { index += 1 }
        return index
    }

    private static func isPunctuation(_ scalar: Unicode.Scalar) -> Bool {
        quotes.contains(scalar) || "{}[],:;=/*#".unicodeScalars.contains(scalar) || scalar.properties.isWhitespace
    }

    /// Returns the text to show for a token: the token itself, or `…` instead of a word that may be a secret.
    private static func visibleText(of token: ArraySlice<Unicode.Scalar>) -> String {
        guard let first = token.first, token.count > 1 || !isPunctuation(first) else {
            return token.first.map { $0.properties.isWhitespace ? " " : String($0) } ?? ""
        }
        let opening = first == "\"" ? 1 : 0
        let closing = opening == 1 && token.count > 1 && token.last == "\"" ? 1 : 0
        let word = String(String.UnicodeScalarView(token.dropFirst(opening).dropLast(closing)))
        let quote = String(repeating: "\"", count: opening)
        return quote + (word.isEmpty || visibleWords.contains(word) ? word : "…") + (closing == 1 ? quote : "")
    }
}
