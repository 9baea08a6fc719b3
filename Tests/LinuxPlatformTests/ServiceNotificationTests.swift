import Glibc
import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite struct ServiceNotifications {
    private func received(by socket: borrowing OwnedDescriptor) throws -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        var span = buffer.mutableSpan
        let count = try socket.read(into: &span)
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    @Test func reachesASocketInTheFileSystem() throws {
        let directory = try TemporaryDirectory()
        let socket = try NotifySocket.bound(to: directory.path("notify"))
        let notification = ServiceNotification(socketPath: directory.path("notify"))
        try notification.send(["READY=1", "STATUS=receiving"])
        #expect(try received(by: socket) == "READY=1\nSTATUS=receiving")
    }

    @Test func reachesAnAbstractSocket() throws {
        let path = "@waypost-test-\(getpid())-notify"
        let socket = try NotifySocket.bound(to: path)
        try ServiceNotification(socketPath: path).send(["WATCHDOG=1"])
        #expect(try received(by: socket) == "WATCHDOG=1")
    }

    @Test(arguments: [nil, ""])
    func isSilentWithoutASocket(path: String?) throws {
        try ServiceNotification(socketPath: path).send(["READY=1"])
    }

    @Test func failsWithoutAListenerOrWithALongPath() {
        #expect(throws: SystemError(call: "notify /no/such/socket", number: ENOENT)) {
            try ServiceNotification(socketPath: "/no/such/socket").send(["READY=1"])
        }
        let long = "/" + String(repeating: "x", count: 200)
        #expect(throws: SystemError(call: "notify \(long)", number: ENAMETOOLONG)) {
            try ServiceNotification(socketPath: long).send(["READY=1"])
        }
    }

    @Test func doesNotWaitForABusyManager() throws {
        let directory = try TemporaryDirectory()
        let socket = try NotifySocket.bound(to: directory.path("notify"))
        let notification = ServiceNotification(socketPath: directory.path("notify"))
        let full = #expect(throws: SystemError.self) {
            // The maximum number of waiting messages is the machine's setting, net.unix.max_dgram_qlen.
            for _ in 0..<100_000 { try notification.send(["WATCHDOG=1"]) }
        }
        #expect(full?.number == EAGAIN)
        #expect(try received(by: socket) == "WATCHDOG=1")
        try notification.send(["READY=1"])
    }
}
