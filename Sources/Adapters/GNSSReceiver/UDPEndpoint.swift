import LinuxPlatform

/// An address of this machine to which datagrams with NMEA 0183 sentences come.
struct UDPEndpoint: ReceiverEndpoint {
    let host: String
    let port: Int

    var name: String { "udp \(host):\(port)" }

    func open(unless stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        let addresses = try HostLookup(host: host, port: port, isPassive: true).addresses(unless: stop)
        do throws(ReceiverOpenError) {
            return try SocketLine.listen(on: addresses)
        } catch {
            throw error.explained { "cannot listen: \($0); check that the address is this machine's and the port free" }
        }
    }

    func complaint(about trouble: LineTrouble, for limit: Duration) -> String {
        switch trouble {
        case .silence: "silent for \(limit.components.seconds) s; check that the sender sends to this address and port"
        case .noise: "bytes come but no NMEA sentence for \(limit.components.seconds) s; check what the sender sends"
        }
    }
}
