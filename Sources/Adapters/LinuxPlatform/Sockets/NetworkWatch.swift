import CLinux
import Glibc

/// A watch for new routes out of this machine. The kernel announces them when an address or a default route appears.
package struct NetworkWatch: Sendable {
    private let announcements: Locked<OwnedDescriptor>
    private let raw: CInt

    /// Opens the socket for the kernel's announcements. The socket queues all later announcements until `run` reads
    /// them.
    package init() throws(SystemError) {
        self.init(
            receivingFrom: OwnedDescriptor(
                owning: try valueOrSystemError("watch network changes") { clinux_open_route_announcements() })
        )
    }

    /// Creates a watch that receives announcements on `descriptor`. Each read from it must return one whole datagram.
    init(receivingFrom descriptor: consuming OwnedDescriptor) {
        raw = descriptor.raw
        announcements = Locked(descriptor)
    }

    /// Calls `newRoute` on a dedicated thread for each datagram that announces a new route. Returns when the task is
    /// cancelled.
    package func run(_ newRoute: @escaping @Sendable () -> Void) async throws(SystemError) {
        let stop = try EventDescriptor()
        let failure = await withTaskCancellationHandler {
            await onThread(named: "network-watch") { listen(until: stop, onNewRoute: newRoute) }
        } onCancel: {
            stop.signal()
        }
        if let failure { throw failure }
    }

    private func listen(until stop: EventDescriptor, onNewRoute: () -> Void) -> SystemError? {
        var buffer = [UInt8](repeating: 0, count: 1 << 15)
        var routes = NetworkRoutes()
        do throws(SystemError) {
            while true {
                guard case .ready = try poll(raw, within: nil, unless: stop) else { return nil }
                if try receive(into: &buffer, routes: &routes) { onNewRoute() }
            }
        } catch {
            return error
        }
    }

    /// Receives a datagram. Returns whether it announces a new route. Also returns `true` if the kernel has dropped
    /// announcements, because one of them may have announced a new route.
    private func receive(into buffer: inout [UInt8], routes: inout NetworkRoutes) throws(SystemError) -> Bool {
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(raw, $0.baseAddress, $0.count) }
        if count > 0 { return routes.record(buffer.span.extracting(first: count)) }
        if count == 0 { throw SystemError(call: "read network changes", number: EPIPE) }
        switch errno {
        case ENOBUFS:
            routes.forgetAll()
            return true
        case EAGAIN, EINTR: return false
        default: throw SystemError(call: "read network changes", number: errno)
        }
    }
}

/// A change of a link, an address or a route that the kernel announces (rtnetlink(7)). Each message begins with a
/// header of 16 bytes, in the machine's byte order.
enum NetworkAnnouncement: Sendable, Hashable {
    /// A route exists. The kernel may have announced it before.
    case gained(NetworkRoute)
    case lost(NetworkRoute)
    /// A link is switched off, has no carrier, or has been removed.
    case linkDown(interface: UInt32)
    /// A link works. The kernel may have announced that before.
    case linkUp(interface: UInt32)

    private static let headerLength = 16
    /// The scope of global addresses. Only addresses with this scope or the site scope lead out of the machine.
    private static let widestScope = UInt8(RT_SCOPE_UNIVERSE.rawValue)
    private static let siteScope = UInt8(RT_SCOPE_SITE.rawValue)
    /// The flags `IFA_F_TENTATIVE` and `IFA_F_DADFAILED`. They mean that the address may belong, or does belong, to
    /// another machine.
    private static let unusableFlags: UInt8 = 0x40 | 0x08
    /// The flags that are both set while a link works: `IFF_UP` and `IFF_RUNNING`.
    private static let workingFlags: UInt32 = 0x1 | 0x40
    /// The maximum length of an address in bytes, which is that of an IPv6 address.
    private static let maximumAddressLength = 16

    /// Returns the announcements in `datagram`, in order. Stops at a message whose length is impossible.
    static func all(in datagram: Span<UInt8>) -> [NetworkAnnouncement] {
        var announcements: [NetworkAnnouncement] = []
        var start = 0
        while start + headerLength <= datagram.count {
            let length = Int(uint32(datagram, at: start))
            guard length >= headerLength, start + length <= datagram.count else { break }
            let body = datagram.extracting((start + headerLength)..<(start + length))
            if let announcement = Self(type: uint16(datagram, at: start + 4), body) {
                announcements.append(announcement)
            }
            start += (length + 3) & ~3
        }
        return announcements
    }

    private init?(type: Int, _ body: Span<UInt8>) {
        switch type {
        case Int(RTM_NEWADDR):
            guard let route = Self.addressRoute(from: body), body[2] & Self.unusableFlags == 0 else { return nil }
            self = .gained(route)
        case Int(RTM_DELADDR):
            guard let route = Self.addressRoute(from: body) else { return nil }
            self = .lost(route)
        case Int(RTM_NEWROUTE):
            guard let route = Self.defaultRoute(from: body) else { return nil }
            self = .gained(route)
        case Int(RTM_DELROUTE):
            guard let route = Self.defaultRoute(from: body) else { return nil }
            self = .lost(route)
        case Int(RTM_NEWLINK), Int(RTM_DELLINK):
            // The fields of `struct ifinfomsg`, with lengths in bytes: family, padding, type (2), index (4), flags (4),
            // change (4).
            guard body.count >= 16 else { return nil }
            let isWorking = Self.uint32(body, at: 8) & Self.workingFlags == Self.workingFlags
            let interface = Self.uint32(body, at: 4)
            self =
                type == Int(RTM_NEWLINK) && isWorking ? .linkUp(interface: interface) : .linkDown(interface: interface)
        default: return nil
        }
    }

