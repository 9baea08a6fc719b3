import ReportedText
import TimeAndChance
import Operations

/// A page of the manual in the making, in the language of man(7).
struct ManualText {
    private(set) var lines: [String]

    /// The head of the page, with the date of the release: two builds of it are the same.
    init(name: String, section: Int, summary: String) {
        let day = Release.date.description.prefix(10)
        let title = "\(name.uppercased()) \(section) \(day) \"waypost \(Release.version)\""
        lines = [
            ".\\\" Made by \"waypost manual \(name).\(section)\"; a change here would be lost.", ".TH \(title)",
            ".nh", ".ad l", ".SH NAME", "\(Self.plain(name)) \\- \(Self.plain(summary))",
        ]
    }

    var text: String { lines.joined(separator: "\n") }

    mutating func add(section name: String) { lines.append(".SH \(name)") }
    mutating func add(subsection name: String) { lines.append(".SS \(Self.literal(name))") }

    /// A line that is in the language of man(7) already.
    mutating func add(verbatim line: String) { lines.append(line) }

    /// A paragraph of whole sentences, each on lines of its own.
    mutating func add(paragraph text: String) {
        beginParagraph()
        lines += Self.sentences(text)
    }

    /// A term, which may have its own type faces, and what it means.
    mutating func add(term: String, _ meaning: String) { lines += [".TP", term] + Self.sentences(meaning) }

    /// Lines as they would be typed.
    mutating func add(example: [String]) {
        beginParagraph()
        lines += [".in +4n", ".EX"] + example.map { Self.guarded(Self.literal($0)) } + [".EE", ".in"]
    }

    /// A heading begins a paragraph itself.
    private mutating func beginParagraph() {
        if lines.last?.hasPrefix(".S") != true { lines.append(".PP") }
    }

    /// As the command line is written: what is typed as it stands in bold, what stands for something else in italics.
    static func usage(_ text: String) -> String {
        var result = ""
        var word = ""
        func styled(_ word: String) -> String {
            guard !word.isEmpty else { return "" }
            let isPlaceholder = word.contains { $0.isLetter } && word == word.uppercased() && !word.hasPrefix("-")
            return "\\f\(isPlaceholder ? "I" : "B")\(literal(word))\\fR"
        }
        for character in text {
            if character.isLetter || character.isNumber || character == "-" {
                word.append(character)
            } else {
                result += styled(word) + literal(String(character))
                word = ""
            }
        }
        return result + styled(word)
    }

    static func bold(_ text: String) -> String { "\\fB\(literal(text))\\fR" }
    static func italic(_ text: String) -> String { "\\fI\(literal(text))\\fR" }
    /// Another page, as `gpsd(8)`.
    static func reference(_ page: String) -> String {
        let name = page.prefix { $0 != "(" }
        return bold(String(name)) + page.dropFirst(name.count)
    }

    /// Running text, in which what may be copied to a command line keeps its signs.
    private static func plain(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            word.contains("--") || word.contains("/") || word.drop { "(\"".contains($0) }.hasPrefix("-")
                ? literal(String(word)) : String(word).replacing("\\", with: "\\e")
        }.joined(separator: " ")
    }

    /// Signs of which man would make typographical ones, and how they are written.
    private static let signs: [Character: String] = [
        "\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti",
    ]

    /// Signs as they are on a keyboard, and not the typographical ones that man would make of them.
    static func literal(_ text: String) -> String { text.map { signs[$0] ?? String($0) }.joined() }

    /// Sentence after sentence, in lines that are not long.
    private static func sentences(_ text: String) -> [String] {
        text.replacing(". ", with: ".\n").split(separator: "\n").flatMap { plain(String($0)).wrapped(to: 78) }
            .map(guarded)
    }

    /// Not a request, whatever it begins with.
    private static func guarded(_ line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&\(line)" : line
    }
}
