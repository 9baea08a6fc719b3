/// The text that a configuration was read from, with the values that it takes from elsewhere: enough to read it again,
/// whatever has become of the files since.
package struct ConfigurationDocument: Sendable, Hashable {
    let json: [UInt8]
    var values: [ValueReference: ValueReference.Found] = [:]
}
