import CCurl
import Glibc
import HTTPMessages
import LinuxPlatform

/// The thread that ends connections on which more comes than any answer needs.
///
/// A thread of its own, because libcurl's does not come back while there is something to read. It looks around a few
/// times a second while an exchange is in progress, and sleeps otherwise.
final class FloodGuard: Sendable {
    private static let turn = Duration.milliseconds(250)

    let sockets: CurlSockets
    private let end: EventDescriptor

    init() throws(SystemError) {
        sockets = try CurlSockets()
        end = try EventDescriptor()
    }

    func start() {
        startThread(named: "curl-guard") { [sockets, end] in
            while true {
                let pause = sockets.shutFlooded() ? Self.turn : nil
                let descriptor = pause == nil ? sockets.busy.raw : nil
                guard let outcome = try? poll(descriptor, within: pause, unless: end), outcome != .stopped else {
                    return
                }
                sockets.busy.clear()
            }
        }
    }

    func stop() { end.signal() }
}

/// How much may come on each connection until all exchanges in progress have ended: a decision, without sockets.
///
/// It is counted below HTTP, for whole floods of frames bring no body: libcurl reads on as long as something comes,
/// and looks at no time limit meanwhile.
struct ReceivedBytes: Sendable {
    /// Beyond twice the largest body: TLS's certificates, header lines, the framing of both.
    private static let overhead = 512 * 1024

    private var exchanges = 0
    private var allowance = 0
    /// By socket, what had come when the first of the exchanges began.
    private var before: [CInt: Int] = [:]

    /// Whether any exchange is in progress.
    var isBusy: Bool { exchanges > 0 }

    /// The sockets that are open.
    var sockets: some Collection<CInt> { before.keys }

    mutating func opened(_ socket: CInt) { before[socket] = 0 }

    mutating func closed(_ socket: CInt) { before[socket] = nil }

    /// An exchange begins; `received` tells how many bytes have come on a socket so far.
    mutating func exchangeBegan(allowing limits: HTTPLimits, received: (CInt) -> Int) {
        if exchanges == 0 {
            allowance = 0
            for socket in before.keys { before[socket] = received(socket) }
        }
        exchanges += 1
        allowance += 2 * min(max(0, limits.responseBytes), 1 << 40) + Self.overhead
    }

    mutating func exchangeEnded() { exchanges -= 1 }

    /// Whether more has come on `socket` than any answers need.
    func isFlooded(_ socket: CInt, received: Int) -> Bool {
        isBusy && received - (before[socket] ?? 0) > allowance
    }
}

/// The sockets of libcurl's connections, as its thread and the guard share them.
///
/// A socket is shut down and closed under the same lock, so that its number is not reused meanwhile.
final class CurlSockets: Sendable {
    private struct State {
        var received = ReceivedBytes()
        var floods = 0
    }

    private let state = Locked(State())
    /// Readable when an exchange has begun after none was in progress.
    let busy: EventDescriptor

    init() throws(SystemError) { busy = try EventDescriptor() }

    /// How many connections were shut.
    var floods: Int { state.withLock { $0.floods } }

    func opened(_ socket: CInt) {
        watch(socket, .answering)
        state.withLock { $0.received.opened(socket) }
    }

    /// Closes it; gives what close(2) does.
    func close(_ socket: CInt) -> CInt {
        state.withLock { state in
            state.received.closed(socket)
            return Glibc.close(socket)
        }
    }

    func exchangeBegan(allowing limits: HTTPLimits) {
        let isFirst = state.withLock { state in
            let isFirst = !state.received.isBusy
            if isFirst { for socket in state.received.sockets { watch(socket, .reused) } }
            state.received.exchangeBegan(allowing: limits) { Self.received(on: $0) }
            return isFirst
        }
        if isFirst { busy.signal() }
    }

    func exchangeEnded() {
        state.withLock { state in
            state.received.exchangeEnded()
            guard !state.received.isBusy else { return }
            for socket in state.received.sockets { watch(socket, .idle) }
        }
    }

    private func watch(_ socket: CInt, _ watch: ConnectionWatch) {
        ccurl_watch_connection(socket, watch.unacknowledgedSeconds * 1000, watch.idleSeconds, watch.idleSeconds)
    }

    /// Shuts the connections on which too much has come; false when no exchange is in progress.
    func shutFlooded() -> Bool {
        state.withLock { state in
            let flooded = state.received.sockets.filter {
                state.received.isFlooded($0, received: Self.received(on: $0))
            }
            for socket in flooded {
                ccurl_abort_connection(socket)  // libcurl reads an error next
                state.received.closed(socket)
            }
            state.floods += flooded.count
            return state.received.isBusy
        }
    }

    private static func received(on socket: CInt) -> Int { Int(clamping: ccurl_bytes_received(socket)) }
}

/// How the kernel finds out that a connection is dead, however long an answer takes: the other side no longer
/// acknowledges what was sent, nor the probes that the kernel sends when nothing has come for a while.
struct ConnectionWatch: Sendable, Hashable {
    /// A connection without acknowledgement for this long is closed.
    let unacknowledgedSeconds: UInt32
    /// How long nothing comes before a probe is sent, and the time between probes.
    let idleSeconds: CInt

    /// A new connection while answers are awaited.
    static let answering = Self(unacknowledgedSeconds: 10, idleSeconds: 5)
    /// The same on a connection of earlier exchanges: it may have died without a word, because a radio network forgets
    /// it after a minute's rest.
    static let reused = Self(unacknowledgedSeconds: 5, idleSeconds: 5)
    /// Between exchanges, when each probe costs bytes and nothing is awaited.
    static let idle = Self(unacknowledgedSeconds: 10, idleSeconds: 60)
}
