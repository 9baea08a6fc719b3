import CCurl
import Glibc
import HTTPMessages
import LinuxPlatform

/// A thread that aborts every connection that receives far more data than its responses need.
///
/// While data keeps arriving, libcurl doesn't return control to its own thread, which therefore can't detect a flood.
/// This thread checks a few times per second while an exchange is in progress, and sleeps otherwise.
final class FloodGuard: Sendable {
    private static let checkInterval = Duration.milliseconds(250)

    let sockets: CurlSockets
    private let stopEvent: EventDescriptor

    init() throws(SystemError) {
        sockets = try CurlSockets()
        stopEvent = try EventDescriptor()
    }

    func start() {
        startThread(named: "curl-guard") { [sockets, stopEvent] in
            while true {
                let pause = sockets.abortFlooded() ? Self.checkInterval : nil
                let descriptor = pause == nil ? sockets.exchangeBegan.raw : nil
                guard let outcome = try? poll(descriptor, within: pause, unless: stopEvent), outcome != .stopped else {
                    return
                }
                sockets.exchangeBegan.clear()
            }
        }
    }

    func stop() { stopEvent.signal() }
}

/// The limit on the bytes that each connection may receive while exchanges are in progress. Counting restarts when an
/// exchange begins while no other is in progress.
///
/// Bytes are counted on the socket, because a limit on the body doesn't detect a flood of frames without a body. Time
/// limits don't help either, because libcurl doesn't check them while data keeps arriving.
struct ReceivedBytes: Sendable {
    /// The bytes allowed per exchange in addition to twice its maximum body size, for TLS certificates, headers and
    /// framing.
    private static let overhead = 512 * 1024

    private var exchanges = 0
    private var allowance = 0
    /// The bytes that each open socket had received when counting started; zero for a socket opened later.
    private var receivedBefore: [CInt: Int] = [:]

    var isBusy: Bool { exchanges > 0 }

    /// The open sockets.
    var sockets: some Collection<CInt> { receivedBefore.keys }

    mutating func recordOpening(of socket: CInt) { receivedBefore[socket] = 0 }

    mutating func recordClosing(of socket: CInt) { receivedBefore[socket] = nil }

    /// Records that an exchange begins. `received` returns the number of bytes that a socket has received so far.
    mutating func beginExchange(allowing limits: HTTPLimits, received: (CInt) -> Int) {
        if exchanges == 0 {
            allowance = 0
            for socket in receivedBefore.keys { receivedBefore[socket] = received(socket) }
        }
        exchanges += 1
        allowance += 2 * min(max(0, limits.responseBytes), 1 << 40) + Self.overhead
    }

    mutating func endExchange() { exchanges -= 1 }

    /// Whether `socket` has received more bytes than the exchanges in progress allow.
    func isFlooded(_ socket: CInt, received: Int) -> Bool {
        isBusy && received - (receivedBefore[socket] ?? 0) > allowance
    }
}

/// The sockets of libcurl's connections, shared by libcurl's thread and `FloodGuard`.
///
/// Sockets are aborted and closed under one lock. So a socket's number can't be reused between the check for a flood
/// and the abort.
final class CurlSockets: Sendable {
    private struct State {
        var received = ReceivedBytes()
        var floodCount = 0
    }

    private let state = Locked(State())
    /// An event that is signalled when an exchange begins while no other is in progress.
    let exchangeBegan: EventDescriptor

    init() throws(SystemError) { exchangeBegan = try EventDescriptor() }

    /// The number of flooded connections that were aborted.
    var floodCount: Int { state.withLock { $0.floodCount } }

    func recordOpening(of socket: CInt) {
        apply(.newlyOpened, to: socket)
        state.withLock { $0.received.recordOpening(of: socket) }
    }

    /// Closes the socket. Returns the result of close(2).
    func close(_ socket: CInt) -> CInt {
        state.withLock { state in
            state.received.recordClosing(of: socket)
            return Glibc.close(socket)
        }
    }

    func beginExchange(allowing limits: HTTPLimits) {
        let isFirst = state.withLock { state in
            let isFirst = !state.received.isBusy
            if isFirst { for socket in state.received.sockets { apply(.reused, to: socket) } }
            state.received.beginExchange(allowing: limits) { Self.received(on: $0) }
            return isFirst
        }
        if isFirst { exchangeBegan.signal() }
    }

    func endExchange() {
        state.withLock { state in
            state.received.endExchange()
            guard !state.received.isBusy else { return }
            for socket in state.received.sockets { apply(.idle, to: socket) }
        }
    }

    private func apply(_ watch: ConnectionWatch, to socket: CInt) {
        ccurl_watch_connection(socket, watch.unacknowledgedSeconds * 1000, watch.idleSeconds, watch.idleSeconds)
    }

    /// Aborts flooded connections. Returns whether an exchange is in progress.
    func abortFlooded() -> Bool {
        state.withLock { state in
            let flooded = state.received.sockets.filter {
                state.received.isFlooded($0, received: Self.received(on: $0))
            }
            for socket in flooded {
                ccurl_abort_connection(socket)  // makes libcurl's next read fail
                state.received.recordClosing(of: socket)
            }
            state.floodCount += flooded.count
            return state.received.isBusy
        }
    }

    private static func received(on socket: CInt) -> Int { Int(clamping: ccurl_bytes_received(socket)) }
}

/// The times after which the kernel considers a connection dead because the other side acknowledges neither data nor
/// keep-alive probes. A server that is merely slow still acknowledges them.
struct ConnectionWatch: Sendable, Hashable {
    /// The time without acknowledgement after which the kernel closes the connection.
    let unacknowledgedSeconds: UInt32
    /// The idle time before the first keep-alive probe, and the interval between probes.
    let idleSeconds: CInt

    /// The times for a new connection while a response is expected.
    static let newlyOpened = Self(unacknowledgedSeconds: 10, idleSeconds: 5)
    /// The times for a reused connection while a response is expected. Such a connection may have died unnoticed,
    /// because mobile networks drop connections that are idle for a minute.
    static let reused = Self(unacknowledgedSeconds: 5, idleSeconds: 5)
    /// The times for a connection that no exchange is using. Probes are rare, because they cost bytes and no response
    /// is expected.
    static let idle = Self(unacknowledgedSeconds: 10, idleSeconds: 60)
}
