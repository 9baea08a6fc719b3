import GNSSReceiver
import LinuxPlatform
import Testing
import Operations
import WaypostTestSupport

@testable import Replay
@testable import WaypostCommand

@Suite struct CommandLineArguments {
    static func parse(_ line: String) throws(UsageError) -> (CommandSpec, Arguments) {
        let words = line.split(separator: " ").map(String.init)
        let command = try CommandCatalog.command(named: words[0])
        return (command, try Arguments(Array(words.dropFirst()), for: command))
    }

    @Test(arguments: [
        ("levitate", "there is no command \"levitate\""), ("rum", "there is no command \"rum\"; did you mean run?"),
        ("run --config", "--config needs a value: --config FILE"),
        ("run --config c extra", "run does not accept \"extra\""),
        ("status --format json", "status has no option --format; fixes accepts it"),
        ("run --confg c", "run has no option --confg; did you mean --config?"),
        ("replay --config c", "replay needs LOG"),
        ("replay --json=yes log --config c", "--json takes no value; remove the text after ="),
        ("demo a b", "demo accepts one LOG, not 2"),
        ("outbox --config c", "outbox needs one of list, export, requeue, discard"),
        (
            "outbox lst --config c",
            "outbox needs one of list, export, requeue, discard, not \"lst\"; did you mean list?"
        ),
        (
            "outbox list requeue --config c",
            "outbox list does not accept \"requeue\""
        ),
        (
            "outbox requeue 4711",
            "outbox requeue does not accept \"4711\"; did you mean outbox requeue --update 4711?"
        ),
        ("check --config a --config=b", "--config is given twice, a and b; remove one"),
        ("check --config --online", "--config needs a value: --config FILE"),
        // Common options of other programs.
        ("sim", "there is no command \"sim\"; did you mean simulator?"),
        ("version", "there is no command \"version\"; did you mean --version?"),
        ("logs", "there is no command \"logs\"; did you mean journalctl -u waypost?"),
        (
            "--config c run",
            "there is no command \"--config\"; the command comes first: waypost COMMAND --config"
        ),
        ("check -c c", "check has no option -c; did you mean --config?"),
        ("fixes a -f gpx", "fixes has no option -f; did you mean --format?"),
        ("simulator --port 9000", "simulator has no option --port; did you mean --listen?"),
        ("simulator --log-level debug", "simulator has no option --log-level"),
        ("run --conf c", "run has no option --conf; did you mean --config?"),
        ("run -v --config c", "run has no option -v; set \"log.level\" in the configuration"),
        (
            "token --json --config c",
            "token has no option --json; replay, watch, check, config, status, why, conditions, outbox accept it"
        ),
        ("run --levitate", "run has no option --levitate"),
        ("bundle d/b.tar", "bundle does not accept \"d/b.tar\"; did you mean bundle -o d/b.tar?"),
        ("check c.json", "check does not accept \"c.json\"; did you mean check --config c.json?"),
        ("status now", "status does not accept \"now\""),
        ("watch trip-7 --config c", "watch does not accept \"trip-7\"; did you mean watch --trip trip-7?"),
        (
            "run --log-level debug",
            "run has no option --log-level; set \"log.level\" in the configuration, which is the file given by --config"
        ),
        ("check \u{2010}online", "\u{2010}online begins with a dash instead of a hyphen; type it again, with - or --"),
        ("check \u{2011}online", "\u{2011}online begins with a dash instead of a hyphen; type it again, with - or --"),
        ("check \u{2012}online", "\u{2012}online begins with a dash instead of a hyphen; type it again, with - or --"),
        ("check \u{2013}online", "\u{2013}online begins with a dash instead of a hyphen; type it again, with - or --"),
        ("check \u{2212}online", "\u{2212}online begins with a dash instead of a hyphen; type it again, with - or --"),
        (
            "check \u{2014}online",
            "\u{2014}online begins with a dash instead of a hyphen; type it again, with - or --"
        ),
        (
            "simulator 127.0.0.1:80",
            "simulator does not accept \"127.0.0.1:80\"; did you mean simulator --listen 127.0.0.1:80?"
        ),
    ])
    func areRejectedWithARemedy(line: String, problem: String) {
        do {
            _ = try Self.parse(line)
            Issue.record("\(line) was accepted")
        } catch {
            #expect(error.problem == problem)
            #expect(error.description.contains("waypost help"))
        }
    }

    @Test func mayBeInAnyOrder() throws {
        let (_, arguments) = try Self.parse("replay --json a.nmea --config=c.json --speed 60 -- --odd")
        #expect(arguments.operands == ["a.nmea", "--odd"])
        #expect(arguments.value("--config") == "c.json")
        #expect(arguments.value("--speed") == "60")
        #expect(arguments.has("--json"))
        #expect(!arguments.has("--loop"))
    }

    @Test func mayBeRepeatedIfTheHelpSaysSo() throws {
        let (_, arguments) = try Self.parse("simulator --vehicle a --vehicle b --outage 1..2 --outage 5..6")
        #expect(arguments.allValues("--vehicle") == ["a", "b"])
        #expect(arguments.allValues("--outage") == ["1..2", "5..6"])
    }

