import Glibc
import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite struct ServiceNotifiers {
    private func received(by socket: borrowing OwnedDescriptor) throws -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        var span = buffer.mutableSpan
        let count = try socket.read(into: &span)
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    @Test func reachASocketInTheFileSystem() throws {
        let directory = try TemporaryDirectory()
        let socket = try NotifySocket.bound(to: directory.path("notify"))
        let notifier = ServiceNotifier(socketPath: directory.path("notify"))
        try notifier.send(["READY=1", "STATUS=receiving"])
        #expect(try received(by: socket) == "READY=1\nSTATUS=receiving")
    }

    @Test func reachAnAbstractSocket() throws {
        let path = "@waypost-test-\(getpid())-notify"
        let socket = try NotifySocket.bound(to: path)
        try ServiceNotifier(socketPath: path).send(["WATCHDOG=1"])
        #expect(try received(by: socket) == "WATCHDOG=1")
    }

    @Test(arguments: [nil, ""])
    func doNothingWithoutASocket(path: String?) throws {
        try ServiceNotifier(socketPath: path).send(["READY=1"])
    }

    @Test func failWithoutAListenerOrWithALongPath() {
        #expect(throws: SystemError(call: "notify /no/such/socket", number: ENOENT)) {
            try ServiceNotifier(socketPath: "/no/such/socket").send(["READY=1"])
        }
        let long = "/" + String(repeating: "x", count: 200)
        #expect(throws: SystemError(call: "notify \(long)", number: ENAMETOOLONG)) {
            try ServiceNotifier(socketPath: long).send(["READY=1"])
        }
    }

    @Test func doNotWaitForABusyManager() throws {
        let directory = try TemporaryDirectory()
        let socket = try NotifySocket.bound(to: directory.path("notify"))
        let notifier = ServiceNotifier(socketPath: directory.path("notify"))
        let full = #expect(throws: SystemError.self) {
            // The maximum number of waiting messages is the machine's setting, net.unix.max_dgram_qlen.
            for _ in 0..<100_000 { try notifier.send(["WATCHDOG=1"]) }
        }
        #expect(full?.number == EAGAIN)
        #expect(try received(by: socket) == "WATCHDOG=1")
        try notifier.send(["READY=1"])
    }
}
