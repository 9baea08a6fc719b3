import Glibc
import LinuxPlatform

/// An address and port of IPv4 or IPv6, as the socket calls take it.
struct NetworkAddress: Sendable, Hashable {
    let family: CInt
    /// A `sockaddr` of the family.
    private let bytes: [UInt8]

    /// Copies what `pointer` shows.
    @unsafe init(_ pointer: UnsafePointer<sockaddr>, length: socklen_t) {
        family = CInt(unsafe pointer.pointee.sa_family)
        bytes = unsafe Array(UnsafeRawBufferPointer(start: pointer, count: Int(length)))
    }

    /// The address that `socket` is bound to.
    init(of socket: CInt) throws(SystemError) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        try valueOrSystemError("getsockname") {
            unsafe withUnsafeMutablePointer(to: &storage) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe getsockname(socket, $0, &length)
                }
            }
        }
        self = unsafe withUnsafePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe Self($0, length: length) }
        }
    }

    /// The port; it stands at the same place in both families, high byte first.
    var port: Int { Int(bytes[2]) << 8 | Int(bytes[3]) }

    /// Calls `body` with the address in the form of `connect` and `bind`.
    @unsafe func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe bytes.withUnsafeBytes { buffer in
            // The array's bytes lie where any such structure may (malloc's alignment).
            unsafe buffer.withMemoryRebound(to: sockaddr.self) { generic in
                unsafe body(generic.baseAddress.unsafelyUnwrapped, socklen_t(buffer.count))
            }
        }
    }
}
