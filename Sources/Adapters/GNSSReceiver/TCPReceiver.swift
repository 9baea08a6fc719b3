package import GNSS
import LinuxPlatform
package import LocationReporting

/// Fixes from a server that sends NMEA 0183 over TCP; connected again whenever the connection is lost or falls silent.
///
/// There is neither encryption nor a check who answers: for loopback and trusted networks only.
package struct TCPReceiver: FixSource {
    private let receiver: LiveReceiver

    /// `patience` is how long the connection may be without a sentence before that is reported.
    package init(
        host: String, port: Int, decoder: NMEADecoder = NMEADecoder(), patience: Duration = .seconds(5),
        recording: RecordingSettings? = nil
    ) {
        receiver = LiveReceiver(
            endpoint: TCPEndpoint(host: host, port: port), decoder: decoder, patience: patience,
            recording: recording)
    }

    package func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        try await receiver.run(deliver: deliver)
    }
}

/// A TCP server by name and port.
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
