import Operations

enum CommandCatalog {
    static let acceptMissingChecksum = OptionSpec.flag(
        "--accept-missing-checksum", "accept sentences without a checksum, as old receivers send them")
    static let config = OptionSpec.value(
        "--config", "FILE", "the configuration (default \(Configuration.usualFile))")

    static let commands: [CommandSpec] = [
        CommandSpec(
            name: "run", summary: "Report the receiver's position until stopped.",
            details: """
                The service itself: reads the receiver, keeps updates in the outbox, uploads them. SIGTERM ends it in \
                order, whatever hangs within the 10 seconds that systemd allows. Speaks the systemd notify protocol when NOTIFY_SOCKET is set.
                """,
            operands: .none,
            options: [
                config,
                .value("--record", "DIR", "record the receiver and the log there, 32 MiB at most, without tokens"),
            ],
            examples: ["run", "run --config van.json --record /var/lib/waypost/recording"]),
        CommandSpec(
            name: "replay", summary: "Report the fixes of recorded NMEA logs.",
            details: """
                The same pipeline as run, fed from logs; the configuration's receiver and outbox.path are ignored. Times are \
                moved so that the last fix happens now. Ends when everything accepted is delivered. Each replay has an outbox of \
                its own, removed when everything was delivered.
                """,
            operands: .oneOrMore("LOG"),
            options: [
                config,
                .value(
                    "--speed", "N|max", "play N times as fast as recorded (default max)", choices: ["max"]),
                .flag("--keep-time", "send the times as recorded"),
                .flag("--loop", "begin again at the end, until stopped"),
                .flag("--follow", "wait for more at the end of the last log, until stopped"),
                acceptMissingChecksum,
                .value("--vehicles", "N", "play the log for N vehicles at once, with their updates in memory"),
                .value("--vehicle-id", "PATTERN", "their names, as van-%05d (default the vehicle's id and -%d)"),
                .value("--first-vehicle", "N", "number of the first one (default 1)"),
                .value("--spread-seconds", "N", "let them start over this time (default one interval of updates)"),
                .value("--spread-meters", "N", "move each one's drive by up to so much, by its number (default 0)"),
                .value("--outbox", "FILE", "continue this outbox, or begin it there; the log is played again"),
                .flag("--yes", "to a Fleet Engine on another machine: the vehicle is there for tests"),
                .flag("--json", "print the summary as one JSON object on standard output"),
            ],
            examples: [
                "replay drive.nmea --config try.json",
                "replay monday.nmea.gz tuesday.nmea.gz --config try.json --speed 60 --json",
                "replay town.nmea --config try.json --speed 1 --vehicles 10000 --vehicle-id van-%05d",
            ]),
        CommandSpec(
            name: "demo", summary: "See the whole product work in a minute, with no account and no network.",
            details: """
                Starts the simulator on this machine, drives a recorded route through it with an outage in the middle, and \
                shows that every update arrives. Without LOG it drives a simulated ten minutes in town.
                """,
            operands: .optional("LOG"),
            options: [
                .value("--listen", "HOST:PORT", "where the simulator's page is (default 127.0.0.1:0, a free port)"),
                .flag("--keep-open", "leave the simulator's page up afterwards, until stopped"),
            ],
            examples: ["demo", "demo drive.nmea --listen 127.0.0.1:8080 --keep-open"]),
        CommandSpec(
            name: "simulator", summary: "Run a strict Fleet Engine and a token issuer on this machine.",
            details: "Rejects what the real one rejects, and fails as ordered. Its page shows what arrived.",
            operands: .none, options: SimulatorCommand.options,
            examples: ["simulator", "simulator --trip trip-7=van-7:2000 --errors 503:0.3,401:0.05 --outage 10..30"]),
        CommandSpec(
            name: "fixes", summary: "Decode NMEA logs to fixes on standard output.",
            details: """
                Reads the files in order, gzip or plain; - or no LOG reads standard input. Only epochs with a valid \
                position give a fix. With --follow it waits for more at the end of the last file, like tail -F: through \
                rotation and truncation, until stopped.
                """,
            operands: .any("LOG"),
            options: [
                .value(
                    "--format", "FORMAT", "jsonl (default), csv, gpx or geojson",
                    choices: FixesFormat.allCases.map(\.rawValue)),
                .flag("--summary", "print one page about the logs instead"),
                .value(
                    "--explain", "LINE", "say what became of one line and why: its number, or its text in single quotes"
                ),
                .flag("--follow", "wait for more at the end of the last LOG, until stopped"),
                acceptMissingChecksum,
            ],
            examples: ["fixes drive.nmea --format gpx > drive.gpx", "fixes drive.nmea --summary"]),
        CommandSpec(
            name: "map", summary: "Draw NMEA logs as one page: track, speed, stops and gaps.",
            details: """
                Writes one HTML file that needs no network: the track over a metric grid, coloured by the speeds \
                that were driven, with stops, short stops, gaps and jumps; speed and altitude over time, which point \
                at the track and the track at them; what the logs hold. \
                Reads the files in order, gzip or plain; - reads standard input. What was read before a log's damage is drawn.
                """,
            operands: .oneOrMore("LOG"),
            options: [
                .value("-o", "FILE", "the page; - writes it to standard output", isRequired: true),
                .value("--reported", "FILE", "draw over it what was told: the file of simulator --record-uploads"),
                acceptMissingChecksum,
            ],
            examples: ["map drive.nmea -o drive.html", "map monday.nmea.gz tuesday.nmea.gz -o week.html"]),
        CommandSpec(
            name: "watch", summary: "Follow a trip or vehicle as its passenger sees it.",
            details: """
                Asks Fleet Engine every 5 seconds and prints a line for every change: position, age of the fix, status, \
                distance left, arrival (times in UTC). A trip's tokens come from the configuration's consumerAuthorization, \
                a vehicle's from authorization. Ends with the trip, or when stopped.
                """,
            operands: .none,
            options: [
                config,
                .value("--trip", "ID", "the trip to follow"),
                .value("--vehicle", "ID", "the vehicle to follow, of the configured service"),
                .flag("--json", "print one JSON object a line"),
            ],
            examples: ["watch --trip trip-7 --config try.json", "watch --vehicle van-7 --config try.json --json"]),
        CommandSpec(
            name: "check", summary: "Check a configuration before the vehicle leaves.",
            details: """
                Reports every wrong key, type and range of the file at once, then what else is wrong with it and the files \
                that it names. With --online it also opens the \
                receiver and the outbox, or asks the service that runs for them, fetches a token, asks Fleet Engine for the \
                vehicle, and with consumerAuthorization fetches a trip's token, a line per check with its remedy. As root, \
                it runs in the service's sandbox if the service reads this file. Exit \
                code 78 when the configuration is wrong, 69 when another check failed.
                """,
            operands: .none,
            options: [
                config,
                .flag("--online", "try the receiver, the token and Fleet Engine too"),
                .flag("--json", "print one JSON object when all is checked"),
            ],
            examples: ["check", "check --config van.json --online"]),
        CommandSpec(
            name: "config", summary: "Show the configuration in force, and where each value came from.",
            details: """
                A line a key: its value, and the line of the file, the default, or the file, environment variable or \
                credential that it came from. Secrets are struck out. --schema prints the JSON schema of the file, for \
                editors and for tests of configurations, instead.
                """,
            operands: .none,
            options: [
                config,
                .flag("--json", "print one JSON object instead"),
                .flag("--schema", "print the JSON schema of every configuration (draft 2020-12)"),
            ],
            examples: ["config", "config --schema > waypost.schema.json"]),
        CommandSpec(
            name: "token", summary: "Fetch a token and show what it says.",
            details: """
                Asks the configured provider once, without a cache, and shows whom the token is for, how long it lives, \
                its header and claims, and whether it fits the vehicle; never the signature. Exit code 1 when it does not fit. \
                With --trip it is a passenger's token, of consumerAuthorization, and has to fit that trip.
                """,
            operands: .none,
            options: [
                config,
                .value("--trip", "ID", "the token for following that trip"),
                .flag("--raw", "print the token itself, for another program; not to a terminal"),
                .flag("--force", "with --raw: to a terminal too"),
            ],
            examples: ["token", "token --config van.json --raw > token.jwt"]),
        CommandSpec(
            name: "status", summary: "Show the status of the running service.",
            details: """
                Asks the service at status.listen of the configuration, or at 127.0.0.1:9464 where this user may not read it; needs no secret. \
                Exit code 0 when all is well, 1 when something is wrong, 69 when it does not run, with the reason why it \
                ended, if it left one. With --watch it shows the same on the whole terminal, as it changes, with the sky and \
                the last answers, and waits for a service that does not run; q ends it.
                """,
            operands: .none,
            options: [
                config,
                .flag("--watch", "show it on the whole terminal as it changes, until q is pressed"),
                .flag("--json", "print what the service sends, in JSON"),
            ],
            examples: ["status", "status --watch", "status --json"]),
        CommandSpec(
            name: "why", summary: "Say why nothing is sent and what to do, or that all is well.",
            details: "Asks the running service, as status does. Times are in UTC.",
            operands: .none, options: [config, .flag("--json", "print one JSON object instead")],
            examples: ["why", "why --json --config van.json"]),
        CommandSpec(
            name: "conditions", summary: "List the conditions that the service reports, with their remedies.",
            details: """
                Prints the catalog, or one CODE of it, as the log, status and metrics name it: severity, stage, meaning and \
                remedy.
                """,
            operands: .optional("CODE"), options: [.flag("--json", "print a JSON array instead")],
            examples: ["conditions token_rejected", "conditions --json"]),
        CommandSpec(
            name: "bundle", summary: "Write one text file with everything that a help desk needs.",
            details: """
                Asks the running service, the checks and the system: verdict, checks, status, configuration, the last day of \
                the log, versions, devices, metrics. The file holds no secrets and no coordinates. Parts that are \
                unavailable are named with the reason.
                """,
            operands: .none,
            options: [
                config,
                .value("-o", "FILE", "file to write (default waypost-VEHICLE-TIME.txt); - is standard output"),
            ],
            examples: ["bundle", "bundle --config /etc/waypost/config.json -o van-7.txt"]),
        CommandSpec(
            name: "outbox", summary: "Show what is pending and evicted; decide about what is quarantined.",
            details: """
                list shows the ledger with reasons and times, the oldest pending and the newest update, and what is \
                quarantined; export writes every pending and quarantined update as a JSON line. requeue lets quarantined \
                updates be delivered once more, discard evicts them: --all of them, or each --update by its number. \
                Works while the service runs, which then carries it out within seconds, and while it is stopped.
                """,
            operands: .oneOf(["list", "export", "requeue", "discard"]),
            options: [
                config,
                .value(
                    "--update", "N", "requeue, discard: the number of a quarantined update", isRepeatable: true),
                .flag("--all", "requeue, discard: everything that is quarantined"),
                .flag("--json", "list, requeue, discard: print one JSON object instead"),
            ],
            examples: ["outbox list", "outbox requeue --update 4711 --update 4712"]),
        CommandSpec(
            name: "completions", summary: "Print what lets a shell complete waypost's commands and options.",
            details:
                "An installed Waypost brings them along; this is for a shell whose own folders may not be written.",
            operands: .oneOf(Shell.allCases.map(\.rawValue)), options: [],
            examples: [
                "completions bash > ~/.local/share/bash-completion/completions/waypost",
                "completions fish > ~/.config/fish/completions/waypost.fish",
            ]),
        CommandSpec(
            name: "manual", summary: "Print a page of the manual, in the form that man reads.",
            details: "An installed Waypost brings them along: man waypost, man waypost.json.",
            operands: .oneOf(ManualPage.allCases.map(\.rawValue)), options: [],
            examples: ["manual waypost.1 | man -l -", "manual waypost.json.5 > waypost.json.5"]),
        CommandSpec(
            name: "help", summary: "Show how a command is used.", details: "", operands: .optional("COMMAND"),
            options: [],
            examples: ["help replay", "help outbox"]),
    ]

