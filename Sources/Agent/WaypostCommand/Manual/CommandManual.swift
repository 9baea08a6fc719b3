/// The page waypost(1): every command, made of the catalog.
enum CommandManual {
    static var text: String {
        var page = ManualText(
            name: "waypost", section: 1, summary: "report a vehicle's position to Google Fleet Engine")
        page.add(section: "SYNOPSIS")
        page.add(verbatim: ManualText.usage("waypost COMMAND [OPTIONS]"))
        page.add(section: "DESCRIPTION")
        page.add(
            paragraph: """
                Waypost reads the position of a vehicle from a GNSS receiver, obtains a token from the operator's backend, and \
                reports position and token to Fleet Engine. \
                What a bad network delays waits in an outbox on the disk, which a power cut does not harm.
                """)
        page.add(
            paragraph: """
                Results go to standard output, errors to standard error. \
                The value of an option is written --name VALUE or --name=VALUE. Behind -- nothing is an option. \
                A LOG is a file of NMEA 0183 sentences, plain or gzip; - is standard input.
                """)
        page.add(section: "COMMANDS")
        for command in CommandCatalog.commands { add(command, to: &page) }
        page.add(section: "FILES")
        for (path, meaning) in files { page.add(term: ManualText.italic(path), meaning) }
        page.add(section: "ENVIRONMENT")
        for (name, meaning) in environment { page.add(term: ManualText.bold(name), meaning) }
        page.add(section: "EXIT STATUS")
        for status in ExitStatus.allCases {
            page.add(term: ManualText.bold("\(status.rawValue)"), status.meaning.capitalizedSentence)
        }
        page.add(
            term: "\(ManualText.bold("130")), \(ManualText.bold("143"))",
            "Interrupted by Control-C or SIGTERM before it was done. What runs until it is stopped ends with 0.")
        page.add(section: "SEE ALSO")
        page.add(
            verbatim: ["waypost.json(5)", "systemctl(1)", "journalctl(1)", "gpsd(8)"].map(ManualText.reference)
                .joined(separator: ", "))
        return page.text
    }

    private static let files = [
        ("/etc/waypost/config.json", "The configuration, which waypost.json(5) explains."),
        ("/var/lib/waypost/outbox.sqlite", "Updates that are not delivered yet, and the count of all."),
    ]

    private static let environment = [
        ("NO_COLOR", "Nothing is coloured when it is set."),
        ("TERM", "Nothing is coloured or drawn over on a terminal that is called dumb."),
        ("TMPDIR", "The folder in which replay keeps its outbox; /tmp without it."),
        ("NOTIFY_SOCKET", "Where run tells the service manager that it is ready and well; systemd sets it."),
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
                "\(option.help.capitalizedSentence)\(option.isRepeatable ? "; may be repeated" : "").")
        }
        page.add(example: command.examples.map { "waypost \($0)" })
    }
}

extension String {
    /// With a capital at its beginning.
    var capitalizedSentence: String { prefix(1).uppercased() + dropFirst() }
}
