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
    private var pace = ServicePace(startedAt: .zero)
    private var meter = WorkMeter()
    /// Of this turn, each distinct request and the connection whose answer serves all.
    private var asked: [String: Int] = [:]
    /// Connections that wait for another one's answer.
    private var followers: [Int: [Int]] = [:]

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
            let rest = restAfter(messages.answers.count)
            // Otherwise a client that always asks again would keep all others waiting.
            let isLast = !messages.answers.isEmpty && peers.count >= limits.connections && isConnectionWaiting
            asked = [:]
            for (number, response) in messages.answers {
                for number in [number] + (followers.removeValue(forKey: number) ?? []) {
                    guard let peer = peers[number] else { continue }
                    peer.connection.answer(response, isLast: isLast, now: now, date: date)
                    // Behind the answer the next request would be taken.
                    if rest == .zero || !peer.connection.holdsMore { write(number) }
                }
            }
            if rest == .zero { waitAndServe() } else { sleep(for: rest) }
        }
        peers = [:]
        listener.close()
        arrivals.finish()
    }

    /// How long to rest after what was worked since the last time, when so many handlers have ended since.
    private mutating func restAfter(_ answers: Int) -> Duration {
        guard limits.isPaced else { return .zero }
        let now = now
        pace.took(meter.work(handlersEnded: answers), until: now)
        return pace.rest(at: now)
    }

    /// Until a message comes, or as long as it says.
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
        // Whose request is here already does not give way to one more connection.
        for (number, entry) in zip(numbers, polled.dropFirst(2)) where isDue(number, entry.revents) {
            if isOverBudget { break }
            serve(number, Int32(entry.revents))
        }
        // Several, for each turn costs as much as a few of them; and no more, for there are the others.
        var accepted = 0
        while polled[1].revents != 0, accepted == 0 || !isOverBudget, accepted < limits.connections, accept() {
            accepted += 1
        }
    }

    /// Who has only just come and asked for nothing yet; then the others, the longest silent first.
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

    /// Whether what is left is for the next turn.
    private var isOverBudget: Bool { mutating get { restAfter(0) >= ServicePace.usualRest } }

    private var isConnectionWaiting: Bool {
        var queue = pollfd(fd: listener.raw, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&queue, 1, 0) > 0
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
        // Who asks for a change is answered alone: it depends on who asks.
        if limits.isPaced, request.method == .get || request.method == .head, request.body.isEmpty {
            let question = "\(request.method.rawValue) \(request.target)"
            if let leader = asked[question] {
                followers[leader, default: []].append(number)
                return
            }
            asked[question] = number
        }
        meter.handlerBegan()
        guard case .dropped = arrivals.yield((number, request)) else { return }
        mailbox.answer(.refusal(status: 503, "too many requests are being handled"), on: number)
    }
}
