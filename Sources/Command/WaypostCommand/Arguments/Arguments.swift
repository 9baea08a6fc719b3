import LinuxPlatform
import Operations

/// The words behind a command, checked against its specification.
struct Arguments: Sendable, Equatable {
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]
    private var flags: Set<String> = []

    /// Reads `words`, the part of the command line after the command.
    ///
    /// Options may stand anywhere and be written `--name VALUE` or `--name=VALUE`; behind `--` all are operands.
    init(_ words: [String], for command: CommandSpec) throws(UsageError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                break
            }
            if let problem = Self.typographicProblem(of: word, for: command) { throw command.refusal(problem) }
            guard word.hasPrefix("-"), word != "-" else {
                operands.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let option = command.options.first(where: { $0.name == parts[0] }) else {
                throw command.refusal(
                    "\(command.name) has no option \(parts[0])\(Suggestion.option(for: parts[0], of: command))")
            }
            if let valueName = option.valueName {
                // What is an option itself is not its value: that was forgotten.
                let next = rest.first.flatMap { next in command.options.contains { $0.name == next } ? nil : next }
                if parts.count == 1, next != nil { rest.removeFirst() }
                guard let value = parts.count > 1 ? parts[1] : next, !value.isEmpty else {
                    throw command.refusal("\(option.name) needs a value: \(option.name) \(valueName)")
                }
                if let problem = Self.quoteProblem(of: value) { throw command.refusal(problem) }
                if !option.isRepeatable, let earlier = values[option.name]?.last {
                    throw command.refusal("\(option.name) is given twice, \(earlier) and \(value); leave one")
                }
                values[option.name, default: []].append(value)
            } else {
                guard parts.count == 1 else { throw command.refusal("\(option.name) takes no value") }
                flags.insert(option.name)
            }
        }
        try check(command)
    }

    /// What a text editor made of a dash before an option's name, or of quotes; `nil` for any other word.
    private static func typographicProblem(of word: String, for command: CommandSpec) -> String? {
        guard let dash = word.first, "\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2212}".contains(dash) else {
            return quoteProblem(of: word)
        }
        let rest = word.drop { $0 == dash || $0 == "-" }
        let name = rest.prefix { $0 != "=" }
        guard let option = command.options.first(where: { $0.name.drop { $0 == "-" } == name }) else { return nil }
        return "\(word) begins with \(dash) (\(codePoint(of: dash))), not with -; write \(option.name)"
            + rest.dropFirst(name.count)
    }

    /// A file of such a name can be written as `./“name`.
    private static func quoteProblem(of word: String) -> String? {
        let quotes = "\u{2018}\u{2019}\u{201A}\u{201C}\u{201D}\u{201E}\u{AB}\u{BB}"
        guard let quote = [word.first, word.last].lazy.compactMap(\.self).first(where: { quotes.contains($0) }) else {
            return nil
        }
        let plain = word.filter { !quotes.contains($0) }
        return "\(word) has the quote \(quote) (\(codePoint(of: quote))), which no shell takes for one; write "
            + (plain.contains(where: \.isWhitespace) ? "\"\(plain)\"" : plain)
    }

    private static func codePoint(of character: Character) -> String {
        let digits = String(character.unicodeScalars.first?.value ?? 0, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// The value of an option that may be given once.
    func value(_ name: String) -> String? { values[name]?.last }

    /// Every value of an option, in order.
    func allValues(_ name: String) -> [String] { values[name] ?? [] }

    /// Whether a flag is there.
    func has(_ name: String) -> Bool { flags.contains(name) }

    private func check(_ command: CommandSpec) throws(UsageError) {
        if case .none = command.operands, let extra = operands.first {
            throw command.refusal(
                "\(command.name) takes no \"\(extra)\"\(Suggestion.operand(extra, of: command))")
        }
        for option in command.options where option.isRequired && values[option.name] == nil {
            throw command.refusal("\(command.name) needs \(option.name) \(option.valueName ?? "")")
        }
        switch command.operands {
        case .oneOrMore(let operand):
            if operands.isEmpty { throw command.refusal("\(command.name) needs \(operand)") }
        case .optional(let operand):
            if operands.count > 1 {
                throw command.refusal("\(command.name) takes one \(operand), not \(operands.count)")
            }
        case .oneOf(let choices):
            let other = operands.first { !choices.contains($0) }
            let guess = other.map { Suggestion.choice($0, among: choices) } ?? ""
            guard operands.count < 2 else {
                throw command.refusal(
                    "\(command.name) takes one of \(choices.joined(separator: ", ")), not "
                        + "\"\(operands.joined(separator: " "))\"\(guess)")
            }
            guard operands.count == 1, other == nil else {
                throw command.refusal("\(command.name) needs one of: \(choices.joined(separator: ", "))\(guess)")
            }
        case .any, .none: break
        }
    }
}

extension Arguments {
    /// The file that `--config` names, or where a vehicle has its configuration.
    var configurationFile: String { value("--config") ?? Configuration.usualFile }

    /// The configuration in that file.
    func configuration(
        usual: String = Configuration.usualFile
    ) throws(ConfigurationError) -> Configuration {
        if let file = value("--config") { return try Configuration(file: file) }
        return try Configuration(
            file: usual,
            ifMissing: "copy config.example.json there and edit it, or name another file with --config FILE")
    }

    /// The configuration of the service that is to be asked; `nil` when none is named and the usual one cannot be
    /// read: the service is then asked where it is by default.
    func serviceConfiguration(
        usual: String = Configuration.usualFile, say: (String) -> Void = Terminal.say
    ) throws(ConfigurationError) -> Configuration? {
        if value("--config") == nil, !FileSystem.isAllowed(.read, at: usual) { return nil }
        do { return try configuration(usual: usual) } catch {
            if let file = value("--config") {
                if FileSystem.isAllowed(.read, at: file) {
                    say(
                        "waypost: a service that runs goes by what it read before, and with this file will not start again; mend "
                            + "the file first (waypost check), or ask without --config, at 127.0.0.1:9464")
                }
                throw error
            }
            // It runs with what it has read, whatever has become of the file since.
            for problem in error.problems { say("waypost: \(problem)") }
            say(
                "waypost: a service that runs goes by what it read before, and is asked at 127.0.0.1:9464; with this file it "
                    + "will not start again. If status.listen is another address, mend the file first (waypost check)")
            return nil
        }
    }

    /// The value of an option that is an address to listen on.
    func address(_ name: String, default fallback: String, command: String) throws(UsageError) -> LocalAddress {
        let text = value(name) ?? fallback
        do { return try LocalAddress(text) } catch {
            throw UsageError("\(name) is \"\(text)\", which \(error)", command: command)
        }
    }
}

/// A command line that cannot be understood.
struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
    let problem: String
    /// The command it is about; `nil` when there is none of that name.
    let command: String?

    init(_ problem: String, command: String? = nil) {
        self.problem = problem
        self.command = command
    }

    var description: String {
        "\(problem)\nType \"waypost help\(command.map { " " + $0 } ?? "")\" to see how it is used."
    }
}

/// The exit codes of every command (sysexits).
enum ExitStatus: Int32, CaseIterable, Error, Sendable {
    case done = 0
    case failed = 1
    case usage = 64
    case badInput = 65
    case unavailable = 69
    case badConfiguration = 78

    var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "failed"
        case .usage: "wrong usage"
        case .badInput: "bad input data"
        case .unavailable: "service unavailable"
        case .badConfiguration: "bad configuration"
        }
    }
}
