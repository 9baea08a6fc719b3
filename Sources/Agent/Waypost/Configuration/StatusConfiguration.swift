package import LinuxPlatform

/// Where the running service answers questions.
package struct StatusConfiguration: Sendable, Hashable {
    package var address: LocalAddress
}

extension StatusConfiguration {
    init?(_ root: inout ConfigurationSection) {
        var section = root.section("status")
        defer { section.finish() }
        guard let address = section.converted("listen", default: "127.0.0.1:9464", LocalAddress.init) else {
            return nil
        }
        self.address = address
    }
}
