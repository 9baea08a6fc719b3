package import SQLiteOutbox

/// Where updates wait, and for how long.
package struct OutboxConfiguration: Sendable, Hashable {
    package var path: String
    package var maximumMegabytes: Int
    /// `nil`: no update is too old to be delivered.
    package var maximumAgeDays: Int?
    package var durability: OutboxDurability
}

extension OutboxConfiguration {
    init(_ root: inout ConfigurationSection) {
        var section = root.section("outbox")
        path = section.string("path", default: "/var/lib/waypost/outbox.sqlite")
        maximumMegabytes = section.integer("maximumMegabytes", in: 1...4096, default: 64)
        maximumAgeDays = section.integer("maximumAgeDays", in: 1...3650, or: "unlimited")
        durability = section.choice("durability", default: OutboxDurability.full) ?? .full
        section.finish()
    }
}
