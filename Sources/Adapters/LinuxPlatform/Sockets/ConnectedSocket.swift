import CLinux
import Glibc

/// Connects to a service of this machine. Blocks, as later reads and writes of the descriptor do.
package func connectedSocket(to address: LocalAddress) throws(SystemError) -> OwnedDescriptor {
    let call = "connect to \(address)"
    guard let target = address.socketAddress else { throw SystemError(call: call, number: EADDRNOTAVAIL) }
    let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = OwnedDescriptor(owning: try valueOrSystemError(call) { socket(target.family, kind, 0) })
    try valueOrSystemError(call) { unsafe target.withPointer { unsafe connect(descriptor.raw, $0, $1) } }
    return descriptor
}