    /// Reads the address from a `struct ifaddrmsg`: family, prefix length, flags, scope, index (4 bytes). Returns `nil`
    /// if the address doesn't lead out of the machine.
    private static func addressRoute(from body: Span<UInt8>) -> NetworkRoute? {
        guard body.count >= 8, body[3] == widestScope || body[3] == siteScope else { return nil }
        // On a point-to-point link, `IFA_ADDRESS` is the address of the other end.
        let own = attribute(Int(IFA_LOCAL), of: body, from: 8) ?? attribute(Int(IFA_ADDRESS), of: body, from: 8)
        return NetworkRoute(kind: .address, interface: uint32(body, at: 4), address: own ?? [])
    }

    /// Reads the route from a `struct rtmsg`: family, destination length, source length, service, table, protocol,
    /// scope, type, flags (4 bytes). Returns `nil` unless it is a default route of the main table.
    private static func defaultRoute(from body: Span<UInt8>) -> NetworkRoute? {
        guard body.count >= 12, body[1] == 0, body[4] == UInt8(RT_TABLE_MAIN.rawValue), body[7] == UInt8(RTN_UNICAST)
        else { return nil }
        let interface = attribute(Int(RTA_OIF.rawValue), of: body, from: 12) ?? []
        let gateway = attribute(Int(RTA_GATEWAY.rawValue), of: body, from: 12)
        return NetworkRoute(
            kind: .route, interface: interface.count == 4 ? uint32(interface.span, at: 0) : 0, address: gateway ?? [])
    }

    /// Returns the value of the attribute `type`; `nil` if there is none. Each attribute is a `struct rtattr`: length
    /// (2 bytes), type (2 bytes), value. It begins at a multiple of four bytes.
    private static func attribute(_ type: Int, of body: Span<UInt8>, from first: Int) -> [UInt8]? {
        var start = first
        while start + 4 <= body.count {
            let length = uint16(body, at: start)
            guard length >= 4, start + length <= body.count else { return nil }
            if uint16(body, at: start + 2) == type {
                return (4..<length).prefix(maximumAddressLength).map { body[start + $0] }
            }
            start += (length + 3) & ~3
        }
        return nil
    }

    private static func uint16(_ bytes: Span<UInt8>, at start: Int) -> Int {
        Int(bytes[start]) | Int(bytes[start + 1]) << 8
    }

    private static func uint32(_ bytes: Span<UInt8>, at start: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[start + $1]) << UInt32($1 * 8) }
    }
}

/// The routes that the kernel has announced so far. They show which announcements are new.
///
/// The kernel repeats itself: it announces an address again whenever its lifetime is extended (DHCP, router
/// advertisements). It also omits announcements. When a link goes down or an address is removed, the IPv4 routes that
/// depend on it disappear silently. So when a link or an address is lost, its routes are forgotten. If one is forgotten
/// by mistake, it is merely reported twice.
///
/// When a link works again, the kernel doesn't repeat the link's addresses and routes. So such a link itself counts as
/// a new route.
struct NetworkRoutes: Sendable, Hashable {
    private static let capacity = 64

    private var knownRoutes: Set<NetworkRoute> = []
    private var downLinks: Set<UInt32> = []

    /// Records the announcements in `datagram`. Returns whether one of them announces a new route.
    mutating func record(_ datagram: Span<UInt8>) -> Bool {
        var hasNew = false
        for announcement in NetworkAnnouncement.all(in: datagram) {
            switch announcement {
            case .gained(let route): if insert(route) { hasNew = true }
            case .lost(let route):
                knownRoutes.remove(route)
                if route.kind == .address { forget { $0.kind == .route && $0.interface == route.interface } }
            case .linkDown(let interface):
                forget { $0.interface == interface }
                if downLinks.count == Self.capacity { downLinks = [] }
                downLinks.insert(interface)
            case .linkUp(let interface): if downLinks.remove(interface) != nil { hasNew = true }
            }
        }
        return hasNew
    }

    /// Forgets all routes. Call it after announcements have been missed.
    mutating func forgetAll() { knownRoutes = [] }

    private mutating func insert(_ route: NetworkRoute) -> Bool {
        if knownRoutes.contains(route) { return false }
        if knownRoutes.count == Self.capacity { forgetAll() }
        knownRoutes.insert(route)
        return true
    }

    private mutating func forget(_ isGone: (NetworkRoute) -> Bool) { knownRoutes = knownRoutes.filter { !isGone($0) } }
}

/// A route out of this machine. It is an address that is valid beyond its own link, or a default route.
struct NetworkRoute: Sendable, Hashable {
    enum Kind: Sendable, Hashable { case address, route }

    var kind: Kind
    /// The kernel's index of the network interface.
    var interface: UInt32
    /// For an address, the address itself; for a default route, the gateway's address, or an empty array if there is no
    /// gateway.
    var address: [UInt8]
}
