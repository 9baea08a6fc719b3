/// What bash loads to complete Waypost's command line, with or without the package bash-completion.
enum BashCompletions {
    static var text: String {
        """
        # Completions of waypost for bash, as "waypost completions bash" prints them.

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
                mapfile -t COMPREPLY < <(compgen -W '\(firstWords)' -- "$word")
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
                mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
            elif [[ $operands == files ]]; then
                compopt -o default
            elif [[ $operands != none ]]; then
                for ((i = 2; i < COMP_CWORD; i++)); do
                    [[ " $operands " != *" ${COMP_WORDS[i]} "* ]] || return
                done
                mapfile -t COMPREPLY < <(compgen -W "$operands" -- "$word")
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
                    "mapfile -t COMPREPLY < <(compgen -W '\(words.joined(separator: " "))' -- \"$word\"); return"
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
