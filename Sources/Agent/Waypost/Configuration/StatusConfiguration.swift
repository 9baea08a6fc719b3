/// Where the running service answers questions.
package struct StatusConfiguration: Sendable, Hashable {
    package var host: String
    package var port: Int
}

extension StatusConfiguration {
    init?(_ root: inout ConfigurationSection) {
        var section = root.section("status")
        defer { section.finish() }
        let address = section.converted("listen", default: "127.0.0.1:9464", ListenAddress.init)
        guard let address else { return nil }
        (host, port) = (address.host, address.port)
    }
}
