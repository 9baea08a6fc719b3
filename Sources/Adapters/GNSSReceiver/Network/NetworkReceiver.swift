package import GNSS
import LinuxPlatform
package import LocationReporting

/// Fixes from NMEA 0183 sentences that come over the network.
///
/// There is neither encryption nor a check who sends: for loopback and trusted networks only.
package struct NetworkReceiver: FixSource {
    /// How the sentences come.
    package enum Transport: Sendable, Hashable {
        /// From a server; connected again whenever the connection is lost or falls silent.
        case tcp
        /// In datagrams to an address of this machine; a sentence lies in one of them as a whole.
        case udp
    }

    private let receiver: LiveReceiver

    /// `host` is the server, or the address to listen on; `patience` is how long to be without a sentence before that
    /// is reported.
    package init(
        _ transport: Transport, host: String, port: Int, decoder: NMEADecoder = NMEADecoder(),
        patience: Duration = .seconds(5), tap: (any ReceiverTap)? = nil
    ) {
        let endpoint: any ReceiverEndpoint =
            switch transport {
            case .tcp: TCPEndpoint(host: host, port: port)
            case .udp: UDPEndpoint(host: host, port: port)
            }
        receiver = LiveReceiver(endpoint: endpoint, decoder: decoder, patience: patience, tap: tap)
    }

    package func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        try await receiver.run(deliver: deliver)
    }
}

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
