import LinuxPlatform
import StrictJSON
import Operations

/// `waypost config`: prints each effective value with its source, or the JSON schema of the configuration file.
struct ConfigCommand {
    /// The configuration to print; `nil` if `--schema` requests the schema instead.
    private let effective: EffectiveConfiguration?
    private let asJSON: Bool

    init(_ arguments: Arguments) throws {
        asJSON = arguments.has("--json")
        if arguments.has("--schema") {
            if arguments.value("--config") != nil {
                throw UsageError("--schema is the same for every configuration; remove --config", command: "config")
            }
            effective = nil
        } else {
            effective = EffectiveConfiguration(try arguments.configuration(), file: arguments.configurationFile)
        }
    }

    func run() throws -> ExitStatus {
        let text = effective.map { asJSON ? $0.json : $0.text } ?? ConfigurationSchema.document.prettyText
        try StandardOutput.write(line: text)
        return .done
    }
}

/// The output of `waypost config`, without secrets.
struct EffectiveConfiguration {
    private let settings: [ConfigurationSetting]
    private let file: String

    init(_ configuration: Configuration, file: String) {
        settings = configuration.settings
        self.file = file
    }

    /// The path, value and source of each key, one per line.
    var text: String {
        let keyWidth = settings.map(\.path.count).max() ?? 0
        let values = settings.map { setting -> String in
            switch setting.value {
            case nil: "none"
            case .string(let text)?: text
            case let value?: value.text
            }
        }
        // The value column has a maximum width, so that a single long value doesn't push every source far to the right.
        let valueWidth = min(values.map(\.count).max() ?? 0, 40)
        return zip(settings, values).map { setting, value in
            "\(setting.path.padded(to: keyWidth))  \(value.padded(to: valueWidth))  \(text(for: setting.source))"
        }.joined(separator: "\n")
    }

    private func text(for source: ConfigurationSetting.Source) -> String {
        switch source {
        case .fallback: "default"
        case .line(let line): "\(file):\(line)"
        case .reference(let reference): "\(reference.parts.key) \(reference.parts.name)"
        }
    }

    /// A JSON object with the path of the file and, for each key, its value and the source of the value.
    var json: String {
        let members = settings.map { setting -> (String, JSONValue) in
            var members = ["value": setting.value ?? .null]
            switch setting.source {
            case .fallback: members["source"] = .string("default")
            case .line(let line):
                members["source"] = .string("configuration")
                members["line"] = .integer(Int64(line))
            case .reference(let reference):
                members["source"] = .string(reference.parts.key)
                members["name"] = .string(reference.parts.name)
            }
            return (setting.path, .object(members))
        }
        return JSONValue.object([
            "file": .string(file), "settings": .object(Dictionary(members, uniquingKeysWith: { first, _ in first })),
        ]).text
    }
}
