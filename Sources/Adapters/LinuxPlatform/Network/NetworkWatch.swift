import CLinux
import Glibc

/// Hears from the kernel when this machine gets a new route: an address or a default route.
package struct NetworkWatch: Sendable {
    private let announcements: Locked<OwnedDescriptor>
    private let raw: CInt

    /// Begins to listen; what is announced from now on is heard by `run`.
    package init() throws(SystemError) {
        self.init(
            hearing: OwnedDescriptor(
                owning: try valueOrSystemError("listen to the network's changes") { clinux_open_route_announcements() })
        )
    }

    /// Hears what comes on `descriptor`, a socket that keeps datagrams apart.
    init(hearing descriptor: consuming OwnedDescriptor) {
        raw = descriptor.raw
        announcements = Locked(descriptor)
    }

    /// Calls `newRoute` for each announcement of a new route, on a thread of its own, until cancelled.
    package func run(_ newRoute: @escaping @Sendable () -> Void) async throws(SystemError) {
        let stop = try EventDescriptor()
        let failure = await withTaskCancellationHandler {
            await onThread(named: "network-watch") { listen(until: stop, newRoute) }
        } onCancel: {
            stop.signal()
        }
        if let failure { throw failure }
    }

    private func listen(until stop: EventDescriptor, _ newRoute: () -> Void) -> SystemError? {
        var buffer = [UInt8](repeating: 0, count: 1 << 15)
        var routes = NetworkRoutes()
        do throws(SystemError) {
            while true {
                guard case .ready = try poll(raw, within: nil, unless: stop) else { return nil }
                if try receive(into: &buffer, &routes) { newRoute() }
            }
        } catch {
            return error
        }
    }

    /// Whether what is there announces a new route. Announcements that the kernel had to drop may have.
    private func receive(into buffer: inout [UInt8], _ routes: inout NetworkRoutes) throws(SystemError) -> Bool {
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(raw, $0.baseAddress, $0.count) }
        if count > 0 { return routes.take(buffer.span.extracting(first: count)) }
        if count == 0 { throw SystemError(call: "read the network's changes", number: EPIPE) }
        switch errno {
        case ENOBUFS:
            routes.forgetAll()
            return true
        case EAGAIN, EINTR: return false
        default: throw SystemError(call: "read the network's changes", number: errno)
        }
    }
}
