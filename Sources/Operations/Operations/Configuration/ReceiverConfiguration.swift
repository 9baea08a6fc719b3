package import GNSSReceiver

/// The source of the receiver's bytes.
package struct ReceiverConfiguration: Sendable, Hashable {
    package enum Source: Sendable, Hashable {
        case serial(device: String, baudRate: BaudRate)
        /// A recorded log, or, if `follows`, a log that another program is still writing.
        case file(path: String, follows: Bool)
        case standardInput
        case tcp(host: String, port: Int)
        case udp(host: String, port: Int)
        /// gpsd. `device` is gpsd's path of the receiver to read, if gpsd has several.
        case gpsd(host: String, port: Int, device: String?)
    }

    /// The values of `receiver.type`.
    enum Kind: String, CaseIterable { case serial, file, stdin, tcp, udp, gpsd }

    package var source: Source
    /// Whether sentences without a checksum are accepted; old receivers send none.
    package var acceptsMissingChecksum: Bool

    /// Reads the section `receiver`; `nil` if the type is missing or unknown.
    init?(_ root: inout ConfigurationSection) {
        var section = root.section("receiver", isRequired: true, "source of NMEA")
        guard let kind: Kind = section.choice("type", "source of NMEA") else { return nil }
        defer { section.finish() }
        source = Self.source(kind, &section)
        // gpsd checks the sentences itself.
        acceptsMissingChecksum =
            kind == .gpsd
            ? false
            : section.flag(
                "acceptMissingChecksum", default: false,
                "accept sentences without a checksum, as sent by old receivers")
    }

    private static func source(_ kind: Kind, _ section: inout ConfigurationSection) -> Source {
        switch kind {
        case .serial:
            let baudRate = section.integer(
                "baudRate", among: BaudRate.supported, or: "automatic", default: 9600,
                "of the serial port; automatic searches for it")
            return .serial(
                device: section.string("device", as: "/dev/ttyUSB0", "the serial port, or a link to it"),
                baudRate: baudRate.map(BaudRate.fixed) ?? .automatic)
        case .file:
            return .file(
                path: section.string("path", as: "/var/log/drive.nmea", "a recorded log"),
                follows: section.flag("follow", default: false, "another program is still writing the file"))
        case .stdin: return .standardInput
        case .tcp:
            return .tcp(
                host: section.host(as: "192.168.1.1", "a server that sends NMEA"),
                port: section.integer("port", in: 1...65535, default: 10110, "its port"))
        case .udp:
            let host = section.host(default: "127.0.0.1", "the address to listen on")
            if let first = UInt8(host.prefix { $0 != "." }), (224...239).contains(first) {
                section.report(
                    "host",
                    "is \"\(host)\", a multicast group, which Waypost does not join; write 0.0.0.0, and have the sender "
                        + "use this machine's address")
            }
            return .udp(
                host: host,
                port: section.integer("port", in: 1...65535, default: 10110, "the port to listen on"))
        case .gpsd:
            return .gpsd(
                host: section.host(default: "127.0.0.1", "the machine on which gpsd runs"),
                port: section.integer("port", in: 1...65535, default: 2947, "its port"),
                device: section.optionalString("device", "the receiver to read, by gpsd's path"))
        }
    }
}

extension ConfigurationSection {
    /// Returns a name or an address, and reports anything around it.
    fileprivate mutating func host(
        default fallback: String? = nil, as example: String? = nil, _ about: String
    ) -> String {
        let host = string("host", default: fallback, as: example, about)
        // An address of version 6 has several colons.
        if host.hasPrefix("[") || host.contains("/") || host.count(where: { $0 == ":" }) == 1 {
            report("host", "is \"\(host)\"; write the name or address alone, and the port as \"port\"")
        }
        return host
    }
}
