import LinuxPlatform

/// `waypost manual`: prints a page of the manual.
struct ManualCommand {
    private let page: ManualPage

    init(_ arguments: Arguments) throws {
        guard let page = arguments.operands.first.flatMap(ManualPage.init(rawValue:)) else {
            throw UsageError("manual needs a page", command: "manual")
        }
        self.page = page
    }

    func run() throws -> ExitStatus {
        try StandardOutput.write(line: page.text)
        return .done
    }
}

/// The pages of the manual, by their names in the system's.
enum ManualPage: String, CaseIterable {
    case commands = "waypost.1"
    case configuration = "waypost.json.5"

    /// In the language of man(7).
    var text: String {
        switch self {
        case .commands: CommandManual.text
        case .configuration: ConfigurationManual.text
        }
    }
}
