/// What fish finds as `waypost.fish` in a folder of completions.
enum FishCompletions {
    static var text: String {
        """
        # Completions of waypost for fish, as "waypost completions fish" prints them.

        function __waypost_lacks_command
            test (count (commandline -opc)) -eq 1
        end

        # Whether the command is the first argument, and none of the others has been given.
        function __waypost_has_command
            set -l words (commandline -opc)
            test "$words[2]" = "$argv[1]"; or return
            for word in $words[3..]
                contains -- $word $argv[2..]; and return 1
            end
            return 0
        end

        complete -c waypost -f
        complete -c waypost -n __waypost_lacks_command \(arguments(for: .version))
        complete -c waypost -n __waypost_lacks_command \(arguments(for: .help))
        \(CommandCatalog.commands.map(offering).joined(separator: "\n"))
        \(CommandCatalog.commands.map(completing).joined(separator: "\n"))
        """
    }

    private static func offering(_ command: CommandSpec) -> String {
        "complete -c waypost -n __waypost_lacks_command -a \(command.name) -d \(Shell.fish.quoted(command.summary))"
    }

    private static func completing(_ command: CommandSpec) -> String {
        func line(_ arguments: String, unless others: [String] = []) -> String {
            let condition = (["__waypost_has_command", command.name] + others).joined(separator: " ")
            return "complete -c waypost -n \(Shell.fish.quoted(condition)) \(arguments)"
        }
        var lines = [""]
        switch command.offer {
        case .files: lines.append(line("-F"))
        case .words(let words):
            lines.append(line("-a \(Shell.fish.quoted(words.joined(separator: " ")))", unless: words))
        case .folders, .nothing: break
        }
        for option in command.options {
            // While its value is typed, an option with a value stands there itself.
            lines.append(line(arguments(for: option), unless: option.offer == nil ? [option.name] : []))
        }
        return (lines + [line(arguments(for: .help))]).joined(separator: "\n")
    }

    private static func arguments(for option: OptionSpec) -> String {
        let letters = option.name.drop { $0 == "-" }
        let name = option.name.hasPrefix("--") ? "-l \(letters)" : "-s \(letters)"
        let value =
            switch option.offer {
            case nil: ""
            case .files: " -r -F"
            case .folders: " -x -a '(__fish_complete_directories)'"
            case .words(let words): " -x -a \(Shell.fish.quoted(words.joined(separator: " ")))"
            case .nothing: " -x"
            }
        return "\(name)\(value) -d \(Shell.fish.quoted(option.help))"
    }
}
