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
