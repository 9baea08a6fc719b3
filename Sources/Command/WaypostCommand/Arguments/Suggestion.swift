import FleetEngine
import LinuxPlatform
import Operations

/// The end of an error about a word that Waypost doesn't know, with its semicolon; empty if there is no good guess.
enum Suggestion {
    /// The usual words for commands in other programs.
    private static let otherCommands = [
        "version": "--version", "-V": "--version", "-v": "--version", "start": "run", "logs": "journalctl -u waypost",
        "stop": "systemctl stop waypost", "restart": "systemctl restart waypost", "reload": "systemctl reload waypost",
        "validate": "check", "decode": "fixes",
    ]

    /// Returns the suggestion for `word` in the place of a command.
    static func command(for word: String) -> String {
        if word.hasPrefix("--") {
            return "; the command comes first, as in waypost run --config FILE"
        }
        return nearest(to: word, among: CommandCatalog.commands.map(\.name), otherCommands)
    }

    /// Returns the suggestion for `word` in the place of an option of `command`.
    static func option(for word: String, of command: CommandSpec) -> String {
        if ["-v", "--verbose"].contains(word) { return "; how much is logged is \"log.level\" of the configuration" }
        let guess = nearest(to: word, among: command.options.map(\.name), ["-c": "--config"])
        if !guess.isEmpty { return guess }
        let owners = CommandCatalog.commands.filter { $0.options.contains { $0.name == word } }.map(\.name)
        if !owners.isEmpty { return "; that is an option of \(owners.joined(separator: ", "))" }
        let key = ConfigurationKey.paths(meantBy: String(word.drop { $0 == "-" }))
        return key.map { "; that is \($0) of the configuration, the file behind --config" } ?? ""
    }

    /// Returns the suggestion for `word`, an operand of `command`, which accepts options only.
    static func operand(_ word: String, of command: CommandSpec) -> String {
        let option =
            word.hasSuffix(".json") && command.options.contains { $0.name == "--config" }
            ? "--config" : ["watch": "--trip", "simulator": "--listen", "bundle": "-o"][command.name]
        return option.map { question("\(command.name) \($0) \(word)") } ?? ""
    }

    /// Returns the suggestion for `word` if one of `choices` is required.
    static func choice(_ word: String, among choices: [String]) -> String { nearest(to: word, among: choices) }

    static func question(_ guess: String) -> String { "; did you mean \(guess)?" }

    private static func nearest(to word: String, among names: [String], _ others: [String: String] = [:]) -> String {
        (others[word] ?? Spelling.nearest(to: word, among: names)).map(question) ?? ""
    }
}
