/// Where updates wait.
package struct OutboxConfiguration: Sendable, Hashable {
    package var path: String
    package var maximumMegabytes: Int
}

extension OutboxConfiguration {
    init(_ root: inout ConfigurationSection) {
        var section = root.section("outbox")
        path = section.string("path", default: "/var/lib/waypost/outbox.sqlite")
        maximumMegabytes = section.integer("maximumMegabytes", in: 1...4096, default: 64)
        section.finish()
    }
}
