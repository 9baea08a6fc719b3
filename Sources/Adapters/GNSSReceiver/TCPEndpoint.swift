import LinuxPlatform

/// A TCP server that sends NMEA 0183, by name and port.
struct TCPEndpoint: ReceiverEndpoint {
    let host: String
    let port: Int

    var name: String { "tcp \(host):\(port)" }

    func open(unless stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        let addresses = try HostLookup(host: host, port: port).addresses(unless: stop)
        do throws(ReceiverOpenError) {
            return try SocketLine.connect(to: addresses, request: [], unless: stop)
        } catch {
            throw error.explained { "cannot connect: \($0); check host and port, and that the server runs" }
        }
    }

    func complaint(about trouble: LineTrouble, for limit: Duration) -> String {
        switch trouble {
        case .silence: "silent for \(limit.components.seconds) s; check that the server has data"
        case .noise: "bytes come but no NMEA sentence for \(limit.components.seconds) s; check what the server sends"
        }
    }
}
