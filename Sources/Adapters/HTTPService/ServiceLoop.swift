import Glibc
import HTTPMessages
import LinuxPlatform
import TimeAndChance

/// The sockets of one service, all on one thread.
struct ServiceLoop {
    /// A request with the number of the connection that its answer belongs to.
    typealias Arrival = (connection: Int, request: ServedRequest)

    /// An open socket and its state.
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
    private let names: AllowedHosts
    private let mailbox: ServiceMailbox
    private let arrivals: AsyncStream<Arrival>.Continuation
    private let start = ContinuousClock.now
    private var peers: [Int: Peer] = [:]
    private var nextNumber = 0
    private var acceptsFrom = Duration.zero
    private var buffer = [UInt8](repeating: 0, count: 65536)
    private var nextTurn = Duration.zero
    /// Requests that were passed on in this turn.
    private var requestCount = 0

    /// The pace of a service with `isPaced`: between two turns, and the connections that one turn serves. A turn passes
    /// on one request, so that 50 requests a second cost at most a tenth of a processor core, whatever arrives.
    private static let turnInterval = Duration.milliseconds(20)
    private static let connectionsPerTurn = 8

    init(
        listener: ListeningSocket, limits: HTTPServiceLimits, mailbox: ServiceMailbox,
        arrivals: AsyncStream<Arrival>.Continuation
    ) {
        self.listener = listener
        self.limits = limits
        self.mailbox = mailbox
        self.arrivals = arrivals
        names = AllowedHosts(listeningOn: listener.address)
    }

    /// Until the mailbox says stop; then every socket is closed, and the arrivals end.
    mutating func run() {
        while true {
            let messages = mailbox.collect()
            if messages.isStopped { break }
            let rest = limits.isPaced ? nextTurn - now : .zero
            for (number, response) in messages.answers {
                guard let peer = peers[number] else { continue }
                peer.connection.answer(response, now: now, date: date)
                // The end of an answer starts the next request, which waits for its turn.
                if rest <= .zero || !peer.connection.holdsMore { write(number) }
            }
            if rest > .zero {
                sleep(for: rest)
            } else {
                waitAndServe()
                nextTurn = now + Self.turnInterval
            }
        }
        peers = [:]
        listener.close()
        arrivals.finish()
    }

    /// Sleeps for `rest`, or until a message arrives.
    private func sleep(for rest: Duration) {
        var polled = pollfd(fd: mailbox.raw, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&polled, 1, Self.milliseconds(rest))
    }

    private var now: Duration { start.duration(to: .now) }
    private var date: String { UTCTime.system.httpDate }

    private mutating func waitAndServe() {
        let numbers = inTurn
        var polled = [pollfd(fd: mailbox.raw, events: Int16(POLLIN), revents: 0)]
        // When every connection waits for its answer, the next client waits in the kernel's queue. When descriptors are
        // short, a connection cannot be accepted: then the listener rests for a moment.
        let accepts = now >= acceptsFrom && (peers.count < limits.connections || nextToGiveWay != nil)
        polled.append(pollfd(fd: accepts ? listener.raw : -1, events: Int16(POLLIN), revents: 0))
        for number in numbers {
            guard let peer = peers[number] else { continue }
            let events = (peer.connection.wantsToRead ? POLLIN : 0) | (peer.connection.wantsToWrite ? POLLOUT : 0)
            polled.append(pollfd(fd: peer.socket.raw, events: Int16(events), revents: 0))
        }
        guard unsafe poll(&polled, nfds_t(polled.count), timeout) >= 0 else { return }  // a signal came
        requestCount = 0
        var left = limits.isPaced ? Self.connectionsPerTurn : limits.connections
        // Existing connections first: accepting may close one whose request has arrived.
        for (number, entry) in zip(numbers, polled.dropFirst(2)) where isDue(number, entry.revents) {
            if isTurnOver(left) { break }
            serve(number, Int32(entry.revents))
            left -= 1
        }
        guard polled[1].revents != 0 else { return }
        // At least one, so that clients which never stop asking do not shut out a new one.
        repeat { left -= 1 } while accept() && !isTurnOver(left)
    }

