import Glibc
import HTTPMessages
import LinuxPlatform
import TimeAndRandomness

/// The event loop of a service. It owns all sockets and runs on one thread.
struct ServiceLoop {
    /// A request, and the number of the connection on which it arrived.
    typealias Arrival = (connection: Int, request: ServedRequest)

    /// An open socket, and the state of its connection.
    private final class Peer {
        let socket: OwnedDescriptor
        var connection: HTTPConnection

        init(socket: consuming OwnedDescriptor, connection: HTTPConnection) {
            self.socket = socket
            self.connection = connection
        }
    }

    private let listener: ListeningSocket
    private let limits: HTTPServiceLimits
    private let allowedHosts: AllowedHosts
    private let mailbox: ServiceMailbox
    private let arrivals: AsyncStream<Arrival>.Continuation
    private let start = ContinuousClock.now
    /// The open connections by number. Newer connections have higher numbers.
    private var peers: [Int: Peer] = [:]
    private var lastNumber = 0
    private var acceptsAgainAt = Duration.zero
    private var buffer = [UInt8](repeating: 0, count: 65536)

    /// The pause before the next connection is accepted if `accept` fails, for example because too many files are open.
    private static let acceptPause = Duration.milliseconds(100)

    init(
        listener: ListeningSocket, limits: HTTPServiceLimits, mailbox: ServiceMailbox,
        arrivals: AsyncStream<Arrival>.Continuation
    ) {
        self.listener = listener
        self.limits = limits
        self.mailbox = mailbox
        self.arrivals = arrivals
        allowedHosts = AllowedHosts(listeningOn: listener.address)
    }

    /// Serves until the mailbox is stopped. Then closes every socket and finishes the stream of requests.
    mutating func run() {
        while true {
            let messages = mailbox.collect()
            if messages.isStopped { break }
            for (number, response) in messages.answers {
                peers[number]?.connection.answer(response, now: now)
                write(number)
            }
            waitAndServe()
        }
        peers = [:]
        listener.close()
        arrivals.finish()
    }

    private var now: Duration { start.duration(to: .now) }

    /// Waits for an event. Then serves each ready connection once, and accepts at most one new connection.
    private mutating func waitAndServe() {
        // A connection isn't polled while its request is being handled. It is polled again once there is a response.
        let open = peers.filter { !$0.value.connection.isHandling }
        let hasRoom = open.count > 0 || peers.count < limits.connections
        let accepts = hasRoom && now >= acceptsAgainAt
        var polled = [
            pollfd(fd: mailbox.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: accepts ? listener.raw : -1, events: Int16(POLLIN), revents: 0),
        ]
        for peer in open.values {
            let events = (peer.connection.wantsToRead ? POLLIN : 0) | (peer.connection.wantsToWrite ? POLLOUT : 0)
            polled.append(pollfd(fd: peer.socket.raw, events: Int16(events), revents: 0))
        }
        guard unsafe poll(&polled, nfds_t(polled.count), timeout) >= 0 else { return }  // interrupted by a signal
        for (number, entry) in zip(open.keys, polled.dropFirst(2)) { serve(number, hasEvent: entry.revents != 0) }
        if polled[1].revents != 0 { accept() }
    }

    /// The timeout for `poll` until the nearest deadline, in milliseconds; -1 if there is no deadline.
    private var timeout: CInt {
        var deadlines = peers.values.compactMap(\.connection.deadline)
        if now < acceptsAgainAt { deadlines.append(acceptsAgainAt) }
        guard let nearest = deadlines.min() else { return -1 }
        return CInt(max(0, min(((nearest - now) / .milliseconds(1)).rounded(.up), 3_600_000)))
    }

    private mutating func accept() {
        do {
            guard let socket = try listener.accept() else { return }
            if peers.count >= limits.connections {
                let oldest = peers.lazy.filter { !$0.value.connection.isHandling }.map(\.key).min()
                guard let oldest else { return }
                peers[oldest] = nil
            }
            lastNumber += 1
            let connection = HTTPConnection(limits: limits, allowedHosts: allowedHosts, now: now) {
                UTCTime.system.httpDate
            }
            peers[lastNumber] = Peer(socket: socket, connection: connection)
            serve(lastNumber, hasEvent: true)
        } catch { acceptsAgainAt = now + Self.acceptPause }
    }

    private mutating func serve(_ number: Int, hasEvent: Bool) {
        guard let peer = peers[number] else { return }
        if hasEvent, peer.connection.wantsToRead { read(number, from: peer) }
        peer.connection.tick(now: now)
        write(number)
    }

    private mutating func read(_ number: Int, from peer: Peer) {
        let count = unsafe recv(peer.socket.raw, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        if count > 0 {
            pass(peer.connection.receive(buffer[..<count], now: now), from: number)
        } else if count == 0 {
            peer.connection.recordEndOfInput()
        } else if errno != EAGAIN, errno != EINTR {
            peer.connection.recordFailure()
        }
    }

    /// Writes as many bytes as the socket accepts, and closes the connection if it has ended.
    private mutating func write(_ number: Int) {
        guard let peer = peers[number] else { return }
        while peer.connection.wantsToWrite {
            let count = unsafe peer.connection.output.withUnsafeBytes { bytes in
                unsafe send(peer.socket.raw, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if count >= 0 {
                pass(peer.connection.recordWrite(of: count, now: now), from: number)
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                peer.connection.recordFailure()
                break
            }
        }
        guard let termination = peer.connection.termination else {
            if peer.connection.hasSentEverything { shutdown(peer.socket.raw, CInt(SHUT_WR)) }
            return
        }
        if termination == .reset { resetOnClose(peer.socket.raw) }
        peers[number] = nil
    }

    /// Passes a request to the handler. The stream always has room: it holds one request per connection, and no
    /// connection has two at a time.
    private func pass(_ request: ServedRequest?, from number: Int) {
        if let request { arrivals.yield((number, request)) }
    }
}
