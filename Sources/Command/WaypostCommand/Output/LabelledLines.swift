/// Lines of output with labels in the first column. Long text is wrapped.
struct LabelledLines {
    private(set) var lines: [String] = []
    private let limit: Int

    static let width = 100
    private static let labelWidth = 13

    /// Creates lines of at most `limit` characters. Only a word that is longer exceeds the limit.
    init(width limit: Int = Self.width) { self.limit = limit }

    /// Adds a line without a label.
    mutating func add(heading: String) { lines.append(heading) }

    /// Adds lines. Only the first one has the label.
    mutating func add(_ label: String, _ texts: [String]) {
        for (index, text) in texts.enumerated() {
            let front = index == 0 ? label : ""
            lines.append("  " + front.padded(to: Self.labelWidth) + text)
        }
    }

    /// Adds words in as many columns of equal width as fit.
    mutating func add(_ label: String, inColumns words: [String]) {
        let width = (words.map(\.count).max() ?? 0) + 2
        let perLine = max(1, (limit - Self.labelWidth) / width)
        add(
            label,
            stride(from: 0, to: words.count, by: perLine).map { start in
                let row = words[start..<min(start + perLine, words.count)]
                return row.dropLast().map { $0.padded(to: width) }.joined() + (row.last ?? "")
            })
    }

    /// Adds text, which is wrapped between words if it is too long.
    mutating func add(_ label: String, wrapped text: String) {
        add(label, text.wrapped(to: limit - Self.labelWidth - 2))
    }
}

extension String {
    /// Returns the text padded with trailing spaces to `width`.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    /// Returns the words in lines of at most `width` characters. A longer word is alone on its line.
    func wrapped(to width: Int) -> [String] {
        split(separator: " ").reduce(into: []) { lines, word in
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
    }

    /// Returns the text padded with leading spaces to `width`.
    func leftPadded(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