    private func isTurnOver(_ left: Int) -> Bool { left <= 0 || limits.isPaced && requestCount > 0 }

    /// The connections by their turn: new ones that have asked for nothing yet, then the longest silent first.
    private var inTurn: [Int] {
        let now = now
        let sorted = peers.sorted { $0.value.connection.lastAsked < $1.value.connection.lastAsked }
        let newcomers = sorted.firstIndex { $0.value.connection.lastAsked > now } ?? sorted.endIndex
        return (sorted[newcomers...] + sorted[..<newcomers]).map(\.key)
    }

    private func isDue(_ number: Int, _ events: Int16) -> Bool {
        if events != 0 { return true }
        guard let deadline = peers[number]?.connection.deadline else { return false }
        return deadline <= now
    }

    /// The connection to close for a newer one; `nil` when all of them wait for an answer.
    private var nextToGiveWay: Int? {
        let idle = peers.lazy.filter(\.value.connection.canGiveWay)
        return idle.min { $0.value.connection.lastAsked < $1.value.connection.lastAsked }?.key
    }

    /// Until the nearest deadline, in milliseconds for `poll`; -1 waits for ever.
    private var timeout: CInt {
        var deadlines = peers.values.compactMap(\.connection.deadline)
        if now < acceptsFrom { deadlines.append(acceptsFrom) }
        guard let nearest = deadlines.min() else { return -1 }
        return Self.milliseconds(nearest - now)
    }

    private static func milliseconds(_ time: Duration) -> CInt {
        CInt(max(0, min((time / .milliseconds(1)).rounded(.up), 3_600_000)))
    }

    /// One more connection, if there is one and a place for it; its request may be there already.
    private mutating func accept() -> Bool {
        let oldest = peers.count < limits.connections ? nil : nextToGiveWay
        guard peers.count < limits.connections || oldest != nil else { return false }
        do {
            guard let socket = try listener.accept() else { return false }
            if let oldest { peers[oldest] = nil }
            nextNumber += 1
            let connection = HTTPConnection(limits: limits, names: names, now: now)
            peers[nextNumber] = Peer(socket: socket, connection: connection)
            serve(nextNumber, POLLIN)
            return true
        } catch {
            acceptsFrom = now + .milliseconds(100)
            return false
        }
    }

    private mutating func serve(_ number: Int, _ events: Int32) {
        guard let peer = peers[number] else { return }
        if events & (POLLHUP | POLLERR | POLLNVAL) != 0, events & POLLIN == 0 { peer.connection.fail() }
        if events & POLLIN != 0 { read(number, peer) }
        peer.connection.tick(now: now, date: date)
        write(number)
    }

    private mutating func read(_ number: Int, _ peer: Peer) {
        let count = unsafe recv(peer.socket.raw, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        if count > 0 {
            pass(peer.connection.receive(buffer[..<count], now: now, date: date), number)
        } else if count == 0 {
            peer.connection.receiveEnd()
        } else if errno != EAGAIN, errno != EINTR {
            peer.connection.fail()
        }
    }

    /// Writes what the socket takes, and closes what has ended.
    private mutating func write(_ number: Int) {
        guard let peer = peers[number] else { return }
        while peer.connection.wantsToWrite {
            let count = unsafe peer.connection.output.withUnsafeBytes { bytes in
                unsafe send(
                    peer.socket.raw, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT)
                )
            }
            if count >= 0 {
                pass(peer.connection.wrote(count, now: now, date: date), number)
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                peer.connection.fail()
                break
            }
        }
        guard let ending = peer.connection.ending else {
            if peer.connection.hasSentEverything { shutdown(peer.socket.raw, CInt(SHUT_WR)) }
            return
        }
        if ending == .reset { resetOnClose(peer.socket.raw) }
        peers[number] = nil
    }

    private mutating func pass(_ request: ServedRequest?, _ number: Int) {
        guard let request else { return }
        requestCount += 1
        guard case .dropped = arrivals.yield((number, request)) else { return }
        mailbox.answer(.refusal(status: 503, "too many requests are being handled"), on: number)
    }
}
