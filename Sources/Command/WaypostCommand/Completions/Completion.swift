/// The completions that a shell offers for the last word of a command line.
enum Completion: Sendable, Hashable {
    case files, directories
    case words([Word])

    /// A word to offer, with a short description.
    struct Word: Sendable, Hashable {
        let text: String
        let summary: String
    }

    /// Creates the completions for the last of `words`, which are the words of the command line after the program's
    /// name.
    init(of words: [String]) {
        // bash splits `--option=value` into three words, so the word `=` is removed.
        var words = words
        if words.last == "=" { words.append("") }
        words.removeAll { $0 == "=" }
        let word = words.popLast() ?? ""
        guard let name = words.first else {
            self = Self.words(CommandCatalog.commands.map { Word(text: $0.name, summary: $0.summary) })
                .adding([.version, .help]).filtered(byPrefix: word)
            return
        }
        guard let command = CommandCatalog.commands.first(where: { $0.name == name }) else {
            self = .words([])
            return
        }
        self = Self.completions(for: command, after: words.dropFirst(), isOption: word.hasPrefix("-"))
            .filtered(byPrefix: word)
    }

    private static func completions(for command: CommandSpec, after given: ArraySlice<String>, isOption: Bool) -> Self {
        let hasOptions = !given.contains("--")
        if hasOptions, let option = command.options.first(where: { $0.name == given.last }),
            let completion = option.valueCompletion
        {
            return completion
        }
        let operand = command.operandCompletion
        guard hasOptions, isOption || operand == .words([]) else {
            if case .words(let choices) = operand, choices.contains(where: { given.contains($0.text) }) {
                return .words([])
            }
            return operand
        }
        return Self.words([])
            .adding(command.options.filter { $0.isRepeatable || !given.contains($0.name) } + [.help])
    }

    private func adding(_ options: [OptionSpec]) -> Self {
        guard case .words(let words) = self else { return self }
        return .words(words + options.map { Word(text: $0.name, summary: $0.help) })
    }

    private func filtered(byPrefix prefix: String) -> Self {
        guard case .words(let words) = self else { return self }
        return .words(words.filter { $0.text.hasPrefix(prefix) })
    }

    /// The lines that a shell's completion script reads: `:files`, `:directories`, or one line per word with its
    /// summary.
    var lines: [String] {
        switch self {
        case .files: [":files"]
        case .directories: [":directories"]
        case .words(let words): words.map { $0.summary.isEmpty ? $0.text : "\($0.text) \($0.summary)" }
        }
    }
}

extension OptionSpec {
    fileprivate static let help = flag("--help", "show how the command is used")
    fileprivate static let version = flag("--version", "print the version")

    /// The completions for the option's value; `nil` for a flag.
    fileprivate var valueCompletion: Completion? {
        guard choices.isEmpty else { return .words(choices.map { Completion.Word(text: $0, summary: "") }) }
        return valueName.map { $0 == "FILE" ? .files : $0 == "DIR" ? .directories : .words([]) }
    }
}

extension CommandSpec {
    /// The completions for an operand of the command.
    fileprivate var operandCompletion: Completion {
        switch operands {
        case .none: .words([])
        case .oneOrMore, .any: .files
        case .optional("COMMAND"):
            .words(CommandCatalog.commands.map { Completion.Word(text: $0.name, summary: $0.summary) })
        case .optional: .files
        case .oneOf(let choices): .words(choices.map { Completion.Word(text: $0, summary: "") })
        }
    }
}
