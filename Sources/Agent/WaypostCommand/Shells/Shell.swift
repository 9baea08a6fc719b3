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

/// What bash loads to complete Waypost's command line, with or without the package bash-completion.
enum BashCompletions {
    static var text: String {
        """
        # Completions of waypost for bash, as "waypost completions bash" prints them.

        # The words of $1 that begin with $2. A shell that starts a process for every key is slow on a small gateway.
        _waypost_offer() {
            local word IFS=' '
            for word in $1; do
                [[ $word != "$2"* ]] || COMPREPLY+=("$word")
            done
        }

        _waypost() {
            local command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
            local options= operands= ended= given i

            # bash makes three words of --option=value.
            if [[ $word == = ]]; then
                word=
            elif [[ $before == = ]]; then
                before=${COMP_WORDS[COMP_CWORD - 2]}
            fi
            COMPREPLY=()
            if ((COMP_CWORD == 1)); then
                _waypost_offer '\(firstWords)' "$word"
                return
            fi
            for ((i = 2; i < COMP_CWORD; i++)); do
                [[ ${COMP_WORDS[i]} != -- ]] || ended=yes
            done

            # The value of an option.
            [[ $ended ]] || case "$command $before" in
        \(valueCases.joined(separator: "\n"))
            esac

            case $command in
        \(CommandCatalog.commands.map(commandCase).joined(separator: "\n"))
            *) return ;;
            esac
            if [[ ! $ended && ($word == -* || $operands == none) ]]; then
                # What is there already is not offered again.
                for ((i = 2; i < COMP_CWORD; i++)); do
                    given=${COMP_WORDS[i]}
                    [[ $given != -* || \(repeatableTest) ]] || options=${options/ $given / }
                done
                _waypost_offer "$options" "$word"
            elif [[ $operands == files ]]; then
                compopt -o default
            elif [[ $operands != none ]]; then
                for ((i = 2; i < COMP_CWORD; i++)); do
                    [[ " $operands " != *" ${COMP_WORDS[i]} "* ]] || return
                done
                _waypost_offer "$operands" "$word"
            fi
        }

        complete -F _waypost waypost
        """
    }

    private static var firstWords: String {
        (CommandCatalog.commands.map(\.name) + [OptionSpec.version.name, OptionSpec.help.name])
            .joined(separator: " ")
    }

    /// For each kind of value the options that have it.
    private static var valueCases: [String] {
        var places: [(offer: Offer, patterns: [String])] = []
        for command in CommandCatalog.commands {
            for option in command.options {
                guard let offer = option.offer else { continue }
                let pattern = "'\(command.name) \(option.name)'"
                if let index = places.firstIndex(where: { $0.offer == offer }) {
                    places[index].patterns.append(pattern)
                } else {
                    places.append((offer, [pattern]))
                }
            }
        }
        return places.map { offer, patterns in
            let action =
                switch offer {
                case .files: "compopt -o default; return"
                case .folders: "compopt -o dirnames; return"
                case .words(let words):
                    "_waypost_offer '\(words.joined(separator: " "))' \"$word\"; return"
                case .nothing: "return"
                }
            return "    \(patterns.joined(separator: " | "))) \(action) ;;"
        }
    }

    private static func commandCase(_ command: CommandSpec) -> String {
        let options = (command.options + [.help]).map(\.name).joined(separator: " ")
        let operands =
            switch command.offer {
            case .files: "files"
            case .words(let words): words.joined(separator: " ")
            case .folders, .nothing: "none"
            }
        // Between spaces, so that each can be taken out.
        return "    \(command.name)) options=' \(options) ' operands='\(operands)' ;;"
    }

    private static var repeatableTest: String {
        let names = CommandCatalog.commands.flatMap { command in
            command.options.filter(\.isRepeatable).map { "'\(command.name) \($0.name)'" }
        }
        return "\"$command $given\" == @(\(names.joined(separator: "|")))"
    }
}

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
