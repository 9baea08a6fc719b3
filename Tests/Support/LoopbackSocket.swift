import Glibc
package import LinuxPlatform

/// A socket on 127.0.0.1: a server that listens, a connection to it, or a sender of datagrams.
///
/// Calls block for at most 100 seconds, because a test that waits forever would occupy a thread of the pool.
package final class LoopbackSocket: Sendable {
    package enum Kind: Sendable { case stream, datagrams }

    private let descriptor: OwnedDescriptor
    /// This socket's own port.
    package let port: Int

    /// Listens on `port`; 0 lets the system choose.
    package convenience init(_ kind: Kind, port: Int = 0) throws(SystemError) {
        try self.init(boundAs: kind, port: port)
        if kind == .stream { try valueOrSystemError("listen") { listen(descriptor.raw, 8) } }
    }

    private init(boundAs kind: Kind, port: Int) throws(SystemError) {
        let descriptor = try Self.makeSocket(kind)
        if kind == .stream {
            var reuse: CInt = 1  // allows the same port right after it was closed
            try valueOrSystemError("setsockopt") {
                unsafe setsockopt(descriptor.raw, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<CInt>.size))
            }
        }
        try unsafe Self.call("bind", bind, on: descriptor.raw, port: port)
        self.port = try Self.port(of: descriptor.raw)
        self.descriptor = descriptor
    }

    /// Connects to `port` on 127.0.0.1.
    package init(_ kind: Kind, connectedTo port: Int) throws(SystemError) {
        descriptor = try Self.makeSocket(kind)
        try unsafe Self.call("connect", connect, on: descriptor.raw, port: port)
        self.port = try Self.port(of: descriptor.raw)
    }

    private init(accepted connection: CInt) throws(SystemError) {
        descriptor = OwnedDescriptor(owning: connection)
        port = try Self.port(of: connection)
    }

    /// Returns a socket whose port the system assigns to no other program while this object exists. No program listens
    /// on it; a server can, with SO_REUSEADDR as usual.
    package static func reservation() throws(SystemError) -> LoopbackSocket {
        try LoopbackSocket(boundAs: .stream, port: 0)
    }

    /// Accepts the next connection to this server.
    package func accept() throws(SystemError) -> LoopbackSocket {
        try LoopbackSocket(accepted: try valueOrSystemError("accept") { Glibc.accept(descriptor.raw, nil, nil) })
    }

    /// Sends everything, or one datagram.
    package func send(_ text: String) throws(SystemError) {
        let bytes = Array(text.utf8)
        var done = 0
        repeat {
            done += try valueOrSystemError("send") {
                unsafe Glibc.send(
                    descriptor.raw, Array(bytes[done...]), bytes.count - done, CInt(MSG_NOSIGNAL))
            }
        } while done < bytes.count
    }

    /// Reads the next bytes, or one datagram.
    package func receive() throws(SystemError) -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var span = buffer.mutableSpan
        let count = try descriptor.read(into: &span)
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    private static func makeSocket(_ kind: Kind) throws(SystemError) -> OwnedDescriptor {
        let type = kind == .stream ? SOCK_STREAM.rawValue : SOCK_DGRAM.rawValue
        let descriptor = OwnedDescriptor(
            owning: try valueOrSystemError("socket") { socket(AF_INET, CInt(type | SOCK_CLOEXEC.rawValue), 0) })
        // Accepted connections inherit these options.
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            var timeout = timeval(tv_sec: 100, tv_usec: 0)
            try valueOrSystemError("setsockopt") {
                unsafe setsockopt(descriptor.raw, SOL_SOCKET, option, &timeout, socklen_t(MemoryLayout<timeval>.size))
            }
        }
        return descriptor
    }

    /// Makes a socket call with an address of 127.0.0.1.
    @unsafe private static func call(
        _ name: String, _ function: (CInt, UnsafePointer<sockaddr>?, socklen_t) -> CInt, on descriptor: CInt, port: Int
    ) throws(SystemError) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        try unsafe withUnsafePointer(to: &address) { pointer throws(SystemError) in
            try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic throws(SystemError) in
                _ = try valueOrSystemError(name) {
                    unsafe function(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
    }

    private static func port(of descriptor: CInt) throws(SystemError) -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try unsafe withUnsafeMutablePointer(to: &address) { pointer throws(SystemError) in
            try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic throws(SystemError) in
                _ = try valueOrSystemError("getsockname") { unsafe getsockname(descriptor, generic, &length) }
            }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
