/// The text that a configuration was read from, with the values that it refers to: enough to read it again after the
/// files have changed.
package struct ConfigurationDocument: Sendable, Hashable {
    package let json: [UInt8]
    package var values: [ValueReference: ValueReference.Found]
    /// The settings in force; empty in a document that was passed on and not read yet.
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
