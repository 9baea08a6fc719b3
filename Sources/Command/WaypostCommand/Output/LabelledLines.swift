/// Lines with a label in front, aligned in columns and of a limited width.
struct LabelledLines {
    private(set) var lines: [String] = []
    private let limit: Int

    static let width = 100
    private static let labelWidth = 13

    /// Lines of at most `limit`, but for words that are longer.
    init(width limit: Int = Self.width) { self.limit = limit }

    /// A line without a label.
    mutating func add(heading: String) { lines.append(heading) }

    /// Lines of which the first one has the label; none when there are no lines.
    mutating func add(_ label: String, _ texts: [String]) {
        for (index, text) in texts.enumerated() {
            let front = index == 0 ? label : ""
            lines.append("  " + front.filled(to: Self.labelWidth) + text)
        }
    }

    /// Words in columns of equal width, as many a line as there is room for.
    mutating func add(_ label: String, inColumns words: [String]) {
        let width = (words.map(\.count).max() ?? 0) + 2
        let perLine = max(1, (limit - Self.labelWidth) / width)
        add(
            label,
            stride(from: 0, to: words.count, by: perLine).map { start in
                let row = words[start..<min(start + perLine, words.count)]
                return row.dropLast().map { $0.filled(to: width) }.joined() + (row.last ?? "")
            })
    }

    /// A text, broken between its words where it is too long.
    mutating func add(_ label: String, wrapped text: String) {
        add(label, text.wrapped(to: limit - Self.labelWidth - 2))
    }
}

extension String {
    /// With spaces behind it, up to `width`.
    func filled(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    /// Its words in lines of at most `width`; one that is longer has a line to itself.
    func wrapped(to width: Int) -> [String] {
        split(separator: " ").reduce(into: []) { lines, word in
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
    }

    /// With spaces before it, up to `width`.
    func flushRight(in width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
