/// The text of a configuration, with the values of the references in it. Together they are enough to read the
/// configuration again after its files have changed.
package struct ConfigurationDocument: Sendable, Hashable {
    package let json: [UInt8]
    package var values: [ValueReference: ValueReference.Found]
    /// The settings that were read from the text; empty until the text has been read in this process.
    let settings: [ConfigurationSetting]

    package init(json: [UInt8], values: [ValueReference: ValueReference.Found] = [:]) {
        self.init(json: json, values: values, settings: [])
    }

    init(json: [UInt8], values: [ValueReference: ValueReference.Found], settings: [ConfigurationSetting]) {
        self.json = json
        self.values = values
        self.settings = settings
    }
}
