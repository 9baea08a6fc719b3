import CCurl
import Glibc
import HTTPMessages
import LinuxPlatform

/// The thread that aborts connections that receive more than any answer needs.
///
/// libcurl's own thread doesn't return while there is something to read. This thread checks a few times per second
/// while an exchange is in progress, and sleeps otherwise.
final class FloodGuard: Sendable {
    private static let checkInterval = Duration.milliseconds(250)

    let sockets: CurlSockets
    private let end: EventDescriptor

    init() throws(SystemError) {
        sockets = try CurlSockets()
        end = try EventDescriptor()
    }

    func start() {
        startThread(named: "curl-guard") { [sockets, end] in
            while true {
                let pause = sockets.abortFlooded() ? Self.checkInterval : nil
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

/// The number of bytes that each connection may receive until all exchanges in progress have ended.
///
/// Bytes are counted below HTTP, because a flood of frames has no body: libcurl reads without checking time limits
/// while data arrives.
struct ReceivedBytes: Sendable {
    /// The allowance beyond twice the largest body, for TLS certificates, header lines and framing.
    private static let overhead = 512 * 1024

    private var exchanges = 0
    private var allowance = 0
    /// The number of bytes that each socket had received when the first of the exchanges began.
    private var before: [CInt: Int] = [:]

    var isBusy: Bool { exchanges > 0 }

    /// The open sockets.
    var sockets: some Collection<CInt> { before.keys }

    mutating func recordOpening(of socket: CInt) { before[socket] = 0 }

    mutating func recordClosing(of socket: CInt) { before[socket] = nil }

    /// Records that an exchange begins. `received` returns the bytes received on a socket so far.
    mutating func beginExchange(allowing limits: HTTPLimits, received: (CInt) -> Int) {
        if exchanges == 0 {
            allowance = 0
            for socket in before.keys { before[socket] = received(socket) }
        }
        exchanges += 1
        allowance += 2 * min(max(0, limits.responseBytes), 1 << 40) + Self.overhead
    }

    mutating func endExchange() { exchanges -= 1 }

    /// Whether `socket` has received more than the answers can need.
    func isFlooded(_ socket: CInt, received: Int) -> Bool {
        isBusy && received - (before[socket] ?? 0) > allowance
    }
}

/// The sockets of libcurl's connections, shared by its thread and the guard.
///
/// A socket is shut down and closed under the same lock, so its number can't be reused in between.
final class CurlSockets: Sendable {
    private struct State {
        var received = ReceivedBytes()
        var floods = 0
    }

    private let state = Locked(State())
    /// An event that is signalled when an exchange begins while no other is in progress.
    let busy: EventDescriptor

    init() throws(SystemError) { busy = try EventDescriptor() }

    /// The number of flooded connections that were aborted.
    var floods: Int { state.withLock { $0.floods } }

    func recordOpening(of socket: CInt) {
        watch(socket, .answering)
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
            if isFirst { for socket in state.received.sockets { watch(socket, .reused) } }
            state.received.beginExchange(allowing: limits) { Self.received(on: $0) }
            return isFirst
        }
        if isFirst { busy.signal() }
    }

    func endExchange() {
        state.withLock { state in
            state.received.endExchange()
            guard !state.received.isBusy else { return }
            for socket in state.received.sockets { watch(socket, .idle) }
        }
    }

    private func watch(_ socket: CInt, _ watch: ConnectionWatch) {
        ccurl_watch_connection(socket, watch.unacknowledgedSeconds * 1000, watch.idleSeconds, watch.idleSeconds)
    }

    /// Aborts flooded connections. Returns whether an exchange is in progress.
    func abortFlooded() -> Bool {
        state.withLock { state in
            let flooded = state.received.sockets.filter {
                state.received.isFlooded($0, received: Self.received(on: $0))
            }
            for socket in flooded {
                ccurl_abort_connection(socket)  // so libcurl's next read fails
                state.received.recordClosing(of: socket)
            }
            state.floods += flooded.count
            return state.received.isBusy
        }
    }

    private static func received(on socket: CInt) -> Int { Int(clamping: ccurl_bytes_received(socket)) }
}

/// The times after which the kernel considers a connection dead, however long an answer takes. A connection is dead if
/// the other side no longer acknowledges data, or the probes that the kernel sends after some idle time.
struct ConnectionWatch: Sendable, Hashable {
    /// The time without acknowledgement after which a connection is closed.
    let unacknowledgedSeconds: UInt32
    /// The idle time before a probe, and between probes.
    let idleSeconds: CInt

    /// The times for a new connection while an answer is expected.
    static let answering = Self(unacknowledgedSeconds: 10, idleSeconds: 5)
    /// The times for a connection of earlier exchanges while an answer is expected. It may have died unnoticed, because
    /// mobile networks drop connections that are idle for a minute.
    static let reused = Self(unacknowledgedSeconds: 5, idleSeconds: 5)
    /// The times for a connection between exchanges, when a probe costs bytes and no answer is expected.
    static let idle = Self(unacknowledgedSeconds: 10, idleSeconds: 60)
}
