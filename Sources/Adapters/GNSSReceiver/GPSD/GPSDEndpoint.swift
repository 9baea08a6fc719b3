package import GNSS
import LinuxPlatform
import Reporting

extension LiveReceiver {
    /// Fixes from gpsd, the receiver daemon, by its JSON reports; whatever its receivers speak.
    ///
    /// `device` is the receiver to take, by the path that gpsd knows; the first with a fix when it is `nil`.
    package static func gpsd(
        host: String, port: Int = 2947, device: String? = nil, dates: NMEADecoderOptions.Dates = .asStated,
        patience: Duration = .seconds(5), progress: (any ReceiverProgress)? = nil, tap: (any ReceiverTap)? = nil
    ) -> LiveReceiver {
        LiveReceiver(
            endpoint: GPSDEndpoint(host: host, port: port, wantsSentences: tap != nil),
            decoder: GPSDDecoder(GPSDSession(device: device, dates: dates)), patience: patience,
            progress: progress, tap: tap)
    }
}

/// gpsd by host and port.
struct GPSDEndpoint: ReceiverEndpoint {
    let host: String
    let port: Int
    /// A recording is replayed by its sentences, so that gpsd is asked for them as well.
    var wantsSentences = false

    var name: String { "gpsd \(host):\(port)" }

    /// Subscribes to reports on all receivers (gpsd_json(5)): a watch of one of them is refused while it is not there,
    /// and a request of more than 80 characters may be, too.
    private var watch: String { "?WATCH={\"enable\":true,\"json\":true\(wantsSentences ? ",\"nmea\":true" : "")}\n" }

    func open(unless stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        let addresses = try HostLookup(host: host, port: port).addresses(unless: stop)
        return try SocketLine.connect(to: addresses, request: Array(watch.utf8), isGPSD: true, unless: stop)
    }

    func fault(of trouble: LineTrouble, for limit: Duration) -> ReceiverFault {
        // Silence or not: gpsd reports other things than its receivers' fixes, too.
        .silent(.gpsd, limit, alsoOpenIn: nil)
    }
}
