/// Text of a page under way: what is not ours is escaped.
struct Markup: Sendable {
    private(set) var text = ""

    /// Adds markup as it stands.
    mutating func add(_ markup: String) {
        text += markup
        text += "\n"
    }

    /// Text that means itself between tags and in quoted attributes; control characters, which a file's name may hold
    /// and a page may not, become question marks.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// A number for an attribute: at most two decimals, no zeros at the end.
    static func number(_ value: Double) -> String {
        var text = FigureText.decimal(value, 2)
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text == "-0" ? "0" : text
    }
}
