/// What goes to the log.
package struct LogConfiguration: Sendable, Hashable {
    package var level: LogLevel
    package var format: LogFormat
}

extension LogConfiguration {
    init(_ root: inout ConfigurationSection) {
        var section = root.section("log")
        level = section.choice("level", default: LogLevel.info) ?? .info
        format = section.choice("format", default: LogFormat.text) ?? .text
        section.finish()
    }
}
