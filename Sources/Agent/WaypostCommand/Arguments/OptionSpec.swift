/// One option of a command.
struct OptionSpec: Sendable {
    /// With its dashes, as `--config`.
    let name: String
    /// What stands behind it, as `FILE`; `nil` for a flag.
    let valueName: String?
    let help: String
    let isRequired: Bool
    /// Whether it may stand there more than once, each time with another value.
    let isRepeatable: Bool

    /// An option with a value.
    static func value(
        _ name: String, _ valueName: String, _ help: String, isRequired: Bool = false, isRepeatable: Bool = false
    ) -> Self {
        Self(name: name, valueName: valueName, help: help, isRequired: isRequired, isRepeatable: isRepeatable)
    }

    /// An option without a value.
    static func flag(_ name: String, _ help: String) -> Self {
        Self(name: name, valueName: nil, help: help, isRequired: false, isRepeatable: false)
    }
}
