import Glibc
import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite struct Notification {
    /// A bound datagram socket; `path` may begin with `@` for the abstract form.
    private func listen(at path: String) throws -> OwnedDescriptor {
        let raw = try valueOrSystemError("socket") {
            socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        }
        let descriptor = OwnedDescriptor(owning: raw)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = path.hasPrefix("@") ? [0] + Array(path.utf8.dropFirst()) : Array(path.utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (bytes.first == 0 ? 0 : 1))
        try unsafe withUnsafePointer(to: &address) { pointer throws(SystemError) in
            try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic throws(SystemError) in
                _ = try valueOrSystemError("bind \(path)") { unsafe bind(raw, generic, length) }
            }
        }
        return descriptor
    }

    private func received(by socket: borrowing OwnedDescriptor) throws -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        var span = buffer.mutableSpan
        let count = try socket.read(into: &span)
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    @Test func reachesASocketInTheFileSystem() throws {
        let folder = try TemporaryFolder()
        let socket = try listen(at: folder.path("notify"))
        let notification = ServiceNotification(socketPath: folder.path("notify"))
        #expect(notification.isEnabled)
        try notification.send(["READY=1", "STATUS=receiving"])
        #expect(try received(by: socket) == "READY=1\nSTATUS=receiving")
    }

    @Test func reachesAnAbstractSocket() throws {
        let path = "@waypost-test-\(getpid())-notify"
        let socket = try listen(at: path)
        try ServiceNotification(socketPath: path).send(["WATCHDOG=1"])
        #expect(try received(by: socket) == "WATCHDOG=1")
    }

    @Test(arguments: [nil, ""])
    func isSilentWithoutASocket(path: String?) throws {
        let notification = ServiceNotification(socketPath: path)
        #expect(!notification.isEnabled)
        try notification.send(["READY=1"])
    }

    @Test func saysThatNobodyListensOrThatThePathIsTooLong() {
        #expect(throws: SystemError(call: "notify /no/such/socket", number: ENOENT)) {
            try ServiceNotification(socketPath: "/no/such/socket").send(["READY=1"])
        }
        let long = "/" + String(repeating: "x", count: 200)
        #expect(throws: SystemError(call: "notify \(long)", number: ENAMETOOLONG)) {
            try ServiceNotification(socketPath: long).send(["READY=1"])
        }
    }
}
