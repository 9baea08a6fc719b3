package import GNSS
import LinuxPlatform
package import LocationReporting

/// Fixes from NMEA 0183 sentences that come as UDP datagrams to a port of this machine.
///
/// Anybody who can reach the port can send: listen on loopback or in trusted networks only.
package struct UDPReceiver: FixSource {
    private let receiver: LiveReceiver

    /// `host` is the address to listen on; `patience` is how long to be without a sentence before that is reported.
    package init(
        host: String, port: Int, decoder: NMEADecoder = NMEADecoder(), patience: Duration = .seconds(5),
        recording: RecordingSettings? = nil
    ) {
        receiver = LiveReceiver(
            endpoint: UDPEndpoint(host: host, port: port), decoder: decoder, patience: patience,
            recording: recording)
    }

    package func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        try await receiver.run(deliver: deliver)
    }
}

/// An address of this machine for datagrams.
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
