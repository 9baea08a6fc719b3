import FleetEngine
import LinuxPlatform
import Waypost

/// What somebody probably meant who typed a word that Waypost does not have: each the end of a sentence, with its
/// semicolon; empty where there is no good guess.
enum Suggestion {
    /// Words for commands in other programs.
    private static let otherCommands = [
        "version": "--version", "-V": "--version", "-v": "--version", "-?": "help",
        "start": "run", "serve": "run", "server": "run", "service": "run", "daemon": "run", "agent": "run",
        "list": "outbox list", "ls": "outbox list", "queue": "outbox list", "pending": "outbox list",
        "ledger": "outbox list", "export": "outbox export", "requeue": "outbox requeue", "discard": "outbox discard",
        "validate": "check", "verify": "check", "test": "check", "lint": "check", "doctor": "check",
        "decode": "fixes", "parse": "fixes", "convert": "fixes", "nmea": "fixes", "summary": "fixes --summary",
        "explain": "fixes --explain", "draw": "map", "plot": "map", "follow": "watch", "trip": "watch",
        "fake": "simulator", "mock": "simulator", "emulator": "simulator", "play": "replay", "health": "status",
        "jwt": "token", "settings": "config", "schema": "config --schema", "log": "journalctl -u waypost",
        "logs": "journalctl -u waypost",
        "stop": "systemctl stop waypost", "restart": "systemctl restart waypost", "reload": "systemctl reload waypost",
    ]

    /// For `word` in the place of a command.
    static func command(for word: String) -> String {
        let names = word.hasPrefix("-") ? [] : CommandCatalog.commands.map(\.name)
        let guess =
            otherCommands[word] ?? otherCommands[word.lowercased()]
            ?? Spelling.nearest(to: word, among: names + ["--version", "--help"])
        if let guess { return question(guess) }
        return word.hasPrefix("-") ? "; the command comes first, as in waypost run --config FILE" : ""
    }

    /// Words for what `outbox` does in other programs.
    private static let otherOutboxWords = [
        "show": "list", "ls": "list", "status": "list", "retry": "requeue", "resend": "requeue", "release": "requeue",
        "delete": "discard", "clear": "discard", "remove": "discard", "rm": "discard", "purge": "discard",
    ]

    /// What commands do for which others have these options.
    private static let otherOptions: [(commands: Set<String>, words: Set<String>, says: String)] = [
        (
            ["run"], ["--daemon", "--background", "--foreground", "--detach"],
            "; run stays in the foreground, and systemd starts it as a service (systemctl start waypost)"
        ),
        (
            ["run", "replay"], ["--dry-run"],
            "; what it sends goes to \"upload.endpoint\" of the configuration, which may be that of waypost simulator"
        ),
    ]

    private static let onlyPrints =
        "; config only prints what is in force, which is set in the file behind --config"
    private static let configuredVehicle =
        "; the vehicle is that of the configuration, \"vehicle.vehicleId\" in the file behind --config"
    private static let statusAddress =
        "; the service listens at \"status.listen\" of the configuration, the file behind --config"

