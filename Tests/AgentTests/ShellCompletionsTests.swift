import FoundationEssentials
import LinuxPlatform
import Testing
import WaypostTestSupport

@testable import WaypostCommand

/// Completion by the program, and by real shells when Tab is pressed.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ShellCompletions {
    @Test(
        arguments: [
            ("", ["--help", "--version", "run"], nil), ("ru", ["run"], nil), ("run --con", ["--config"], nil),
            ("run --config ", nil, Completion.files), ("run --record ", nil, .directories),
            ("run --record = ", nil, .directories), ("replay ", nil, .files), ("fixes --format ge", ["geojson"], nil),
            ("outbox ", ["discard", "export", "list", "requeue"], nil), ("outbox list ex", [], nil),
            ("status --json --j", [], nil), ("outbox requeue --update 7 --upd", ["--update"], nil),
            ("replay -- --k", nil, .files), ("nothing ", [], nil),
        ] as [(String, [String]?, Completion?)])
    func offerTheExpectedWords(line: String, words: [String]?, other: Completion?) {
        let completion = Completion(of: line.split(separator: " ", omittingEmptySubsequences: false).map(String.init))
        guard case .words(let offered) = completion else {
            #expect(completion == other)
            return
        }
        #expect(
            words.map { Set(offered.map(\.text)).isSuperset(of: $0) && ($0.count == 3 || offered.count == $0.count) }
                == true)
    }

    private static let installed = Shell.allCases.filter {
        FileSystem.isAllowed(.execute, at: "/usr/bin/\($0.rawValue)")
    }

    /// The typed keys, with `\t` for Tab, and the words that the program then receives.
    static let lines: [(typed: String, words: [String])] = [
        ("ch\t", ["check"]), ("--v\t", ["--version"]), ("replay --spe\t", ["replay", "--speed"]),
        ("replay drive.nmea --speed m\t", ["replay", "drive.nmea", "--speed", "max"]),
        ("run --config DIRECTORY/va\t", ["run", "--config", "DIRECTORY/van 7.json"]),
        ("run --rec\tDIRECTORY/recor\t", ["run", "--record", "DIRECTORY/recordings/"]),
        ("replay DIRECTORY/dri\t--k\t", ["replay", "DIRECTORY/drive.nmea", "--keep-time"]),
        ("fixes --format geo\tDIRECTORY/dri\t", ["fixes", "--format", "geojson", "DIRECTORY/drive.nmea"]),
        ("outbox re\t--a\t", ["outbox", "requeue", "--all"]), ("help simu\t", ["help", "simulator"]),
        ("simulator --token-sh\tgui\t", ["simulator", "--token-shape", "guide"]),
        ("completions fi\t", ["completions", "fish"]), ("status --wa\t", ["status", "--watch"]),
        // An option that is already present isn't offered again, so only one option remains.
        ("status --watch --js\t--co\t", ["status", "--watch", "--json", "--config"]),
    ]

    @Test(.enabled(if: !installed.isEmpty, "bash, zsh and fish are not installed"), arguments: installed)
    func completeTheLineInEachShell(shell: Shell) async throws {
        let directory = try TemporaryDirectory()
        let directoryPath = directory.url.path
        for name in ["van 7.json", "drive.nmea"] { try directory.write([], to: name) }
        for name in ["recordings", "bin", "functions"] { try FileSystem.createDirectory(at: directory.path(name)) }
        let program = """
            #!/bin/sh
            [ "$1" != __complete ] || exec '\(BuiltProgram.waypost)' "$@"
            printf 'given'; printf ' <%s>' "$@"; echo

            """
        try directory.write(program.utf8, to: "bin/waypost", mode: 0o755)
        let completions = try await BuiltProgram.run(["completions", shell.rawValue])
        #expect(completions.ending == .exited(0))
        try directory.write(completions.standardOutput, to: "functions/_waypost")

        let keys = try PseudoTerminal()
        let session = try RunningProgram(
            ["/bin/sh", "-c", "exec script -qfec \"$0\" /dev/null <$1 2>&1", Self.startCommand(for: shell), keys.path],
            environment: [
                "PATH": "\(directoryPath)/bin:/usr/bin:/bin", "HOME": directoryPath, "TERM": "xterm", "LANG": "C.UTF-8",
            ])
        try keys.send(Self.setupScript(for: shell, functionsIn: directory.path("functions")) + "echo read''y\n")
        try #require(await session.output.line(saying: "ready") != nil, "\(session.output.text)")
        for (typed, words) in Self.lines {
            try keys.send("waypost \(typed.replacing("DIRECTORY", with: directoryPath))\n")
            let given = words.map { " <\($0.replacing("DIRECTORY", with: directoryPath))>" }.joined()
            // zsh writes an option and its value as one word, and removes a directory's slash at the end of the line.
            let isGiven = await session.output.wait { lines in
                lines.contains {
                    let words = $0.text.replacing("=", with: "> <").replacing("/>", with: ">")
                    return words.hasSuffix("given" + given.replacing("/>", with: ">") + "\r")
                }
            }
            #expect(isGiven, "\(typed.debugDescription): \(session.output.lines.suffix(6).map(\.text))")
            if !isGiven { break }
        }
        try keys.send("exit\n")
        _ = await session.end()
    }

    /// Returns the command that starts a shell without the user's files.
    private static func startCommand(for shell: Shell) -> String {
        switch shell {
        case .bash: "bash --noprofile --norc -i"
        case .zsh: "zsh -f -i"
        case .fish: "fish --no-config -i"
        }
    }

    private static func setupScript(for shell: Shell, functionsIn directory: String) -> String {
        switch shell {
        case .bash, .fish: "source \(directory)/_waypost\n"
        case .zsh: "fpath=(\(directory) $fpath); autoload -Uz compinit; compinit -u -D\n"
        }
    }
}
