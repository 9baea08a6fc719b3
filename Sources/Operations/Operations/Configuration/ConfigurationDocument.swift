/// The text of a configuration and the values that the text refers to. Together they are enough
/// to read the configuration again after its files have changed.
package struct ConfigurationDocument: Sendable, Hashable {
    package let json: [UInt8]
    package var values: [ValueReference: ValueReference.Found]
    /// The settings; empty in a document that has been passed on but hasn't been read yet.
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