    @Test(arguments: [
        ("0", "--speed is 0"), ("fast", "--speed is fast"), ("-1", "--speed is -1"), ("nan", "--speed is nan"),
        ("inf", "--speed is inf"),
    ])
    func areRejectedIfTheSpeedIsInvalid(speed: String, problem: String) throws {
        let (_, arguments) = try Self.parse("replay a --config c --speed=\(speed)")
        do {
            _ = try ReplayOptions(arguments)
            Issue.record("\(speed) was accepted")
        } catch { #expect(error.problem.hasPrefix(problem)) }
    }

    @Test(arguments: [
        ("--vehicles 2 --outbox o", "--outbox is for one vehicle; several vehicles keep their updates in memory"),
        ("--vehicles 2 --follow", "--follow is for one vehicle; several vehicles read the log into memory"),
    ])
    func areRejectedIfTheySuitOnlyOneVehicle(options: String, problem: String) throws {
        let (_, arguments) = try Self.parse("replay a --config c \(options)")
        #expect(throws: UsageError(problem, command: "replay")) { try ReplayOptions(arguments) }
    }

    @Test(arguments: CommandCatalog.commands.map(\.name)) func areExplainedInTheHelp(name: String) throws {
        let command = try CommandCatalog.command(named: name)
        let page = HelpText.page(for: command)
        #expect(page.contains("usage: waypost \(name)"))
        for option in command.options { #expect(page.contains(option.name) && !option.help.isEmpty) }
        #expect(HelpText.overview.contains(command.summary))
        #expect(page.split(separator: "\n").allSatisfy { $0.count <= 140 })
        #expect(command.examples.count >= 2)
        for example in command.examples {
            #expect(page.contains("\n  waypost \(example)"))
            let line = String(example.prefix { !">|".contains($0) })
            #expect(throws: Never.self) { _ = try Self.parse(line) }
            #expect(line.hasPrefix(name))
        }
    }

    @Test func areGroupedInTheHelpIfThereAreMany() {
        let page = HelpText.page(
            for: CommandCatalog.commands.first { $0.name == "simulator" } ?? CommandCatalog.commands[0])
        let headings = page.split(separator: "\n").filter { $0.hasSuffix(":") }
        #expect(
            headings == [
                "resources:", "tokens:", "faults of Fleet Engine:", "faults of the token issuer:", "examples:",
            ])
    }

    @Test(
        arguments: [
            (nil, "l.nmea  7 fixes  3 sent  2 pending  1.5/s"),
            // Without a plan, the time left is extrapolated: of 10 updates in all, 3 were delivered in 2 s.
            ((50, .maximum), "l.nmea  50 %  7 fixes  3 sent  2 pending  1.5/s  5 s left"),
            ((50, .times(10)), "l.nmea  20 %  7 fixes  3 sent  2 pending  1.5/s  8 s left"),
            // The whole log has been read, but two updates are still pending.
            ((100, .maximum), "l.nmea  100 %  7 fixes  3 sent  2 pending  1.5/s  1 s left"),
        ] as [((seconds: Int, speed: ReplaySpeed)?, String)])
    func theProgressOfAReplayIsOneLine(reached: (seconds: Int, speed: ReplaySpeed)?, text: String) {
        let progress = reached.map {
            ReplayProgress(reached: .seconds($0.seconds), of: .seconds(100), elapsed: .seconds(2), speed: $0.speed)
        }
        let line = ProgressLine(
            name: "/logs/l.nmea", progress: progress, fixes: 7, accepted: 5, delivered: 3, elapsed: .seconds(2),
            trouble: nil)
        #expect(line.text(width: 80) == text)
    }

    @Test func reportThatTheServiceStillUsesAnEarlierFile() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(#"{"vehicle": {"providerId": "p"#.utf8, to: "config.json")
        let (_, arguments) = try Self.parse("why")
        var said: [String] = []
        #expect(
            try arguments.runningService(defaultFile: file) { said.append($0) }.address.description == "127.0.0.1:9464")
        #expect(said.count == 2 && said[0].contains("a string without a closing quote"), "\(said)")
        #expect(
            said.last?.hasPrefix(
                "waypost: asking the running service at 127.0.0.1:9464, which still uses its loaded configuration"
            )
                == true, "\(said)")
    }

    @Test func useTheAddressInABrokenFile() throws {
        let directory = try TemporaryDirectory()
        let broken = try directory.write(#"{"status": {"listen": "127.0.0.1:81","#.utf8, to: "config.json")
        let (_, arguments) = try Self.parse("why --config \(broken)")
        var said: [String] = []
        #expect(try arguments.runningService { said.append($0) }.address.description == "127.0.0.1:81")
        #expect(said.count == 2 && said[1].contains("asking the running service at 127.0.0.1:81"), "\(said)")
    }

    @Test func rejectANamedFileThatIsMissing() throws {
        let directory = try TemporaryDirectory()
        let (_, arguments) = try Self.parse("why --config \(directory.path("none"))")
        #expect(throws: ConfigurationError.self) { try arguments.runningService { _ in Issue.record("said") } }
    }

    @Test func showTheHelpOfTheCommandAfterTheHelpOption() async throws {
        let outcome = try await BuiltProgram.run(["--help", "replay"])
        #expect(String(decoding: outcome.standardOutput, as: UTF8.self).contains("usage: waypost replay LOG"))
        #expect(outcome.ending == .exited(0))
    }
}