    /// For `word` in the place of an option of `command`.
    static func option(for word: String, of command: CommandSpec) -> String {
        let names = command.options.map(\.name)
        let letters = word.drop { $0 == "-" }
        if !word.hasPrefix("--"), FileSystem.isAllowed(.read, at: word) {
            return "; the file of that name is ./\(word)"
        }
        if command.name == "fixes", let format = FixesFormat(rawValue: letters == "json" ? "jsonl" : String(letters)) {
            return question("--format \(format.rawValue)")
        }
        if ["-v", "--verbose", "-q", "--quiet", "-d", "--debug"].contains(word) {
            return "; how much is logged is \"log.level\" of the configuration"
        }
        if ["fixes", "outbox"].contains(command.name), word == "-o" || word == "--output" {
            return "; it writes to standard output: add > FILE"
        }
        if word == "--offline" { return "; without --online nothing is asked" }
        if word == "-V" || word == "--version" { return question("waypost --version") }
        if word == "--format", names.contains("--json") { return question("--json") }
        if word == "--output", names.contains("-o") { return question("-o") }
        if word == "--port", names.contains("--listen") { return question("--listen HOST:PORT") }
        if word == "--listen", names.contains("--config") { return statusAddress }
        if let other = otherOptions.first(where: { $0.commands.contains(command.name) && $0.words.contains(word) }) {
            return other.says
        }
        if letters.count == 1 {
            let guess = names.first { $0.hasPrefix("--\(letters)") } ?? names.first { word == "-f" && $0 == "--config" }
            return guess.map(question) ?? ""
        }
        // Without their dashes, which would count as letters that are right.
        let longNames = names.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
        let begun = longNames.filter { $0.hasPrefix(letters) }
        if (2...3).contains(begun.count) { return question(begun.map { "--" + $0 }.joined(separator: " or ")) }
        if let near = Spelling.nearest(to: String(letters), among: longNames) { return question("--" + near) }
        let isConfigured = names.contains("--config")
        if isConfigured, ["--vehicle", "--vehicle-id"].contains(word) { return configuredVehicle }
        let owners = CommandCatalog.commands.filter { $0.options.contains { $0.name == word } }.map(\.name)
        if !owners.isEmpty { return "; that is an option of \(owners.joined(separator: ", "))" }
        if isConfigured, let paths = ConfigurationKey.paths(meantBy: String(letters)) {
            return "; that is \(paths) of the configuration, the file behind --config"
        }
        return command.name == "config" ? onlyPrints : ""
    }

    /// For `word`, given to `command`, which takes options only.
    static func operand(_ word: String, of command: CommandSpec, _ given: Arguments) -> String {
        if command.name == "watch", (try? given.configuration())?.vehicle.vehicleID == word {
            return question("watch --vehicle \(word)")
        }
        let own = ["watch": "--trip", "simulator": "--listen", "bundle": "-o"][command.name]
        if command.name == "run", [".nmea", ".log", ".txt", ".gz"].contains(where: word.hasSuffix) {
            return "; run reads the receiver of its configuration, replay \(word) plays a log"
        }
        if command.name == "config", ConfigurationKey.all.contains(where: { $0.path == word }) {
            return "; config prints them all: waypost config | grep \(word)"
        }
        if ["status", "why"].contains(command.name), (try? LocalAddress(word)) != nil { return statusAddress }
        // Ids have digits, and words that were meant for something else seldom do.
        let isID =
            word.contains(where: \.isNumber) && word.allSatisfy { $0.isLetter || $0.isNumber || "-_".contains($0) }
        if own == nil, word.hasPrefix("providers/") || isID, command.options.contains(where: { $0.name == "--config" })
        {
            return configuredVehicle
        }
        let isFile = word.contains("/") && command.name != "bundle" || word.hasSuffix(".json")
        let isConfiguration = isFile && command.options.contains { $0.name == "--config" }
        let addresses = [word, "127.0.0.1:\(word.drop { $0 == ":" })"]
        let value = own == "--listen" ? addresses.first { (try? LocalAddress($0)) != nil } : word
        guard let option = isConfiguration ? "--config" : own, let value, given.value(option) == nil else {
            return command.name == "config" ? onlyPrints : ""
        }
        return question("\(command.name) \(option) \(value)")
    }

    /// For `word` where `command` takes one of `choices`.
    static func choice(_ word: String, among choices: [String], of command: CommandSpec) -> String {
        if let near = Spelling.nearest(to: word, among: choices) { return question(near) }
        guard command.name == "outbox" else { return "" }
        if let meant = otherOutboxWords[word] { return question(meant) }
        if UInt64(word) != nil { return question("--update \(word)") }
        return word.hasSuffix(".json")
            ? question("outbox list --config \(word)")
            : "; the outbox is that of the configuration, \"outbox.path\" in the file behind --config"
    }

    static func question(_ guess: String) -> String { "; did you mean \(guess)?" }
}
