import CLinux
import Glibc

/// A socket address for system calls.
package struct SocketAddress {
    let family: CInt
    private var storage = sockaddr_storage()
    private let length: socklen_t

    /// Creates an address from a host in 127.0.0.0/8, or `::1`. Returns `nil` for any other host.
    init?(loopbackHost host: String, port: UInt16) {
        var ipv4 = sockaddr_in()
        var ipv6 = sockaddr_in6()
        if unsafe inet_pton(AF_INET, host, &ipv4.sin_addr) == 1 {
            guard UInt32(bigEndian: ipv4.sin_addr.s_addr) >> 24 == 127 else { return nil }
            ipv4.sin_family = sa_family_t(AF_INET)
            ipv4.sin_port = port.bigEndian
            self.init(AF_INET, ipv4)
        } else if unsafe inet_pton(AF_INET6, host, &ipv6.sin6_addr) == 1 {
            let isLoopback = unsafe withUnsafeBytes(of: &ipv6.sin6_addr) {
                unsafe $0.elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
            }
            guard isLoopback else { return nil }
            ipv6.sin6_family = sa_family_t(AF_INET6)
            ipv6.sin6_port = port.bigEndian
            self.init(AF_INET6, ipv6)
        } else {
            return nil
        }
    }

    /// Creates the address of a Unix socket in the file system. Returns `nil` if the path is too long.
    init?(path: String) { self.init(unixPath: path, length: MemoryLayout<sockaddr_un>.size) }

    /// Creates the address of a Unix socket with an abstract name, which has no file (unix(7)). Returns `nil` if the
    /// name is too long.
    init?(abstractName name: String) {
        // Every byte of an abstract address belongs to the name, so the address must end where the name ends.
        let nameOffset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? MemoryLayout<sa_family_t>.size
        self.init(unixPath: "\0" + name, length: nameOffset + 1 + name.utf8.count)
    }

    private init?(unixPath path: String, length: Int) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        self.init(AF_UNIX, address, length: length)
    }

    private init<Address>(
        _ family: CInt, _ address: Address, length: Int = MemoryLayout<Address>.size
    ) {
        self.family = family
        self.length = socklen_t(length)
        unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: address, as: Address.self) }
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }

    /// Returns the port to which a socket is bound.
    package static func port(of socket: CInt) -> UInt16 {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(socket, $0, &length) }
        }
        // For both IPv4 and IPv6, the port is the second 16-bit field.
        return unsafe withUnsafeBytes(of: &address) {
            UInt16(bigEndian: unsafe $0.load(fromByteOffset: 2, as: UInt16.self))
        }
    }
}

/// An address that only this machine can reach: a loopback host and port, or a Unix socket.
///
/// `ListeningSocket` accepts only this type, so it can't be made to listen on a public address.
package enum LocalAddress: Sendable, Hashable, CustomStringConvertible {
    /// `host` is a numeric loopback address, or `localhost`. If `port` is 0, the kernel selects a free port.
    case loopback(host: String, port: UInt16)
    case unix(path: String)

    /// The reason why a string isn't a local address. `description` completes a sentence that begins with the string.
    package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case malformed(String)
        case missingPort(host: String)
        case missingHost(port: String)
        case bare(path: String)
        case invalidPort(String)
        case notLoopback(host: String)
        case pathTooLong(String)

        package var description: String {
            switch self {
            case .malformed: "is not an address; write 127.0.0.1:PORT, [::1]:PORT or unix:/PATH"
            case .missingPort(let host): "has no port; write \(host):PORT"
            case .missingHost(let port): "has no host; write 127.0.0.1:\(port)"
            case .bare(let path): "is a path; write unix:\(path)"
            case .invalidPort(let port): "has the invalid port \"\(port)\"; use 0 to 65535 (0 selects a free one)"
            case .notLoopback(let host):
                "would let other machines connect to \(host); use 127.0.0.1, ::1, localhost or unix:/PATH"
            case .pathTooLong: "is too long for a Unix socket; use at most 107 bytes"
            }
        }
    }

    /// Parses `HOST:PORT`, `[::1]:PORT`, or `unix:/PATH`.
    package init(_ text: String) throws(Problem) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard path.hasPrefix("/") else { throw .malformed(text) }
            guard path.utf8.count <= 107 else { throw .pathTooLong(path) }
            self = .unix(path: path)
            return
        }
        if text.hasPrefix("/") { throw .bare(path: text) }
        let bare = text.hasPrefix(":") ? text.dropFirst() : text[...]
        if !bare.isEmpty, bare.utf8.allSatisfy(Self.isDigit) { throw .missingHost(port: String(bare)) }
        if ["127.0.0.1", "localhost", "[::1]"].contains(text) { throw .missingPort(host: text) }
        guard let colon = text.lastIndex(of: ":") else { throw .malformed(text) }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            throw .malformed(text)  // an IPv6 address must be in brackets
        }
        let port = text[text.index(after: colon)...]
        guard !host.isEmpty, !port.isEmpty else { throw .malformed(text) }
        guard port.utf8.allSatisfy(Self.isDigit), let number = UInt16(port) else {
            throw .invalidPort(String(port))
        }
        self = .loopback(host: host, port: number)
        guard socketAddress != nil else { throw .notLoopback(host: host) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    package var description: String {
        switch self {
        case .loopback(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// The address for system calls; `nil` if the host isn't a loopback address or the path is too long.
    var socketAddress: SocketAddress? {
        switch self {
        case .loopback(let host, let port):
            SocketAddress(loopbackHost: host == "localhost" ? "127.0.0.1" : host, port: port)
        case .unix(let path): SocketAddress(path: path)
        }
    }
}

/// Connects to a service on this machine, and returns the socket. Blocks until the connection exists. Later reads and
/// writes also block. If `seconds` is given, each of these calls takes at most that long.
package func connectedSocket(
    to address: LocalAddress, within seconds: Int? = nil
) throws(SystemError) -> OwnedDescriptor {
    let call = "connect to \(address)"
    guard let target = address.socketAddress else { throw SystemError(call: call, number: EADDRNOTAVAIL) }
    let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = OwnedDescriptor(owning: try valueOrSystemError(call) { socket(target.family, kind, 0) })
    if let seconds {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
            try valueOrSystemError("setsockopt") { unsafe setsockopt(descriptor.raw, SOL_SOCKET, option, &limit, size) }
        }
    }
    try valueOrSystemError(call) { unsafe target.withPointer { unsafe connect(descriptor.raw, $0, $1) } }
    return descriptor
}
