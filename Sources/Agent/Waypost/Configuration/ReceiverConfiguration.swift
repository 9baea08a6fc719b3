package import GNSSReceiver

/// Where the receiver's bytes come from.
package enum ReceiverConfiguration: Sendable, Hashable {
    case serial(device: String, baudRate: BaudRate)
    case file(path: String)
    case standardInput
    case tcp(host: String, port: Int)
    case udp(host: String, port: Int)
    /// `device` is the receiver to take when gpsd has several, by the path that gpsd knows.
    case gpsd(host: String, port: Int, device: String?)

    /// The words of `receiver.type`.
    enum Kind: String, CaseIterable { case serial, file, stdin, tcp, udp, gpsd }
}

extension ReceiverConfiguration {
    /// `nil` when the type is missing or none of Waypost's.
    init?(_ root: inout ConfigurationSection) {
        var section = root.section("receiver", isRequired: true)
        guard let kind = section.choice("type", default: Kind?.none) else { return nil }
        defer { section.finish() }
        switch kind {
        case .serial:
            let baudRate = section.integer(
                "baudRate", among: SerialReceiver.supportedBaudRates, or: "automatic", default: 9600)
            self = .serial(device: section.string("device"), baudRate: baudRate.map(BaudRate.fixed) ?? .automatic)
        case .file: self = .file(path: section.string("path"))
        case .stdin: self = .standardInput
        case .tcp:
            self = .tcp(host: section.string("host"), port: section.integer("port", in: 1...65535, default: 10110))
        case .udp:
            self = .udp(
                host: section.string("host", default: "127.0.0.1"),
                port: section.integer("port", in: 1...65535, default: 10110))
        case .gpsd:
            self = .gpsd(
                host: section.string("host", default: "127.0.0.1"),
                port: section.integer("port", in: 1...65535, default: 2947), device: section.optionalString("device"))
        }
    }
}
