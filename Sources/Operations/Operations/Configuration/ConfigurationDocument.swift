/// The text that a configuration was read from and the values that it refers to. Together they allow reading it again
/// after the files have changed.
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
