package import GNSS
import LinuxPlatform
import Reporting

extension LiveReceiver {
    /// Creates a source of fixes from gpsd's JSON reports, whatever protocol its receivers use.
    ///
    /// `device` is the path by which gpsd knows the receiver; if it is `nil`, the first receiver with a fix is used.
    package static func gpsd(
        host: String, port: Int = 2947, device: String? = nil, dates: NMEADecoderOptions.Dates = .asStated,
        timeout: Duration = .seconds(5), progress: (any ReceiverProgress)? = nil, tap: (any ReceiverTap)? = nil
    ) -> LiveReceiver {
        LiveReceiver(
            endpoint: GPSDEndpoint(host: host, port: port, wantsSentences: tap != nil),
            decoder: GPSDDecoder(GPSDSession(device: device, dates: dates)), timeout: timeout,
            progress: progress, tap: tap)
    }
}

/// The endpoint of gpsd, with its host and port.
struct GPSDEndpoint: ReceiverEndpoint {
    let host: String
    let port: Int
    /// Whether gpsd should also send sentences. A recording can be replayed only with them.
    var wantsSentences = false

    var name: String { "gpsd \(host):\(port)" }

    /// The request for reports of all receivers (gpsd_json(5)). gpsd rejects a watch of one receiver while that
    /// receiver is missing, and may reject a request of more than 80 characters.
    private var watch: String { "?WATCH={\"enable\":true,\"json\":true\(wantsSentences ? ",\"nmea\":true" : "")}\n" }

    func open(unless stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        let addresses = try HostLookup(host: host, port: port).addresses(unless: stop)
        return try SocketLine.connect(to: addresses, request: Array(watch.utf8), isGPSD: true, unless: stop)
    }

    func fault(of trouble: LineTrouble, for limit: Duration) -> ReceiverFault {
        // The trouble doesn't matter, because gpsd also sends reports that don't come from a receiver.
        .silent(.gpsd, limit, alsoOpenIn: nil)
    }
}
