import LinuxPlatform
import Operations

/// `waypost help`: prints an overview or the help of one command. `--help` after a command does the same.
struct HelpCommand {
    /// The name of the command to explain; `nil` for an overview of all commands.
    let topic: String?

    func run() throws -> ExitStatus {
        let command = try topic.map(CommandCatalog.command(named:))
        try StandardOutput.write(line: command.map(HelpText.page(for:)) ?? HelpText.overview)
        return .done
    }
}

/// The output of `waypost help`.
enum HelpText {
    static var overview: String {
        let width = CommandCatalog.commands.map(\.name.count).max() ?? 0
        let lines = CommandCatalog.commands.map { command in
            "  \(command.name.padded(to: width))  \(command.summary)"
        }
        return """
            Waypost \(Release.version): reports a vehicle's position to Fleet Engine.

            usage: waypost COMMAND [OPTIONS]

            \(lines.joined(separator: "\n"))

            waypost help COMMAND explains a command; waypost --version prints the version.
            Exit codes: \(ExitStatus.allCases.map { "\($0.rawValue) \($0.meaning)" }.joined(separator: ", ")),
            130 and 143 interrupted (Control-C, SIGTERM) before the command had finished.
            """
    }

    static func page(for command: CommandSpec) -> String {
        var text = "\(command.summary)\n\nusage: \(command.usage)\n"
        if !command.details.isEmpty {
            text += "\n\(command.details.wrapped(to: LabelledLines.width).joined(separator: "\n"))\n"
        }
        if !command.options.isEmpty {
            let names = command.options.map { option in option.valueName.map { "\(option.name) \($0)" } ?? option.name }
            let width = names.map(\.count).max() ?? 0
            var group: String?
            for (name, option) in zip(names, command.options) {
                if option.group != group || name == names.first {
                    group = option.group
                    text += "\n\(group.map { "\($0):\n" } ?? "")"
                }
                text += "  \(name.padded(to: width))  \(option.help)\(option.isRepeatable ? "; may be repeated" : "")\n"
            }
        }
        return text + "\nexamples:" + command.examples.map { "\n  waypost \($0)" }.joined()
    }
}
