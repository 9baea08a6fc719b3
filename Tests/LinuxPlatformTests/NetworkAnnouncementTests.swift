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

    private static func address(scope: UInt8) -> [UInt8] { [2, 24, 0x80, scope, 3, 0, 0, 0] }

    private static func route(length: UInt8, table: UInt8 = 254, type: UInt8 = 1) -> [UInt8] {
        [2, length, 0, 0, table, 3, 0, type, 0, 0, 0, 0]
    }

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
        // Lengths that lie.
        (message(newAddress, address(scope: 0), length: 0), false),
        (message(newAddress, address(scope: 0), length: 4_000_000_000), false),
        (message(newAddress, [2, 24]), false), (message(newRoute, []), false),
    ]

    @Test(arguments: datagrams) func tellOfAWayOut(datagram: [UInt8], isWayOut: Bool) {
        #expect(NetworkAnnouncement.tellsOfWayOut(datagram.span) == isWayOut)
    }

    @Test func areHeardUntilCancelled() async throws {
        let watch = try NetworkWatch()
        let running = Task { try await watch.run {} }
        running.cancel()
        try await running.value
    }
}
