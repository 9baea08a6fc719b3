package import GNSS
import LinuxPlatform
package import LocationReporting

/// Fixes from gpsd, the receiver daemon, which is asked for NMEA 0183: a receiver's own sentences, or, for one that
/// speaks something else, gpsd's. Lines with JSON come too; they hold no `$` and are passed over.
package struct GPSDReceiver: FixSource {
    private let receiver: LiveReceiver

    /// `patience` is how long gpsd may be without a sentence before that is reported.
    package init(
        host: String, port: Int = 2947, decoder: NMEADecoder = NMEADecoder(), patience: Duration = .seconds(5),
        recording: RecordingSettings? = nil
    ) {
        receiver = LiveReceiver(
            endpoint: GPSDEndpoint(host: host, port: port), decoder: decoder, patience: patience,
            recording: recording)
    }

    package func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        try await receiver.run(deliver: deliver)
    }
}

/// gpsd by host and port.
struct GPSDEndpoint: ReceiverEndpoint {
    /// Subscribes to sentences (gpsd_json(5)).
    private static let watch = Array("?WATCH={\"enable\":true,\"nmea\":true}\n".utf8)

    let host: String
    let port: Int

    var name: String { "gpsd \(host):\(port)" }

    func open(unless stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        let addresses = try HostLookup(host: host, port: port).addresses(unless: stop)
        do throws(ReceiverOpenError) {
            return try SocketLine.connect(to: addresses, request: Self.watch, unless: stop)
        } catch {
            throw error.explained { "cannot connect: \($0); check that gpsd runs (systemctl status gpsd)" }
        }
    }

    func complaint(about trouble: LineTrouble, for limit: Duration) -> String {
        "no sentence from gpsd for \(limit.components.seconds) s; check that it has a receiver that works (gpsmon)"
    }
}
