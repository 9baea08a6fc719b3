import Glibc
import Testing

@testable import LinuxPlatform

@Suite struct NetworkAnnouncements {
    private static let (newAddress, oldAddress, newRoute, oldRoute, newLink): (UInt16, UInt16, UInt16, UInt16, UInt16) =
        (20, 21, 24, 25, 16)

    private static func message(_ type: UInt16, _ body: [UInt8], length: UInt32? = nil) -> [UInt8] {
        let length = length ?? UInt32(16 + body.count)
        let head = (0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) }
        return head + [UInt8(type & 0xFF), UInt8(type >> 8)] + [UInt8](repeating: 0, count: 10) + body
    }

    private static func address(scope: UInt8, flags: UInt8 = 0x80, link: UInt8 = 3, lastByte: UInt8 = 7) -> [UInt8] {
        // IFA_ADDRESS, the other end of a point-to-point link; IFA_LOCAL; IFA_LABEL, of an odd length.
        [2, 24, flags, scope, link, 0, 0, 0]
            + [8, 0, 1, 0, 10, 0, 0, 1] + [7, 0, 3, 0, 0x61, 0x62, 0, 0] + [8, 0, 2, 0, 10, 0, 0, lastByte]
    }

    private static func route(
        length: UInt8 = 0, table: UInt8 = 254, type: UInt8 = 1, link: UInt8 = 3, lastByte: UInt8 = 1
    ) -> [UInt8] {
        // RTA_GATEWAY, RTA_OIF.
        [2, length, 0, 0, table, 3, 0, type, 0, 0, 0, 0]
            + [8, 0, 5, 0, 10, 0, 0, lastByte] + [8, 0, 4, 0, link, 0, 0, 0]
    }

    private static func link(_ number: UInt8, flags: UInt8) -> [UInt8] {
        [0, 0, 1, 0, number, 0, 0, 0, flags, 0, 0, 0, 0, 0, 0, 0]
    }

    /// Datagrams, and whether they announce a new route out of this machine.
    static let datagrams: [([UInt8], Bool)] = [
        ([], false), ([1, 2, 3], false),
        (message(newAddress, address(scope: 0)), true), (message(newAddress, address(scope: 200)), true),
        (message(newAddress, address(scope: 254)), false),  // 127.0.0.1
        (message(newAddress, address(scope: 253)), false),  // fe80::
        (message(oldAddress, address(scope: 0)), false),
        (message(newRoute, route(length: 0)), true), (message(newRoute, route(length: 24)), false),
        (message(newRoute, route(length: 0, table: 255)), false),
        (message(newRoute, route(length: 0, type: 7)), false),  // unreachable
        (message(oldRoute, route(length: 0)), false), (message(newLink, [UInt8](repeating: 0, count: 16)), false),
        (message(oldRoute, route(length: 0)) + message(newRoute, route(length: 0)), true),
        (message(newAddress, address(scope: 0, flags: 0xC0)), false),  // tentative
        (message(newAddress, address(scope: 0, flags: 0x88)), false),  // an address of another machine
        (message(newAddress, [10, 64, 0, 0, 3, 0, 0, 0]), true),  // without an attribute
        // Wrong lengths.
        (message(newAddress, [2, 24, 0, 0, 3, 0, 0, 0, 99, 0, 2, 0]), true),
        (message(newRoute, [2, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0, 0, 0, 4, 0]), true),
        (message(newAddress, address(scope: 0), length: 0), false),
        (message(newAddress, address(scope: 0), length: 4_000_000_000), false),
        (message(newAddress, [2, 24]), false), (message(newRoute, []), false),
    ]

    @Test(arguments: datagrams) func reportRoutesOutOfTheMachine(datagram: [UInt8], leadsOut: Bool) {
        var routes = NetworkRoutes()
        let isNew = routes.record(datagram.span)
        #expect(isNew == leadsOut)
    }

    /// When a cable is plugged in again, the kernel doesn't announce the existing addresses.
    @Test func reportALinkThatWorksAgain() {
        var routes = NetworkRoutes()
        let news = [(3, 0x43), (3, 0x03), (4, 0x43), (3, 0x03), (3, 0x43), (3, 0x43)].map { number, flags in
            routes.record(Self.message(Self.newLink, Self.link(UInt8(number), flags: UInt8(flags))).span)
        }
        #expect(news == [false, false, false, false, true, false])
    }

    /// Earlier announcements, and whether address 10.0.0.7 or the route through 10.0.0.1 on link 3 is new afterwards.
    static let histories: [(before: [[UInt8]], address: Bool, route: Bool)] = [
        ([], true, true),
        ([message(newAddress, address(scope: 0))], false, true), ([message(newRoute, route())], true, false),
        ([message(newAddress, address(scope: 0, link: 4)), message(newRoute, route(link: 4))], true, true),
        ([message(newAddress, address(scope: 0, lastByte: 8)), message(newRoute, route(lastByte: 2))], true, true),
        ([message(newAddress, address(scope: 0, flags: 0x40))], true, true),
        ([newAddressAndRoute, message(newAddress, address(scope: 0, flags: 0))], false, false),
        ([newAddressAndRoute, message(oldRoute, route())], false, true),
        // The routes of a lost address or link are also lost, although the kernel doesn't announce that.
        ([newAddressAndRoute, message(oldAddress, address(scope: 0))], true, true),
        ([newAddressAndRoute, message(oldAddress, address(scope: 0, link: 4))], false, false),
        ([newAddressAndRoute, message(newLink, link(3, flags: 0x43))], false, false),
        ([newAddressAndRoute, message(newLink, link(3, flags: 0x03))], true, true),  // without carrier
        ([newAddressAndRoute, message(newLink, link(3, flags: 0x02))], true, true),
        ([newAddressAndRoute, message(17, link(3, flags: 0x43))], true, true),
        ([newAddressAndRoute, message(newLink, link(4, flags: 0))], false, false),
    ]

    private static let newAddressAndRoute = message(newAddress, address(scope: 0)) + message(newRoute, route())

    @Test(arguments: histories) func areReportedAsNewOnce(before: [[UInt8]], address: Bool, route: Bool) {
        var routes = NetworkRoutes()
        for datagram in before { _ = routes.record(datagram.span) }
        var others = routes
        let isAddressNew = routes.record(Self.message(Self.newAddress, Self.address(scope: 0)).span)
        let isRouteNew = others.record(Self.message(Self.newRoute, Self.route()).span)
        #expect(isAddressNew == address)
        #expect(isRouteNew == route)
    }

    /// The number of remembered routes is bounded.
    @Test func areReportedAsNewAgainAfterAnOverflow() {
        var routes = NetworkRoutes()
        let news = (Array(UInt8(0)..<65) + [64, 0]).map { last in
            routes.record(Self.message(Self.newAddress, Self.address(scope: 0, lastByte: last)).span)
        }
        #expect(news == [Bool](repeating: true, count: 65) + [false, true])
    }

    @Test func reachTheWatchOnceIfTheyArriveTogether() async throws {
        var ends: [CInt] = [-1, -1]
        #expect(unsafe socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        let watch = NetworkWatch(receivingFrom: OwnedDescriptor(owning: ends[1]))
        do {
            let kernel = OwnedDescriptor(owning: ends[0])
            for _ in 0..<3 { try kernel.writeAll(Self.message(Self.newAddress, Self.address(scope: 0)).span) }
        }
        let notifications = Locked(0)
        // The other end is closed, so the watch ends when it has read everything.
        await #expect(throws: SystemError.self) { try await watch.run { notifications.withLock { $0 += 1 } } }
        #expect(notifications.withLock { $0 } == 1)
    }

    @Test func reachTheWatchUntilItIsCancelled() async throws {
        let watch = try NetworkWatch()
        let running = Task { try await watch.run {} }
        running.cancel()
        try await running.value
    }
}
