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
