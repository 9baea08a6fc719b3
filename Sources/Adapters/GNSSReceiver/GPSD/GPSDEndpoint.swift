package import GNSS
import LinuxPlatform
import Reporting

extension LiveReceiver {
    /// Creates a source of fixes from gpsd's JSON reports. The receivers may use any protocol that gpsd understands.
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

/// A gpsd server, identified by its host and port.
struct GPSDEndpoint: ReceiverEndpoint {
    let host: String
    let port: Int
    /// Whether gpsd should also send its receivers' NMEA sentences. A recording needs them, because a replay reads only
    /// sentences.
    var wantsSentences = false

    var name: String { "gpsd \(host):\(port)" }

    /// The request for reports from all receivers (gpsd_json(5)). gpsd would reject a request for a single receiver
    /// while that receiver is missing. It may also reject a request of more than 80 characters.
    private var watchRequest: String {
        "?WATCH={\"enable\":true,\"json\":true\(wantsSentences ? ",\"nmea\":true" : "")}\n"
    }

    func open(stoppingOn stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        let addresses = try HostLookup(host: host, port: port).addresses(unless: stop)
        return try SocketLine.connect(to: addresses, request: Array(watchRequest.utf8), isGPSD: true, unless: stop)
    }

    func fault(of trouble: LineTrouble, for limit: Duration) -> ReceiverFault {
        // `trouble` is ignored. Bytes don't prove that a receiver is connected, because gpsd also sends reports of its
        // own.
        .silent(.gpsd, limit, alsoOpenIn: nil)
    }
}
