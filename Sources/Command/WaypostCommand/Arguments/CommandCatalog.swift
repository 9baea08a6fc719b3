import Operations

enum CommandCatalog {
    static let acceptMissingChecksum = OptionSpec.flag(
        "--accept-missing-checksum", "accept sentences without a checksum, as sent by old receivers")
    static let config = OptionSpec.value(
        "--config", "FILE", "the configuration file (default \(Configuration.defaultFile))")

    static let commands: [CommandSpec] = [
        CommandSpec(
            name: "run", summary: "Report the receiver's position until stopped.",
            details: """
                Runs the service, which reads the receiver, keeps updates in the outbox and uploads them. SIGTERM shuts it \
                down within the 10 seconds that systemd allows. It notifies the service manager if NOTIFY_SOCKET is set.
                """,
            operands: .none,
            options: [
                config,
                .value(
                    "--record", "DIR", "record the receiver's data and the log in DIR, without tokens; at most 32 MiB"),
            ],
            examples: ["run", "run --config van.json --record /var/lib/waypost/recording"]),
        CommandSpec(
            name: "replay", summary: "Report the fixes of recorded NMEA logs.",
            details: """
                Feeds logs to the same pipeline as run, and ignores the configuration's receiver and outbox.path. Times are \
                shifted so that the last fix is now. When all accepted updates have been delivered, the replay ends and \
                removes its temporary outbox.
                """,
            operands: .oneOrMore("LOG"),
            options: [
                config,
                .value(
                    "--speed", "N|max", "play N times as fast as recorded (default max)", choices: ["max"]),
                .flag("--keep-time", "keep the recorded times"),
                .flag("--loop", "repeat the logs until stopped"),
                .flag("--follow", "wait for more data at the end of the last log, until stopped"),
                acceptMissingChecksum,
                .value("--vehicles", "N", "replay the logs as N vehicles at once, whose updates are kept in memory"),
                .value(
                    "--vehicle-id", "PATTERN",
                    "the pattern of the vehicles' ids, such as van-%05d (default: the configured id followed by -%d)"),
                .value("--first-vehicle", "N", "the number of the first vehicle (default 1)"),
                .value(
                    "--spread-seconds", "N",
                    "spread the vehicles' starts over N seconds (default: one update interval)"),
                .value("--spread-meters", "N", "offset each vehicle's track by up to N metres (default 0)"),
                .value(
                    "--outbox", "FILE",
                    "use the outbox in FILE, or create it there; the logs are replayed from the start"),
                .flag("--yes", "allow a Fleet Engine on another machine; only for test vehicles"),
                .flag("--json", "print the summary as one JSON object on standard output"),
            ],
            examples: [
                "replay drive.nmea --config try.json",
                "replay monday.nmea.gz tuesday.nmea.gz --config try.json --speed 60 --json",
                "replay town.nmea --config try.json --speed 1 --vehicles 10000 --vehicle-id van-%05d",
            ]),
        CommandSpec(
            name: "demo", summary: "See Waypost at work in a minute, without an account or a network.",
            details: """
                Starts the simulator on this machine, replays a recorded drive with an outage in the middle, and shows that \
                every update arrives. Without LOG, it replays a simulated ten-minute drive through town.
                """,
            operands: .optional("LOG"),
            options: [
                .value(
                    "--listen", "HOST:PORT", "the address of the simulator's page (default: a free port on 127.0.0.1)"),
                .flag("--keep-open", "keep the simulator's page open after the demo, until you stop the program"),
            ],
            examples: ["demo", "demo drive.nmea --listen 127.0.0.1:8080 --keep-open"]),
        CommandSpec(
            name: "simulator", summary: "Simulate a strict Fleet Engine and a token issuer on this machine.",
            details:
                "Rejects the same requests as the real Fleet Engine, and fails on demand. Its page shows the requests.",
            operands: .none, options: SimulatorCommand.options,
            examples: ["simulator", "simulator --trip trip-7=van-7:2000 --errors 503:0.3,401:0.05 --outage 10..30"]),
        CommandSpec(
            name: "fixes", summary: "Decode NMEA logs into fixes on standard output.",
            details: """
                Reads the files in order, gzip or plain. If LOG is - or missing, it reads standard input. Only an epoch with \
                a valid position becomes a fix. With --follow, it waits for more data at the end of the last file until \
                stopped, even if the file is rotated or truncated, as tail -F does.
                """,
            operands: .any("LOG"),
            options: [
                .value(
                    "--format", "FORMAT", "jsonl (default), csv, gpx or geojson",
                    choices: FixesFormat.allCases.map(\.rawValue)),
                .flag("--summary", "print a summary of the logs instead of the fixes"),
                .value(
                    "--explain", "LINE",
                    "explain how a line is decoded; LINE is its number, or its text in single quotes"
                ),
                .flag("--follow", "wait for more data at the end of the last LOG, until stopped"),
                acceptMissingChecksum,
            ],
            examples: ["fixes drive.nmea --format gpx > drive.gpx", "fixes drive.nmea --summary"]),
        CommandSpec(
            name: "map", summary: "Draw NMEA logs on one page: track, speed, stops and gaps.",
            details: """
                Writes one HTML file that needs no network: the track over a metric grid, coloured by speed, with stops, gaps \
                and jumps; linked charts of speed and altitude; a summary of the logs. \
                Reads the files in order, gzip or plain; - reads standard input. A damaged log is drawn as far as it can be read.
                """,
            operands: .oneOrMore("LOG"),
            options: [
                .value("-o", "FILE", "the file to write; - is standard output", isRequired: true),
                .value(
                    "--reported", "FILE", "add the reported positions from a file written by simulator --record-uploads"
                ),
                acceptMissingChecksum,
            ],
            examples: ["map drive.nmea -o drive.html", "map monday.nmea.gz tuesday.nmea.gz -o week.html"]),
        CommandSpec(
            name: "watch", summary: "Follow a trip or vehicle as a passenger sees it.",
            details: """
                Asks Fleet Engine every 5 seconds and prints one line per change: position, age of the fix, status, \
                remaining distance and arrival (times in UTC). The configuration's consumerAuthorization provides the tokens \
                for a trip, and authorization those for a vehicle. The command ends when the trip ends, or when stopped.
                """,
            operands: .none,
            options: [
                config,
                .value("--trip", "ID", "the trip to follow"),
                .value("--vehicle", "ID", "the vehicle to follow, which must belong to the configured service"),
                .flag("--json", "print one JSON object per line"),
            ],
            examples: ["watch --trip trip-7 --config try.json", "watch --vehicle van-7 --config try.json --json"]),
        CommandSpec(
            name: "check", summary: "Check a configuration before the vehicle leaves.",
            details: """
                Reports every wrong key, type and range in the file at once, then other problems with the configuration and \
                with the files that it refers to. With --online, it also opens the receiver and the outbox, or asks the \
                running service about them. It then fetches a token, asks Fleet Engine for the vehicle and, with \
                consumerAuthorization, fetches a trip's token. Each check prints one line, with a remedy if it failed. As \
                root, it runs in the service's sandbox if the service reads this file. The exit code is 78 if the \
                configuration is wrong, and 69 if another check failed.
                """,
            operands: .none,
            options: [
                config,
                .flag("--online", "also try the receiver, the token and Fleet Engine"),
                .flag("--json", "print the results as one JSON object at the end"),
            ],
            examples: ["check", "check --config van.json --online"]),
        CommandSpec(
            name: "config", summary: "Show the configuration in force, and the source of each value.",
            details: """
                Prints one line per key: its value and its source (line of the configuration, default, file, environment \
                variable or credential), without secrets. With --schema, it prints the JSON schema instead, for editors and \
                for testing configurations.
                """,
            operands: .none,
            options: [
                config,
                .flag("--json", "print the values and their sources as one JSON object"),
                .flag("--schema", "print the JSON schema of configuration files (draft 2020-12)"),
            ],
            examples: ["config", "config --schema > waypost.schema.json"]),
        CommandSpec(
            name: "token", summary: "Fetch a token and show its contents.",
            details: """
                Asks the configured provider once, without a cache, and shows the token's subject, lifetime, header and \
                claims, and whether it fits the vehicle. It never shows the signature. The exit code is 1 if the token \
                doesn't fit. With --trip, it fetches a passenger's token from consumerAuthorization; the token must fit the \
                trip.
                """,
            operands: .none,
            options: [
                config,
                .value("--trip", "ID", "fetch a passenger's token for the trip instead of the vehicle's token"),
                .flag("--raw", "print only the token, for use by another program; not allowed on a terminal"),
                .flag("--force", "with --raw: print the token even on a terminal"),
            ],
            examples: ["token", "token --config van.json --raw > token.jwt"]),
        CommandSpec(
            name: "status", summary: "Show the status of the running service.",
            details: """
                Asks the service at the configuration's status.listen, or at 127.0.0.1:9464 if this user can't read the \
                configuration. The exit code is 0 if all is well, 1 if something is wrong, and 69 if the service isn't \
                running; in that case the reason why it ended is shown, if known. With --watch, the command fills the \
                terminal, follows changes, and also shows the satellites and recent events. It waits for a service that \
                isn't running. q quits.
                """,
            operands: .none,
            options: [
                config,
                .flag("--watch", "fill the terminal and follow changes until q is pressed"),
                .flag("--json", "print the status as the JSON object that the service sends"),
            ],
            examples: ["status", "status --watch", "status --json"]),
        CommandSpec(
            name: "why", summary: "Say what is wrong and what to do, or that all is well.",
            details: "Asks the running service, as status does. Times are in UTC.",
            operands: .none, options: [config, .flag("--json", "print the conditions as one JSON object")],
            examples: ["why", "why --json --config van.json"]),
        CommandSpec(
            name: "conditions", summary: "List the conditions that the service reports, with their remedies.",
            details: """
                Prints the severity, stage, title and remedy of every condition, or only of CODE. The log, the status and the \
                metrics use the same codes.
                """,
            operands: .optional("CODE"), options: [.flag("--json", "print the conditions as a JSON array")],
            examples: ["conditions token_rejected", "conditions --json"]),
        CommandSpec(
            name: "bundle", summary: "Write one text file with everything that a help desk needs.",
            details: """
                Collects the verdict, checks, status, configuration, the last day of the log, versions, devices and metrics. \
                The file contains no secrets and no coordinates. It lists each unavailable part with the reason.
                """,
            operands: .none,
            options: [
                config,
                .value("-o", "FILE", "the file to write (default waypost-VEHICLE-TIME.txt); - is standard output"),
            ],
            examples: ["bundle", "bundle --config /etc/waypost/config.json -o van-7.txt"]),
        CommandSpec(
            name: "outbox",
            summary: "Show pending, evicted and quarantined updates; requeue or discard quarantined ones.",
            details: """
                list shows the ledger with reasons and times, the oldest pending update, the newest update and the \
                quarantined updates. export writes one JSON line per pending or quarantined update. requeue makes quarantined \
                updates pending again, and discard evicts them: all of them with --all, or those given by --update. All four \
                work whether or not the service is running; a running service carries out the changes within seconds.
                """,
            operands: .oneOf(["list", "export", "requeue", "discard"]),
            options: [
                config,
                .value(
                    "--update", "N", "requeue, discard: the number of a quarantined update", isRepeatable: true),
                .flag("--all", "requeue, discard: every quarantined update"),
                .flag("--json", "list, requeue, discard: print the result as one JSON object"),
            ],
            examples: ["outbox list", "outbox requeue --update 4711 --update 4712"]),
        CommandSpec(
            name: "completions", summary: "Print the completion script for a shell.",
            details:
                "Packages install the scripts; this command is for other installations.",
            operands: .oneOf(Shell.allCases.map(\.rawValue)), options: [],
            examples: [
                "completions bash > ~/.local/share/bash-completion/completions/waypost",
                "completions fish > ~/.config/fish/completions/waypost.fish",
            ]),
        CommandSpec(
            name: "manual", summary: "Print a manual page in man format.",
            details: "Packages install the pages: man waypost, man waypost.json.",
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

/// A command's name, help, operands and options.
struct CommandSpec: Sendable {
    /// The operands that a command accepts. Operands are all arguments except options.
    enum Operands: Sendable {
        case none
        /// At least one operand, shown as `LOG...`.
        case oneOrMore(String)
        /// Any number of operands, shown as `[LOG...]`.
        case any(String)
        /// At most one operand, shown as `[LOG]`.
        case optional(String)
        /// Exactly one operand, which must be one of the given words.
        case oneOf([String])
    }

    let name: String
    let summary: String
    /// The part of the command's help after the usage line, in full sentences; may be empty.
    let details: String
    let operands: Operands
    let options: [OptionSpec]
    /// Example command lines without the program's name, the simplest first.
    let examples: [String]

    /// The command line that the help shows after `usage:`.
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

    /// Returns a usage error whose message refers the user to this command's help.
    func usageError(_ problem: String) -> UsageError { UsageError(problem, command: name) }
}

struct OptionSpec: Sendable {
    /// The name with its hyphens, such as `--config`.
    let name: String
    /// The placeholder for the option's value in the help, such as `FILE`; `nil` for a flag, which has no value.
    let valueName: String?
    let help: String
    let isRequired: Bool
    /// Whether the option may be given more than once.
    let isRepeatable: Bool
    /// The possible values, which shells offer as completions; empty if there are too many to list.
    var choices: [String] = []
    /// The heading of the option's group in the help; `nil` if the option isn't in a group.
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

    /// Returns a copy of this option that the help lists under the heading `group`.
    func inGroup(_ group: String) -> Self {
        var option = self
        option.group = group
        return option
    }
}