    static func command(named name: String) throws(UsageError) -> CommandSpec {
        if let command = commands.first(where: { $0.name == name }) { return command }
        throw UsageError("there is no command \"\(name)\"\(Suggestion.command(for: name))")
    }
}

/// A command as the user sees it: what it is called, takes and does.
struct CommandSpec: Sendable {
    /// The arguments that are no options.
    enum Operands: Sendable {
        case none
        /// At least one, as `LOG...`.
        case oneOrMore(String)
        /// Any number, as `[LOG...]`.
        case any(String)
        /// At most one, as `[LOG]`.
        case optional(String)
        /// Exactly one of these words.
        case oneOf([String])
    }

    let name: String
    let summary: String
    /// What else there is to know, in whole sentences.
    let details: String
    let operands: Operands
    let options: [OptionSpec]
    /// Command lines that a reader may try, the simplest first.
    let examples: [String]

    /// The line behind `usage:`.
    var usage: String {
        var words = ["waypost", name]
        switch operands {
        case .none: break
        case .oneOrMore(let operand): words.append("\(operand)...")
        case .any(let operand): words.append("[\(operand)...]")
        case .optional(let operand): words.append("[\(operand)]")
        case .oneOf(let choices): words.append(choices.joined(separator: "|"))
        }
        let isLong = options.count > 6
        for option in options where option.isRequired || !isLong {
            let word = option.valueName.map { "\(option.name) \($0)" } ?? option.name
            words.append(option.isRequired ? word : "[\(word)]")
        }
        if isLong { words.append("[OPTIONS]") }
        return words.joined(separator: " ")
    }

    /// Why a command line of it cannot be understood.
    func refusal(_ problem: String) -> UsageError { UsageError(problem, command: name) }
}

struct OptionSpec: Sendable {
    /// With its dashes, as `--config`.
    let name: String
    /// What stands behind it, as `FILE`; `nil` for a flag.
    let valueName: String?
    let help: String
    let isRequired: Bool
    /// Whether it may stand there more than once, each time with another value.
    let isRepeatable: Bool
    /// The words that its value may be, where they are few.
    var choices: [String] = []
    /// The heading under which the help shows it, with those before and after that have the same.
    var group: String?

    static func value(
        _ name: String, _ valueName: String, _ help: String, isRequired: Bool = false, isRepeatable: Bool = false,
        choices: [String] = []
    ) -> Self {
        Self(
            name: name, valueName: valueName, help: help, isRequired: isRequired, isRepeatable: isRepeatable,
            choices: choices)
    }

    static func flag(_ name: String, _ help: String) -> Self {
        Self(name: name, valueName: nil, help: help, isRequired: false, isRepeatable: false)
    }

    /// The same under the heading `group`.
    func under(_ group: String) -> Self {
        var option = self
        option.group = group
        return option
    }
}
