import CLinux
import Glibc

/// A socket address as the kernel's calls take it.
struct SocketAddress {
    let family: CInt
    private var storage = sockaddr_storage()
    private let length: socklen_t

    /// An address of 127.0.0.0/8 or `::1`; `nil` for any other.
    init?(loopbackHost host: String, port: UInt16) {
        var ipv4 = sockaddr_in()
        var ipv6 = sockaddr_in6()
        if unsafe inet_pton(AF_INET, host, &ipv4.sin_addr) == 1 {
            guard UInt32(bigEndian: ipv4.sin_addr.s_addr) >> 24 == 127 else { return nil }
            ipv4.sin_family = sa_family_t(AF_INET)
            ipv4.sin_port = port.bigEndian
            (family, length) = (AF_INET, socklen_t(MemoryLayout<sockaddr_in>.size))
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: ipv4, as: sockaddr_in.self) }
        } else if unsafe inet_pton(AF_INET6, host, &ipv6.sin6_addr) == 1 {
            let isLoopback = unsafe withUnsafeBytes(of: &ipv6.sin6_addr) {
                unsafe $0.elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
            }
            guard isLoopback else { return nil }
            ipv6.sin6_family = sa_family_t(AF_INET6)
            ipv6.sin6_port = port.bigEndian
            (family, length) = (AF_INET6, socklen_t(MemoryLayout<sockaddr_in6>.size))
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: ipv6, as: sockaddr_in6.self) }
        } else {
            return nil
        }
    }

    /// A Unix socket in the file system; `nil` when the path is too long.
    init?(path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        (family, length) = (AF_UNIX, socklen_t(MemoryLayout<sockaddr_un>.size))
        unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: address, as: sockaddr_un.self) }
    }

    /// A Unix socket that has a name but no file, unix(7); `nil` when the name is too long.
    init?(abstractName name: String) {
        guard let address = SocketAddress(path: "\0" + name) else { return nil }
        // Here every byte counts, so that the name ends where the address does.
        let nameOffset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? MemoryLayout<sa_family_t>.size
        (family, storage, length) = (address.family, address.storage, socklen_t(nameOffset + 1 + name.utf8.count))
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }

    /// The port that the kernel gave a bound socket.
    static func port(of socket: CInt) -> UInt16 {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(socket, $0, &length) }
        }
        // In both families the port is the second field of 16 bits.
        return unsafe withUnsafeBytes(of: &address) {
            UInt16(bigEndian: unsafe $0.load(fromByteOffset: 2, as: UInt16.self))
        }
    }
}
