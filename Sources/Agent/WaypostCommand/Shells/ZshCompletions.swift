import ReportedText

/// What zsh finds as `_waypost` in a folder of its function path.
enum ZshCompletions {
    static var text: String {
        """
        #compdef waypost
        # Completions of waypost for zsh, as "waypost completions zsh" prints them.

        local context state state_descr line
        local -A opt_args
        local -a commands
        commands=(
        \(CommandCatalog.commands.map { "    " + Shell.zsh.quoted("\($0.name):\($0.summary)") }.joined(separator: "\n"))
        )

        _arguments -C \\
            \(Shell.zsh.quoted(specification(.version, stopsAll: true))) \\
            \(Shell.zsh.quoted(specification(.help, stopsAll: true))) \\
            '1:command:->command' \\
            '*::argument:->arguments' && return

        case $state in
        command) _describe -t commands 'waypost command' commands ;;
        arguments)
            case $words[1] in
        \(CommandCatalog.commands.map(commandCase).joined(separator: "\n"))
            esac
            ;;
        esac
        """
    }

    private static func commandCase(_ command: CommandSpec) -> String {
        var specifications = command.options.map { specification($0) } + [specification(.help, stopsAll: true)]
        switch command.operands {
        case .none: break
        case .oneOrMore(let name), .any(let name): specifications.append("*:\(name):\(action(command.offer))")
        case .optional(let name): specifications.append(":\(name):\(action(command.offer))")
        case .oneOf: specifications.append(":action:\(action(command.offer))")
        }
        let words = specifications.map { " \\\n            \(Shell.zsh.quoted($0))" }.joined()
        return "    \(command.name))\n        _arguments\(words)\n        ;;"
    }

    /// As `_arguments` takes it; what `stopsAll` leaves nothing else to complete.
    private static func specification(_ option: OptionSpec, stopsAll: Bool = false) -> String {
        let help = option.help.replacing("\\", with: "\\\\").replacing("[", with: "\\[").replacing("]", with: "\\]")
        let before = stopsAll ? "(- *)" : option.isRepeatable ? "*" : ""
        guard let valueName = option.valueName, let offer = option.offer else {
            return "\(before)\(option.name)[\(help)]"
        }
        let sign = option.name.hasPrefix("--") ? "=" : ""
        return "\(before)\(option.name)\(sign)[\(help)]:\(valueName.replacing(":", with: "\\:")):\(action(offer))"
    }

    private static func action(_ offer: Offer) -> String {
        switch offer {
        case .files: "_files"
        case .folders: "_files -/"
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .nothing: " "
        }
    }
}
