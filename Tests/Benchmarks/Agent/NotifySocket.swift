import Glibc
import LinuxPlatform

/// The service manager's end of the notify protocol: an abstract socket on which a service says that it is ready.
final class NotifySocket: Sendable {
    /// What `NOTIFY_SOCKET` is set to.
    let name: String
    private let descriptor: OwnedDescriptor

    init() throws(SystemError) {
        let name = "@waypost-benchmark-\(getpid())-\(UInt32.random(in: 0...(.max)))"
        let endpoint = OwnedDescriptor(
            owning: try valueOrSystemError("socket") {
                socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
            })
        try Self.bind(endpoint.raw, to: name)
        self.name = name
        descriptor = endpoint
    }

    /// An abstract address is written with a leading `@` and begins with a zero byte.
    private static func bind(_ raw: CInt, to name: String) throws(SystemError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = [0] + Array(name.utf8.dropFirst())
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        try unsafe withUnsafePointer(to: &address) { pointer throws(SystemError) in
            try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic throws(SystemError) in
                _ = try valueOrSystemError("bind \(name)") { unsafe Glibc.bind(raw, generic, length) }
            }
        }
    }

    /// Waits for `READY=1`; gives the moment at which it came.
    func waitUntilReady() throws -> ContinuousClock.Instant {
        let deadline = ContinuousClock.now.advanced(by: .seconds(20))
        while ContinuousClock.now < deadline {
            var watched = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&watched, 1, 1000) > 0 else { continue }
            let arrival = ContinuousClock.now
            var buffer = [UInt8](repeating: 0, count: 4096)
            var span = buffer.mutableSpan
            let count = try descriptor.read(into: &span)
            if String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").contains("READY=1") {
                return arrival
            }
        }
        throw BenchmarkError("the service was not ready within 20 s")
    }
}
