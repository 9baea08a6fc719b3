package import GNSS
import LinuxPlatform
import Reporting

/// Fixes from NMEA 0183 sentences that come over the network.
///
/// There is neither encryption nor a check who sends: for loopback and trusted networks only.
extension LiveReceiver {
    /// From the server `host`; connected again whenever the connection is lost or falls silent.
    package static func tcp(
        host: String, port: Int, decoder: NMEADecoder = NMEADecoder(), patience: Duration = .seconds(5),
        progress: (any ReceiverProgress)? = nil, tap: (any ReceiverTap)? = nil
    ) -> LiveReceiver {
        LiveReceiver(
            endpoint: TCPEndpoint(host: host, port: port), decoder: SentenceDecoder(decoder), patience: patience,
            progress: progress, tap: tap)
    }

    /// In datagrams to the address `host` of this machine; a sentence lies in one of them as a whole.
    package static func udp(
        host: String, port: Int, decoder: NMEADecoder = NMEADecoder(), progress: (any ReceiverProgress)? = nil,
        tap: (any ReceiverTap)? = nil
    ) -> LiveReceiver {
        LiveReceiver(
            endpoint: UDPEndpoint(host: host, port: port), decoder: SentenceDecoder(decoder), progress: progress,
            tap: tap)
    }
}

/// A TCP server that sends NMEA 0183, by name and port.
private struct TCPEndpoint: ReceiverEndpoint {
    let host: String
    let port: Int

    var name: String { "tcp \(host):\(port)" }

    func open(unless stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        let addresses = try HostLookup(host: host, port: port).addresses(unless: stop)
        return try SocketLine.connect(to: addresses, request: [], unless: stop)
    }

    func fault(of trouble: LineTrouble, for limit: Duration) -> ReceiverFault {
        ReceiverFault(trouble, on: .tcp, for: limit)
    }
}

/// An address of this machine to which datagrams with NMEA 0183 sentences come.
private struct UDPEndpoint: ReceiverEndpoint {
    let host: String
    let port: Int

    var name: String { "udp \(host):\(port)" }

    func open(unless stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        try SocketLine.listen(on: HostLookup(host: host, port: port, isPassive: true).addresses(unless: stop))
    }

    func fault(of trouble: LineTrouble, for limit: Duration) -> ReceiverFault {
        ReceiverFault(trouble, on: .udp(host: host), for: limit)
    }
}
