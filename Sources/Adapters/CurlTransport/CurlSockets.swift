import CCurl
import Glibc
import HTTPMessages
import LinuxPlatform

/// The sockets of libcurl's connections, as its thread and the guard share them.
///
/// A socket is shut down and closed under the same lock, so that its number belongs to nobody else meanwhile.
final class CurlSockets: Sendable {
    private struct State {
        var received = ReceivedBytes()
        var floods = 0
    }

    private let state = Locked(State())
    /// Readable when an exchange has begun after none was under way.
    let busy: EventDescriptor

    init() throws(SystemError) { busy = try EventDescriptor() }

    /// How many connections were shut.
    var floods: Int { state.withLock { $0.floods } }

    func opened(_ socket: CInt) { state.withLock { $0.received.opened(socket) } }

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
            state.received.exchangeBegan(allowing: limits) { Self.received(on: $0) }
            return isFirst
        }
        if isFirst { busy.signal() }
    }

    func exchangeEnded() { state.withLock { $0.received.exchangeEnded() } }

    /// Shuts the connections on which too much has come; false when no exchange is under way.
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
