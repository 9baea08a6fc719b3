import StrictJSON
import Operations

/// A page of the manual. The raw value is the file name of the page.
enum ManualPage: String, CaseIterable {
    case commands = "waypost.1"
    case configuration = "waypost.json.5"

    /// The page in man(7) format.
    var text: String {
        switch self {
        case .commands: CommandManual.text
        case .configuration: ConfigurationManual.text
        }
    }
}

/// The page waypost(1), which is generated from the catalog of commands.
enum CommandManual {
    static var text: String {
        var page = ManualText(
            name: "waypost", section: 1, summary: "report a vehicle's position to Google Fleet Engine")
        page.add(section: "SYNOPSIS")
        page.add(verbatim: ManualText.usage("waypost COMMAND [OPTIONS]"))
        page.add(section: "DESCRIPTION")
        page.add(
            paragraph: """
                Waypost reads the position of a vehicle from a GNSS receiver, and reports it to Fleet Engine with a token from \
                the operator's backend. \
                Until updates are delivered, they are kept in an outbox on the disk, which survives power cuts.
                """)
        page.add(
            paragraph: """
                Results go to standard output, errors to standard error. \
                The value of an option is written --name VALUE or --name=VALUE. Arguments after -- are not options. \
                A LOG is a file of NMEA 0183 sentences, plain or gzip; - is standard input.
                """)
        page.add(section: "COMMANDS")
        for command in CommandCatalog.commands { add(command, to: &page) }
        page.add(section: "FILES")
        for (path, meaning) in files { page.add(term: ManualText.italic(path), meaning: meaning) }
        page.add(section: "ENVIRONMENT")
        for (name, meaning) in environment { page.add(term: ManualText.bold(name), meaning: meaning) }
        page.add(section: "EXIT STATUS")
        for status in ExitStatus.allCases {
            page.add(term: ManualText.bold("\(status.rawValue)"), meaning: status.meaning.capitalizedSentence)
        }
        page.add(
            term: "\(ManualText.bold("130")), \(ManualText.bold("143"))",
            meaning:
                "Interrupted by Control-C or SIGTERM before the command had finished. Commands that run until stopped exit with 0."
        )
        page.add(section: "SEE ALSO")
        page.add(
            verbatim: ["waypost.json(5)", "systemctl(1)", "journalctl(1)", "gpsd(8)"].map(ManualText.reference)
                .joined(separator: ", "))
        return page.text
    }

    private static let files = [
        ("/etc/waypost/config.json", "The configuration, which waypost.json(5) explains."),
        ("/var/lib/waypost/outbox.sqlite", "The outbox, with undelivered updates and the ledger."),
    ]

    private static let environment = [
        ("NO_COLOR", "If set, output is not coloured."),
        ("TERM", "If set to dumb, output is neither coloured nor redrawn."),
        ("TMPDIR", "The directory for the outbox of a replay; /tmp if not set."),
        ("NOTIFY_SOCKET", "The socket on which run notifies the service manager; systemd sets it."),
    ]

    private static func add(_ command: CommandSpec, to page: inout ManualText) {
        page.add(subsection: command.name)
        page.add(paragraph: command.summary)
        page.add(verbatim: ".PP\n" + ManualText.usage(command.usage))
        if !command.details.isEmpty { page.add(paragraph: command.details) }
        var group: String?
        for option in command.options {
            if let heading = option.group, heading != group { page.add(paragraph: "\(heading.capitalizedSentence):") }
            group = option.group
            let value = option.valueName.map { " " + ManualText.usage($0) } ?? ""
            page.add(
                term: ManualText.bold(option.name) + value,
                meaning: "\(option.help.capitalizedSentence)\(option.isRepeatable ? "; may be repeated" : "").")
        }
        page.add(example: command.examples.map { "waypost \($0)" })
    }
}

extension String {
    /// The text with its first letter capitalised.
    var capitalizedSentence: String { prefix(1).uppercased() + dropFirst() }
}

/// The page waypost.json(5), which is generated from the declared configuration keys.
enum ConfigurationManual {
    static var text: String {
        var page = ManualText(name: "waypost.json", section: 5, summary: "the configuration of waypost")
        page.add(section: "DESCRIPTION")
        page.add(
            paragraph: """
                The configuration of waypost(1) is one JSON file, \(Configuration.defaultFile) unless --config specifies another. \
                It is read strictly: an unknown key, a wrong type and a value out of range are errors, and waypost check reports \
                all of them at once. Keys with a dot are in sections: upload.endpoint is the key endpoint in the section upload.
                """)
        page.add(
            paragraph: """
                A string can be replaced by { "file": PATH }, { "environment": NAME } or, for a credential of the systemd \
                service, { "credential": NAME }, so that one configuration serves many vehicles. waypost config shows the \
                values in force.
                """)
        page.add(section: "KEYS")
        var section = ""
        for key in ConfigurationKey.all where !key.path.hasPrefix("consumerAuthorization.") {
            let own = String(key.path.prefix { $0 != "." })
            if own != section { page.add(subsection: own) }
            section = own
            add(key, to: &page)
        }
        page.add(section: "EXAMPLE")
        page.add(example: example)
        page.add(section: "SEE ALSO")
        page.add(
            verbatim: ["waypost(1)", "systemd-creds(1)"].map(ManualText.reference).joined(separator: ", "))
        return page.text
    }

    private static func add(_ key: ConfigurationKey, to page: inout ManualText) {
        let isSection = key.form == .section
        let kind = key.type.map { " (type \($0))" } ?? ""
        var meaning = "\(key.description.capitalizedSentence)\(kind)."
        if key.path == "consumerAuthorization" { meaning += " It has the keys of authorization." }
        if key.isRequired {
            meaning += " Required."
        } else if let fallback = key.fallback {
            let words = fallback.stringValue ?? fallback.text
            meaning += " Default: \(words)."
        }
        page.add(
            term: ManualText.bold(key.path) + (isSection ? "" : "  \(ManualText.literal(key.allowedValues))"),
            meaning: meaning)
    }

    private static let example = [
        #"{"#,
        #"  "vehicle": { "providerId": "my-cloud-project", "vehicleId": { "file": "/etc/vehicle-id" } },"#,
        #"  "receiver": { "type": "serial", "device": "/dev/ttyUSB0", "baudRate": "automatic" },"#,
        #"  "authorization": {"#,
        #"    "type": "http","#,
        #"    "url": "https://backend.example.com/token/driver/{vehicleId}","#,
        #"    "headers": { "Authorization": { "credential": "backend-key", "scheme": "bearer" } }"#,
        #"  }"#,
        #"}"#,
    ]
}
