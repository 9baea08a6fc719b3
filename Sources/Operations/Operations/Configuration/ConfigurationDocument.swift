/// The text that a configuration was read from, with the values that it takes from elsewhere: enough to read it again,
/// whatever has become of the files since.
package struct ConfigurationDocument: Sendable, Hashable {
    package let json: [UInt8]
    package var values: [ValueReference: ValueReference.Found]

    package init(json: [UInt8], values: [ValueReference: ValueReference.Found] = [:]) {
        self.json = json
        self.values = values
    }
}
