package import GNSS
import LinuxPlatform
import Reporting

/// Receivers on the network that send NMEA 0183.
///
/// There is neither encryption nor authentication: use these receivers only on loopback and trusted networks.
extension LiveReceiver {
    /// Creates a source of fixes from the TCP server `host`. The source reconnects when the connection is lost or goes
    /// silent.
    package static func tcp(
        host: String, port: Int, decoder: NMEADecoder = NMEADecoder(), timeout: Duration = .seconds(5),
        progress: (any ReceiverProgress)? = nil, tap: (any ReceiverTap)? = nil
    ) -> LiveReceiver {
        LiveReceiver(
            endpoint: TCPEndpoint(host: host, port: port), decoder: SentenceDecoder(decoder), timeout: timeout,
            progress: progress, tap: tap)
    }

    /// Creates a source of fixes from UDP datagrams that are sent to the address `host` of this machine. A sentence
    /// must not continue in the next datagram.
    package static func udp(
        host: String, port: Int, decoder: NMEADecoder = NMEADecoder(), progress: (any ReceiverProgress)? = nil,
        tap: (any ReceiverTap)? = nil
    ) -> LiveReceiver {
        LiveReceiver(
            endpoint: UDPEndpoint(host: host, port: port), decoder: SentenceDecoder(decoder), progress: progress,
            tap: tap)
    }
}

/// A TCP server that sends NMEA 0183, identified by its host and port.
private struct TCPEndpoint: ReceiverEndpoint {
    let host: String
    let port: Int

    var name: String { "tcp \(host):\(port)" }

    func open(stoppingOn stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        let addresses = try HostLookup(host: host, port: port).addresses(unless: stop)
        return try SocketLine.connect(to: addresses, request: [], unless: stop)
    }

    func fault(of trouble: LineTrouble, for limit: Duration) -> ReceiverFault {
        ReceiverFault(trouble, on: .tcp, for: limit)
    }
}

/// An address of this machine that receives datagrams with NMEA 0183 sentences.
private struct UDPEndpoint: ReceiverEndpoint {
    let host: String
    let port: Int

    var name: String { "udp \(host):\(port)" }

    func open(stoppingOn stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        try SocketLine.listen(on: HostLookup(host: host, port: port, isPassive: true).addresses(unless: stop))
    }

    func fault(of trouble: LineTrouble, for limit: Duration) -> ReceiverFault {
        ReceiverFault(trouble, on: .udp(host: host), for: limit)
    }
}
