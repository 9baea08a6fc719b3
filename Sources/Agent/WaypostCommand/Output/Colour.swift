import LinuxPlatform

/// The colour of a word that says how something went, where a person sees it on a terminal that shows colours.
enum Colour: Int {
    case red = 31, green, yellow

    /// `nil` for a word that says nothing of the kind.
    init?(verdict word: String) {
        switch word {
        case "ok": self = .green
        case "note", "skip", "warning": self = .yellow
        case "FAIL": self = .red
        default: return nil
        }
    }

    /// Whether standard output takes colours: a terminal that knows them, of somebody who has not declined.
    static func isShown(isTerminal: Bool, environment: [String: String]) -> Bool {
        isTerminal && environment["NO_COLOR", default: ""].isEmpty
            && !["", "dumb"].contains(environment["TERM", default: ""])
    }

    /// `word` between the sequences that begin and end the colour.
    func painting(_ word: String) -> String { "\u{1B}[\(rawValue)m\(word)\u{1B}[0m" }
}

extension StandardOutput {
    /// Writes a line that begins with how something went, as `ok`, `note`, `skip`, `warning` or `FAIL`, in its colour;
    /// any other word stays as it is.
    static func write(verdict word: String, _ rest: String) throws(SystemError) {
        let isShown = Colour.isShown(isTerminal: isTerminal, environment: ProcessEnvironment.variables)
        guard isShown, let colour = Colour(verdict: word) else { return try write(line: word + rest) }
        try write(colour.painting(word), line: rest)
    }
}
