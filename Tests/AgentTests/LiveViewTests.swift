import Glibc
import LinuxPlatform
import Testing
import WaypostTestSupport

/// `waypost status --watch` on a terminal: it is drawn in place, follows the service and the window size, and is erased
/// at the end.
@Suite(.serialized, .timeLimit(.minutes(2))) struct LiveView {
    private let bench: ServiceBench
    private let config: String

    init() throws {
        bench = try ServiceBench()
        let address = "unix:" + bench.directory.path("status")
        config = try bench.configure { $0.status = address }
    }

    private func startService() throws -> RunningProgram {
        try RunningProgram([BuiltProgram.waypost, "run", "--config", config], environment: BuiltProgram.environment)
    }

    /// Shows the view on a terminal of 80 columns and 24 lines. Prints the terminal's name, and its settings before and
    /// afterwards.
    ///
    /// With `job`, the view is a job of a shell that notices when it stops, and resumes it at once.
    private func startView(
        keys: PseudoTerminal, asJob job: Bool = false, environment: [String: String] = [:]
    ) throws -> RunningProgram {
        let script = """
            \(job ? "set -m" : "")
            stty cols 80 rows 24
            echo "terminal $(tty)"
            stty -g
            sh -c 'echo "process $$"; exec "$0" status --watch --config "$1"' \(BuiltProgram.waypost) \(config)
            \(job ? #"echo "stopped with $?"; stty -g; fg"# : "")
            echo "ended with $?"
            stty -g
            """
        let path = try bench.directory.write(script.utf8, to: "view.sh")
        return try RunningProgram(
            ["/bin/sh", "-c", "exec script -qfec \"sh $0\" /dev/null <$1 2>&1", path, keys.path],
            environment: ["PATH": "/usr/bin:/bin", "TERM": "xterm"].merging(BuiltProgram.environment) { $1 }
                .merging(environment) { $1 })
    }

    /// Returns the last word of the line that starts with `start`.
    private func lastWord(ofLineStartingWith start: String, in view: RunningProgram) async throws -> String {
        let line = try #require(await view.output.line(saying: start + " "))
        return String(try #require(line.text.filter { $0 != "\r" }.split(separator: " ").last))
    }

    @Test func followsTheServiceAndTheWindow() async throws {
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let keys = try PseudoTerminal()
        let view = try startView(keys: keys)
        // The service isn't running yet: the view says so and waits.
        try #require(await view.output.line(saying: "No answer since ") != nil)
        #expect(await view.output.line(saying: "the service is not running") != nil)

        let service = try startService()
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        for epoch in RecentDrive(epochs: 2) {
            try receiver.send(epoch)
            try #require(await bench.arrival(of: epoch) != nil)
        }
        #expect(await view.output.line(saying: "All is well") != nil)
        #expect(await view.output.line(saying: "providers/p/vehicles/van-7") != nil)

        let terminal = try await lastWord(ofLineStartingWith: "terminal", in: view)
        let before = view.output.lines.count
        let resized = try await ChildProcess(
            arguments: ["/bin/stty", "-F", terminal, "cols", "44", "rows", "10"], timeLimit: BuiltProgram.hangTimeout
        ).run()
        #expect(resized.ending == .exited(0))
        // The clock is at the end of the screen's first line, which follows the end of the previous screen.
        let isNarrow = await view.output.wait { lines in
            lines[before...].contains { line in
                let first = line.text.split(separator: "\u{1B}[H").last.map(String.init) ?? ""
                return first.contains("Waypost") && Self.plainText(first).count == 44
            }
        }
        #expect(isNarrow)

        #expect(await service.terminate().ending == .exited(0))
        #expect(await view.output.line(saying: "the service does not answer") != nil)
        try keys.send("q")
        #expect(await view.output.line(saying: "ended with 0") != nil)
        _ = await view.end()
        expectRestoredTerminal(in: view.output.lines.map(\.text))
    }

    @Test(arguments: ["control-c", "SIGTERM", "SIGINT", "SIGHUP"]) func restoresTheTerminal(after ending: String)
        async throws
    {
        let keys = try PseudoTerminal()
        let view = try startView(keys: keys)
        try #require(await view.output.line(saying: "No answer since ") != nil)
        if ending == "control-c" {
            try keys.send([3])
        } else {
            let signal = try #require(["SIGTERM": SIGTERM, "SIGINT": SIGINT, "SIGHUP": SIGHUP][ending])
            kill(try #require(pid_t(try await lastWord(ofLineStartingWith: "process", in: view))), signal)
        }
        #expect(await view.output.line(saying: "ended with 0") != nil)
        _ = await view.end()
        expectRestoredTerminal(in: view.output.lines.map(\.text))
    }

    /// Control-Z returns the terminal to the shell, and the view redraws when it is in the foreground again.
    @Test func stopsOnControlZAndContinuesInTheForeground() async throws {
        let keys = try PseudoTerminal()
        let view = try startView(keys: keys, asJob: true)
        try #require(await view.output.line(saying: "No answer since ") != nil)
        try keys.send([0x1A])
        try #require(await view.output.line(saying: "stopped with \(128 + SIGTSTP)") != nil)
        let redrawn = await view.output.wait { lines in
            lines.drop { !$0.text.contains("stopped with") }.contains { $0.text.contains("No answer since ") }
        }
        #expect(redrawn)
        try keys.send("q")
        #expect(await view.output.line(saying: "ended with 0") != nil)
        _ = await view.end()
        expectRestoredTerminal(in: view.output.lines.map(\.text), times: 2)
    }

    @Test func omitsColourIfTheEnvironmentDeclinesIt() async throws {
        let keys = try PseudoTerminal()
        for (environment, isColoured) in [([:], true), (["NO_COLOR": "1"], false)] {
            let view = try startView(keys: keys, environment: environment)
            try #require(await view.output.line(saying: "No answer since ") != nil)
            try keys.send("q")
            _ = await view.end()
            #expect(view.output.text.contains("\u{1B}[31m") == isColoured)
        }
    }

    @Test(arguments: [["--watch"], ["--watch", "--json"]]) func requiresATerminal(arguments: [String]) async throws {
        let outcome = try await BuiltProgram.run(["status"] + arguments)
        #expect(outcome.ending == .exited(64))
        let errorText = String(decoding: outcome.standardError, as: UTF8.self)
        #expect(
            errorText.hasPrefix(
                arguments.count == 1 ? "waypost: --watch needs a terminal" : "waypost: --watch is for people"))
    }

    /// Expects the terminal's original settings, the main screen and a visible cursor.
    private func expectRestoredTerminal(in lines: [String], times: Int = 1) {
        let settings = lines.map { $0.filter { $0 != "\r" } }.filter { $0.split(separator: ":").count > 20 }
        #expect(settings.count == 1 + times && Set(settings).count == 1, "\(settings)")
        let text = lines.joined()
        #expect(text.ranges(of: "\u{1B}[?1049h").count == times)
        #expect(text.ranges(of: "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l").count == times)
    }

    private static func plainText(_ line: String) -> String {
        String(line.replacing(/\u{1B}\[[0-9;?]*[A-Za-z]/, with: "").filter { $0 != "\r" })
    }
}
