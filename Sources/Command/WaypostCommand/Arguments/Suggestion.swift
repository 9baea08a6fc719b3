import FleetEngine
import LinuxPlatform
import Operations

/// Suggestions for words that Waypost doesn't know. A suggestion is appended to an error message, so it starts with a
/// semicolon. It is empty if there is no good guess.
enum Suggestion {
    /// Commands that users know from other programs, with Waypost's equivalents.
    private static let equivalents = [
        "version": "--version", "-V": "--version", "-v": "--version", "start": "run, or systemctl start waypost",
        "daemon": "run", "logs": "journalctl -u waypost",
        "stop": "systemctl stop waypost", "restart": "systemctl restart waypost", "reload": "systemctl reload waypost",
        "validate": "check", "decode": "fixes", "diagnose": "why",
    ]

    /// Options that users know from other programs, with Waypost's equivalents.
    private static let commonOptions = [
        "-c": "--config", "-f": "--format", "--output": "-o", "--port": "--listen",
    ]

    /// Returns the suggestion for the unknown command `word`.
    static func command(for word: String) -> String {
        if word.hasPrefix("-"), equivalents[word] == nil {
            let name = word.withoutHyphens
            if word != "--config", CommandCatalog.commands.contains(where: { $0.name == name }) {
                return question(suggesting: name)
            }
            let owners = CommandCatalog.commands.filter { $0.options.contains { $0.name == word } }
            let owner = owners.count == 1 ? owners[0].name : "COMMAND"
            return "; the command comes first: waypost \(owner) \(word)"
        }
        return nearest(to: word, among: CommandCatalog.commands.map(\.name), equivalents: equivalents)
    }

    /// Returns the suggestion for `word`, which isn't an option of `command`.
    static func option(for word: String, of command: CommandSpec) -> String {
        if ["-v", "--verbose"].contains(word), command.name == "run" {
            return "; set \"log.level\" in the configuration"
        }
        let names = command.options.map(\.name)
        if let known = commonOptions[word], names.contains(known) { return question(suggesting: known) }
        let guess = Spelling.nearest(to: word.withoutHyphens, among: names.map(\.withoutHyphens))
        // A flag has no value that would show the mistake, so its guess must be certain: --offline isn't --online.
        let named = command.options.first { option in
            guess == option.name.withoutHyphens
                && (option.valueName != nil || Spelling.distance(word, option.name) <= 1)
        }
        if let named { return question(suggesting: named.name) }
        let owners = CommandCatalog.commands.filter { $0.options.contains { $0.name == word } }.map(\.name)
        if !owners.isEmpty {
            return "; \(owners.joined(separator: ", ")) \(owners.count == 1 ? "accepts" : "accept") it"
        }
        guard command.name == "run" else { return "" }
        let key = ConfigurationKey.pathSuggestion(for: word.withoutHyphens)
        return key.map { "; set \($0) in the configuration, which is the file given by --config" } ?? ""
    }

    /// Returns the suggestion for `word`, an operand that `command` doesn't accept. `previous` is the operand before
    /// `word`, if any.
    static func operand(_ word: String, of command: CommandSpec, following previous: String = "") -> String {
        var option = ["watch": "--trip", "simulator": "--listen", "bundle": "-o"][command.name]
        if word.hasSuffix(".json"), command.options.contains(where: { $0.name == "--config" }) { option = "--config" }
        if command.name == "simulator", !word.contains(":") { option = nil }
        if command.name == "outbox", Int(word) != nil { option = "--update" }
        let words = [command.name, previous].filter { !$0.isEmpty }.joined(separator: " ")
        return option.map { question(suggesting: "\(words) \($0) \(word)") } ?? ""
    }

    /// Returns the suggestion for `word`, which should have been one of `choices`.
    static func choice(_ word: String, among choices: [String]) -> String { nearest(to: word, among: choices) }

    static func question(suggesting guess: String) -> String { "; did you mean \(guess)?" }

    private static func nearest(
        to word: String, among names: [String], equivalents: [String: String] = [:]
    ) -> String {
        (equivalents[word] ?? Spelling.nearest(to: word, among: names)).map { question(suggesting: $0) } ?? ""
    }
}

extension String {
    /// The option's name, without the hyphens that all options have in common.
    fileprivate var withoutHyphens: String { String(drop { $0 == "-" }) }
}
