package import GNSSReceiver

/// The settings for the receiver: where its bytes come from, and which sentences are accepted.
package struct ReceiverConfiguration: Sendable, Hashable {
    package enum Source: Sendable, Hashable {
        case serial(device: String, baudRate: BaudRate)
        /// A recorded log. If `follows` is `true`, another program is still writing to it.
        case file(path: String, follows: Bool)
        case standardInput
        case tcp(host: String, port: Int)
        case udp(host: String, port: Int)
        /// The daemon gpsd. If it has several receivers, `device` is the path under which gpsd knows the receiver to
        /// read.
        case gpsd(host: String, port: Int, device: String?)
    }

    /// The values of `receiver.type`.
    enum Kind: String, CaseIterable { case serial, file, stdin, tcp, udp, gpsd }

    package var source: Source
    /// Whether sentences without a checksum are accepted, which some old receivers send.
    package var acceptsMissingChecksum: Bool

    /// Reads the section `receiver`. The result is `nil` if the type is missing or unknown.
    init?(_ root: inout ConfigurationSection) {
        var section = root.section(
            "receiver", isRequired: true, as: #"{"type": "serial", "device": "/dev/ttyUSB0"}"#,
            "the source of NMEA sentences")
        guard let kind: Kind = section.choice("type", "where positions come from") else { return nil }
        defer { section.finish() }
        source = Self.readSource(kind, from: &section)
        // The key doesn't apply to gpsd, because gpsd checks the sentences itself.
        acceptsMissingChecksum =
            kind == .gpsd
            ? false
            : section.flag(
                "acceptMissingChecksum", default: false,
                "whether to accept sentences without a checksum, which old receivers send")
    }

    private static func readSource(_ kind: Kind, from section: inout ConfigurationSection) -> Source {
        switch kind {
        case .serial:
            let baudRate = section.integer(
                "baudRate", among: BaudRate.supported, or: "automatic", default: 9600,
                "the baud rate of the serial port; \"automatic\" tries each rate")
            return .serial(
                device: section.string("device", as: "/dev/ttyUSB0", "the serial port, or a symbolic link to it"),
                baudRate: baudRate.map(BaudRate.fixed) ?? .automatic)
        case .file:
            return .file(
                path: section.string("path", as: "/var/log/drive.nmea", "the path of a recorded log"),
                follows: section.flag(
                    "follow", default: false, "whether to follow the log, because another program is still writing it"))
        case .stdin: return .standardInput
        case .tcp:
            return .tcp(
                host: section.host(as: "192.168.1.1", "the server that sends NMEA sentences"),
                port: section.integer("port", in: 1...65535, default: 10110, "the server's port"))
        case .udp:
            let host = section.host(default: "127.0.0.1", "the local address to listen on")
            if let first = UInt8(host.prefix { $0 != "." }), (224...239).contains(first) {
                section.reportProblem(
                    with: "host",
                    "is \"\(host)\", a multicast group, which Waypost does not join; write 0.0.0.0, and have the sender "
                        + "use this machine's address")
            }
            return .udp(
                host: host,
                port: section.integer("port", in: 1...65535, default: 10110, "the port to listen on"))
        case .gpsd:
            return .gpsd(
                host: section.host(default: "127.0.0.1", "the machine on which gpsd runs"),
                port: section.integer("port", in: 1...65535, default: 2947, "gpsd's port"),
                device: section.optionalString(
                    "device", "the path under which gpsd knows the receiver to read, if gpsd has several receivers"))
        }
    }
}

extension ConfigurationSection {
    /// Returns the host name or address under `host`. A string that contains anything else, such as a port, is reported
    /// as a problem.
    fileprivate mutating func host(
        default fallback: String? = nil, as example: String? = nil, _ description: String
    ) -> String {
        let host = string("host", default: fallback, as: example, description)
        // A single colon separates a port; an IPv6 address has several colons.
        if host.hasPrefix("[") || host.contains("/") || host.count(where: { $0 == ":" }) == 1 {
            reportProblem(with: "host", "is \"\(host)\"; write only the name or address, and the port as \"port\"")
        }
        return host
    }
}
