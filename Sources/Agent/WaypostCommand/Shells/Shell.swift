import ReportedText

/// The shells that can complete Waypost's command line.
enum Shell: String, CaseIterable {
    case bash, zsh, fish

    /// A script of this shell, made of the catalog of commands; it does not start the program.
    var completions: String {
        switch self {
        case .bash: BashCompletions.text
        case .zsh: ZshCompletions.text
        case .fish: FishCompletions.text
        }
    }

    /// `text` as one word, between single quotes.
    func quoted(_ text: String) -> String {
        let inner =
            self == .fish
            ? text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") : text.replacing("'", with: "'\\''")
        return "'\(inner)'"
    }
}

/// What a shell offers in one place of the command line.
enum Offer: Sendable, Hashable {
    case files, folders
    case words([String])
    /// Nothing: only its user knows.
    case nothing
}

extension OptionSpec {
    /// What is offered for its value; `nil` for a flag.
    var offer: Offer? {
        guard choices.isEmpty else { return .words(choices) }
        return valueName.map { $0 == "FILE" ? .files : $0 == "DIR" ? .folders : .nothing }
    }
}

extension CommandSpec {
    /// What is offered for its operands.
    var offer: Offer {
        switch operands {
        case .none: .nothing
        case .oneOrMore, .any: .files
        case .optional(let name): name == "COMMAND" ? .words(CommandCatalog.commands.map(\.name)) : .files
        case .oneOf(let choices): .words(choices)
        }
    }
}

extension OptionSpec {
    /// What every command has, and a command line without one.
    static let help = OptionSpec.flag("--help", "show how it is used")
    static let version = OptionSpec.flag("--version", "print the version")
}
