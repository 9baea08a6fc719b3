package import GNSSReceiver

/// Where the receiver's bytes come from, and what is made of them.
package struct ReceiverConfiguration: Sendable, Hashable {
    package enum Source: Sendable, Hashable {
        case serial(device: String, baudRate: BaudRate)
        /// A recorded log, or, with `follows`, one that another program still writes.
        case file(path: String, follows: Bool)
        case standardInput
        case tcp(host: String, port: Int)
        case udp(host: String, port: Int)
        /// `device` is the receiver to take when gpsd has several, by the path that gpsd knows.
        case gpsd(host: String, port: Int, device: String?)
    }

    /// The words of `receiver.type`.
    enum Kind: String, CaseIterable {
        case serial, file, stdin, tcp, udp, gpsd

        /// What others call them.
        static let meant: [String: Kind] = [
            "usb": .serial, "uart": .serial, "tty": .serial, "nmea": .serial, "device": .serial, "socket": .tcp,
            "network": .tcp, "log": .file, "replay": .file, "pipe": .stdin, "-": .stdin,
        ]
    }

    package var source: Source
    /// Whether sentences without a checksum count; old receivers send none.
    package var acceptsMissingChecksum: Bool

    /// `nil` when the type is missing or none of Waypost's.
    init?(_ root: inout ConfigurationSection) {
        var section = root.section("receiver", isRequired: true, "where NMEA comes from")
        guard let kind = section.choice("type", meant: Kind.meant, "where NMEA comes from") else { return nil }
        defer { section.finish() }
        source = Self.source(kind, &section)
        // gpsd has read the sentences already.
        acceptsMissingChecksum =
            kind == .gpsd
            ? false
            : section.flag(
                "acceptMissingChecksum", default: false,
                "accepts sentences without a checksum, as old receivers send them")
    }

    private static func source(_ kind: Kind, _ section: inout ConfigurationSection) -> Source {
        switch kind {
        case .serial:
            let baudRate = section.integer(
                "baudRate", among: BaudRate.supported, or: "automatic", default: 9600,
                "of the line; automatic looks for it")
            return .serial(
                device: section.string("device", as: "/dev/ttyUSB0", "the serial line, or a link to it"),
                baudRate: baudRate.map(BaudRate.fixed) ?? .automatic)
        case .file:
            return .file(
                path: section.string("path", as: "/var/log/drive.nmea", "a recorded log"),
                follows: section.flag("follow", default: false, "another program still writes the file"))
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
                    "is \"\(host)\", a multicast group, which Waypost does not join; let the sender send to this machine's "
                        + "address, and write 0.0.0.0")
            }
            return .udp(
                host: host,
                port: section.integer("port", in: 1...65535, default: 10110, "the port to listen on"))
        case .gpsd:
            return .gpsd(
                host: section.host(default: "127.0.0.1", "where gpsd runs"),
                port: section.integer("port", in: 1...65535, default: 2947, "its port"),
                device: section.optionalString("device", "the receiver to read, by the path that gpsd knows"))
        }
    }
}

extension ConfigurationSection {
    /// A name or an address under `host`.
    fileprivate mutating func host(
        default fallback: String? = nil, as example: String? = nil, _ about: String
    ) -> String {
        let host = string("host", default: fallback, as: example, about)
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        if host.hasPrefix("[") {
            report("host", "is \"\(host)\"; write the address without brackets")
        } else if numbers.count == 4, numbers.allSatisfy({ UInt($0) != nil }), !numbers.allSatisfy({ UInt8($0) != nil })
        {
            report("host", "is \"\(host)\", no IPv4 address: it has four numbers from 0 to 255")
        }
        return host
    }
}
