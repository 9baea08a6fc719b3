/// The text that a configuration was read from, with the values that it refers to: enough to read it again after the
/// files have changed.
package struct ConfigurationDocument: Sendable, Hashable {
    let json: [UInt8]
    var values: [ValueReference: ValueReference.Found] = [:]
    var settings: [ConfigurationSetting] = []
}
