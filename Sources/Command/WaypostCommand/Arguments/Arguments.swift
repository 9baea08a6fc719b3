import LinuxPlatform
import Operations

/// The parsed arguments of a command, checked against the command's `CommandSpec`.
struct Arguments: Sendable, Equatable {
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]
    private var flags: Set<String> = []

    /// Parses `words`, the words of the command line that follow the command's name.
    ///
    /// Options may appear before, between or after the operands, and are written `--name VALUE` or `--name=VALUE`. All
    /// words after `--` are operands.
    init(_ words: [String], for command: CommandSpec) throws(UsageError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                break
            }
            // Web pages and text editors turn hyphens into dashes, so a copied option may begin with a dash.
            if let sign = word.first, "\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2212}".contains(sign) {
                throw command.usageError("\(word) begins with a dash instead of a hyphen; type it again, with - or --")
            }
            guard word.hasPrefix("-"), word != "-" else {
                operands.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let option = command.options.first(where: { $0.name == parts[0] }) else {
                throw command.usageError(
                    "\(command.name) has no option \(parts[0])\(Suggestion.option(for: parts[0], of: command))")
            }
            guard let valueName = option.valueName else {
                guard parts.count == 1 else {
                    throw command.usageError("\(option.name) takes no value; remove the text after =")
                }
                flags.insert(option.name)
                continue
            }
            // If the next word is another option of the command, the user has forgotten this option's value.
            let next = rest.first.flatMap { next in command.options.contains { $0.name == next } ? nil : next }
            if parts.count == 1, next != nil { rest.removeFirst() }
            guard let value = parts.count > 1 ? parts[1] : next, !value.isEmpty else {
                throw command.usageError("\(option.name) needs a value: \(option.name) \(valueName)")
            }
            if !option.isRepeatable, let earlier = values[option.name]?.last {
                throw command.usageError("\(option.name) is given twice, \(earlier) and \(value); remove one")
            }
            values[option.name, default: []].append(value)
        }
        try validate(for: command)
    }

    /// Returns the value of an option that may be given only once; `nil` if the option isn't given.
    func value(_ name: String) -> String? { values[name]?.last }

    /// Returns all values of a repeatable option, in the order in which they were given.
    func allValues(_ name: String) -> [String] { values[name] ?? [] }

    func has(_ name: String) -> Bool { flags.contains(name) }

    private func validate(for command: CommandSpec) throws(UsageError) {
        for option in command.options where option.isRequired && values[option.name] == nil {
            throw command.usageError("\(command.name) needs \(option.name) \(option.valueName ?? "")")
        }
        switch command.operands {
        case .any: break
        case .none:
            if let extra = operands.first {
                throw command.usageError(
                    "\(command.name) does not accept \"\(extra)\"\(Suggestion.operand(extra, of: command))")
            }
        case .oneOrMore(let operand):
            if operands.isEmpty { throw command.usageError("\(command.name) needs \(operand)") }
        case .optional(let operand):
            if operands.count > 1 {
                throw command.usageError("\(command.name) accepts one \(operand), not \(operands.count)")
            }
        case .oneOf(let choices):
            let list = choices.joined(separator: ", ")
            guard let choice = operands.first else { throw command.usageError("\(command.name) needs one of \(list)") }
            guard choices.contains(choice) else {
                let guess = Suggestion.choice(choice, among: choices)
                throw command.usageError("\(command.name) needs one of \(list), not \"\(choice)\"\(guess)")
            }
            if let extra = operands.dropFirst().first {
                let guess = Suggestion.operand(extra, of: command, following: choice)
                throw command.usageError("\(command.name) \(choice) does not accept \"\(extra)\"\(guess)")
            }
        }
    }
}

extension Arguments {
    /// The path of the configuration file: the value of `--config`, or the default path if the option isn't given.
    var configurationFile: String { value("--config") ?? Configuration.defaultFile }

    /// Returns the configuration from the file given by `--config`, or from the file at `defaultFile`.
    func configuration(
        defaultFile: String = Configuration.defaultFile
    ) throws(ConfigurationError) -> Configuration {
        if let file = value("--config") { return try Configuration(file: file) }
        return try Configuration(
            file: defaultFile,
            ifMissing: "\(Configuration.exampleAdvice) there and edit it, or use another file with --config FILE")
    }

    /// Returns a client of the running service, whose address is in the configuration. If the configuration is invalid,
    /// the service may still use an earlier one. The client then uses the address in the invalid file, or the default
    /// address if the file contains none.
    func runningService(
        defaultFile: String = Configuration.defaultFile, say: (String) -> Void = Terminal.say
    ) throws(ConfigurationError) -> RunningService {
        let named = value("--config")
        do { return RunningService(try configuration(defaultFile: defaultFile), of: named ?? defaultFile) } catch {
            guard
                let text = try? BoundedFile.contents(
                    of: named ?? defaultFile, limit: Configuration.maximumFileBytes)
            else {
                if named != nil { throw error }
                return RunningService(nil)
            }
            for problem in error.problems { say("waypost: \(problem)") }
            let service = RunningService(nil, at: RunningService.address(inInvalidConfiguration: text))
            say(
                "waypost: asking the running service at \(service.address), which still uses its loaded configuration; "
                    + "correct the file before a restart (waypost check)")
            return service
        }
    }

    /// Returns the listening address that the option `name` gives, or the default address if the option isn't given.
    func address(_ name: String, default fallback: String, command: String) throws(UsageError) -> LocalAddress {
        let text = value(name) ?? fallback
        do { return try LocalAddress(text) } catch {
            throw UsageError("\(name) is \"\(text)\", which \(error)", command: command)
        }
    }
}

/// An error in a command line.
struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
    let problem: String
    /// The name of the command whose arguments are wrong; `nil` if the command itself is unknown.
    let command: String?

    init(_ problem: String, command: String? = nil) {
        self.problem = problem
        self.command = command
    }

    var description: String {
        let spec = command.flatMap { name in CommandCatalog.commands.first { $0.name == name } }
        let help = "waypost help\(command.map { " " + $0 } ?? "")"
        return "\(problem)\nusage: \(spec?.usage ?? "waypost COMMAND [OPTIONS]") (see \(help))"
    }
}

/// The exit codes of all commands. Codes from 64 upwards have the meanings defined in `sysexits.h`.
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
