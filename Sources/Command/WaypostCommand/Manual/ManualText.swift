import ReportedText
import TimeAndChance
import Operations

/// Builds a manual page in man(7) format.
struct ManualText {
    private(set) var lines: [String]

    /// Starts the page with its header. The date is the release date, so that builds are reproducible.
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

    /// Adds a line that is already in man(7) format.
    mutating func add(verbatim line: String) { lines.append(line) }

    /// Adds a paragraph. Each sentence starts on a new line.
    mutating func add(paragraph text: String) {
        beginParagraph()
        lines += Self.sentences(text)
    }

    /// Adds a term, which may contain font changes, and its meaning.
    mutating func add(term: String, _ meaning: String) { lines += [".TP", term] + Self.sentences(meaning) }

    /// Adds example command lines.
    mutating func add(example: [String]) {
        beginParagraph()
        lines += [".in +4n", ".EX"] + example.map { Self.guarded(Self.literal($0)) } + [".EE", ".in"]
    }

    /// Starts a paragraph, unless a heading has just started one.
    private mutating func beginParagraph() {
        if lines.last?.hasPrefix(".S") != true { lines.append(".PP") }
    }

    /// Returns a command line with literal words in bold and placeholders in italics.
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
    /// Returns a cross-reference to another manual page, such as `gpsd(8)`.
    static func reference(_ page: String) -> String {
        let name = page.prefix { $0 != "(" }
        return bold(String(name)) + page.dropFirst(name.count)
    }

    /// Returns running text. Words that may be copied to a command line keep their ASCII characters.
    private static func plain(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            word.contains("--") || word.contains("/") || word.drop { "(\"".contains($0) }.hasPrefix("-")
                ? literal(String(word)) : String(word).replacing("\\", with: "\\e")
        }.joined(separator: " ")
    }

    /// The escapes for characters that man would replace with typographical ones.
    private static let signs: [Character: String] = [
        "\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti",
    ]

    /// Returns `text` with escapes that preserve its ASCII characters.
    static func literal(_ text: String) -> String { text.map { signs[$0] ?? String($0) }.joined() }

    /// Returns the sentences, wrapped to lines of at most 78 characters.
    private static func sentences(_ text: String) -> [String] {
        text.replacing(". ", with: ".\n").split(separator: "\n").flatMap { plain(String($0)).wrapped(to: 78) }
            .map(guarded)
    }

    /// Returns a line that man doesn't interpret as a request, even if it begins with a full stop.
    private static func guarded(_ line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&\(line)" : line
    }
}
