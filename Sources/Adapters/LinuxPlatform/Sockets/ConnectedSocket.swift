import CLinux
import Glibc

/// Connects to a service of this machine. Blocks, as later reads and writes of the descriptor do: each for `seconds` at
/// most, where that is given.
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
