/// The shells for which there is a completion script.
enum Shell: String, CaseIterable {
    case bash, zsh, fish

    /// The hidden command that a completion script calls. It prints the `lines` of the `Completion` for the words typed
    /// so far.
    static let completionCommand = "__complete"

    /// The completion script for this shell. The script calls Waypost to get the completions.
    var completions: String {
        switch self {
        case .bash:
            #"""
            _waypost() {
                local line
                COMPREPLY=()
                while IFS= read -r line; do
                    case $line in
                    :files) compopt -o default ;;
                    :directories) compopt -o dirnames ;;
                    *) COMPREPLY+=("${line%% *}") ;;
                    esac
                done < <(waypost __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
            }
            complete -F _waypost waypost
            """#
        case .zsh:
            #"""
            #compdef waypost
            local -a offers
            offers=("${(@f)$(waypost __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
            case $offers[1] in
            '') ;;
            :files) _files ;;
            :directories) _files -/ ;;
            *)
                offers=("${offers[@]//:/\\:}")
                offers=("${offers[@]/ /:}")
                _describe -t offers waypost offers
                ;;
            esac
            """#
        case .fish:
            #"""
            function __waypost_offers
                set -l word (commandline -ct)
                set -l offers (waypost __complete (commandline -opc)[2..] "$word" 2>/dev/null)
                switch "$offers[1]"
                    case :files
                        __fish_complete_path "$word"
                    case :directories
                        __fish_complete_directories "$word"
                    case '*'
                        string replace -- ' ' \t $offers
                end
            end
            complete -c waypost -f -a '(__waypost_offers)'
            """#
        }
    }
}
