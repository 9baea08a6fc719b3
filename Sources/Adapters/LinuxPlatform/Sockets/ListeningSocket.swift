import CLinux
package import Conditions
import Glibc
import ReportedText
import Reporting

/// A socket that accepts connections from this machine only. When a Unix socket is closed, its file is removed.
package final class ListeningSocket: Sendable {
    /// The address to which clients connect. If port 0 was requested, it contains the port that the kernel has
    /// selected.
    package let address: LocalAddress
    private let descriptor: Locked<OwnedDescriptor?>

    /// Listens on `address`. Replaces a Unix socket that belongs to this user and on which no process listens any
    /// longer, but nothing else. Only the owner may connect to a new Unix socket.
    package init(on address: LocalAddress) throws(ListenError) {
        guard let target = address.socketAddress else {
            throw .system(address, SystemError(call: "listen", number: EADDRNOTAVAIL))
        }
        do {
            let socket = try Self.makeSocket(family: target.family)
            if case .unix(let path) = address {
                try Self.requireUsablePath(path)
                Self.removeSocketIfAbandoned(at: path, address: target)
            }
            try valueOrSystemError("bind") { unsafe target.withPointer { unsafe bind(socket.raw, $0, $1) } }
            // If the queue is full, a new client tries again only after a second. So the queue has room for 1024
            // clients that connect while the service is stopped.
            try valueOrSystemError("listen") { listen(socket.raw, 1024) }
            if case .loopback(let host, 0) = address {
                self.address = .loopback(host: host, port: SocketAddress.port(of: socket.raw))
            } else {
                self.address = address
            }
            descriptor = Locked(consume socket)
        } catch {
            if error.number == EADDRINUSE { throw .inUse(address) }
            throw .system(address, error)
        }
    }

    deinit { close() }

    /// The descriptor's number, for `poll`; -1 once the socket is closed.
    package var raw: CInt { descriptor.withLock { $0?.raw ?? -1 } }

    /// Accepts the next connection without blocking. Returns `nil` if no client is waiting, or if it has disconnected
    /// meanwhile.
    package func accept() throws(SystemError) -> OwnedDescriptor? {
        let listening = raw
        let accepted = clinux_accept(listening)
        if accepted >= 0 { return OwnedDescriptor(owning: accepted) }
        let number = errno
        if [EAGAIN, EINTR, ECONNABORTED].contains(number) { return nil }
        throw SystemError(call: "accept on \(address)", number: number)
    }

    package func close() {
        let wasOpen = descriptor.withLock { descriptor in
            let wasOpen = descriptor != nil
            descriptor = nil
            return wasOpen
        }
        // The file is removed only if no process listens, because another process may have created its own socket at
        // the path.
        if wasOpen, case .unix(let path) = address, let target = address.socketAddress {
            Self.removeSocketIfAbandoned(at: path, address: target)
        }
    }

    /// Checks that `user` may create a socket at `path`. Nothing may exist there except a socket of that user, and the
    /// directories must be trusted.
    ///
    /// - Throws: a refusal if `user` may not create the socket.
    package static func requireUsablePath(_ path: String, for user: UInt32 = geteuid()) throws(SystemError) {
        try DirectoryTrust.require(FileSystem.parent(of: path), .sticky, for: user)
        guard let status = try FileStatus(at: path) else { return }
        guard status.kind == .socket else {
            throw SystemError(refusing: path, because: .notSocket(kind: status.kind.rawValue))
        }
        guard status.owner == user else {
            throw SystemError(refusing: path, because: .foreignSocket(owner: status.ownerName))
        }
    }

    /// Removes the Unix socket at `path` if it belongs to this user and no process listens on it.
    private static func removeSocketIfAbandoned(at path: String, address target: SocketAddress) {
        guard let status = try? FileStatus(at: path), status.kind == .socket, status.owner == geteuid(),
            isAbandoned(target)
        else { return }
        unsafe unlink(path)
    }

    private static func makeSocket(family: CInt) throws(SystemError) -> OwnedDescriptor {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let owned = OwnedDescriptor(owning: try valueOrSystemError("socket") { socket(family, kind, 0) })
        if family == AF_UNIX {
            // The mode is set before `bind` creates the file, so that the file never has wider permissions.
            try valueOrSystemError("set the mode of the socket") { fchmod(owned.raw, 0o600) }
        } else {
            // A new service can listen at once, even while connections of the previous one are still being closed.
            var one: CInt = 1
            try valueOrSystemError("setsockopt") {
                unsafe setsockopt(owned.raw, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
            }
        }
        return owned
    }

    /// Whether no process listens on the Unix socket `target`.
    private static func isAbandoned(_ target: SocketAddress) -> Bool {
        guard let probe = try? makeSocket(family: target.family) else { return false }
        return unsafe target.withPointer { unsafe connect(probe.raw, $0, $1) } != 0 && errno == ECONNREFUSED
    }
}

/// Makes `close` reset the connection at once instead of ending it in the regular way.
package func resetOnClose(_ socket: CInt) {
    var linger = linger(l_onoff: 1, l_linger: 0)
    _ = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
}

/// The error when listening on an address fails.
package enum ListenError: Error, Sendable, Hashable, CustomStringConvertible {
    case inUse(LocalAddress)
    case system(LocalAddress, SystemError)

    package var description: String { fault.wording(on: "\(address)").sentence.description }

    private var address: LocalAddress {
        switch self {
        case .inUse(let address), .system(let address, _): address
        }
    }

    /// The reason for the failure. Looks for the process that uses the address.
    package var fault: ListenFault {
        if case .system(_, let error) = self, let refusal = error.refusal { return .refused(refusal) }
        return switch (self, address) {
        case (.inUse, .loopback(_, let port)): .portInUse(port, by: Listener(on: address)?.fact)
        case (.inUse, .unix(let path)): .socketInUse(path, by: Listener(on: address)?.fact)
        case (.system(_, let error), .loopback(_, 0..<1024)) where error.number == EACCES:
            .privilegedPort(reason: error.reason)
        case (.system(_, let error), .unix(let path)) where [ENOENT, EACCES].contains(error.number):
            .directoryUnusable(FileSystem.parent(of: path), reason: error.reason)
        case (.system(_, let error), _): .other(reason: error.reason)
        }
    }

    /// The process that already listens on the address; `nil` if this user can't see it, or if the failure has another
    /// reason.
    package var holder: HoldingProcess? {
        guard case .inUse(let address) = self, case .process(let process)? = Listener(on: address) else { return nil }
        return process
    }
}

/// The process that listens on an address of this machine, or at least its user.
enum Listener: Sendable, Hashable {
    case process(HoldingProcess)
    /// The uid of the user whose process listens, if the process itself is unknown.
    case user(UInt32)

    var fact: ListenFault.Holder {
        switch self {
        case .process(let process): .process("\(process)", stopCommand: process.stopCommand)
        case .user(let user): .user(FileStatus.name(ofUser: user))
        }
    }

    /// Finds the process that listens on `address`, or its user; `nil` if neither can be identified.
    init?(on address: LocalAddress) {
        switch address {
        case .loopback(_, let port): self.init(onPort: port)
        case .unix: self.init(connectedTo: address)
        }
    }

    /// Connects to `address`, and asks the kernel which process is at the other end.
    private init?(connectedTo address: LocalAddress) {
        // The fields of `struct ucred`, which the Glibc module doesn't export: process, user, group.
        var credentials: [CInt] = [0, 0, 0]
        var size = socklen_t(MemoryLayout<CInt>.stride * credentials.count)
        guard let socket = try? connectedSocket(to: address, within: 1),
            unsafe getsockopt(socket.raw, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0, credentials[0] > 0
        else { return nil }
        self = .process(HoldingProcess(reading: credentials[0]))
    }

    /// Finds the socket's inode in the kernel's table, and then the process with a descriptor that links to this inode.
    /// If `/proc` hides the symbolic links, the table still names the user. If that user has only one process, as a
    /// service's user may, that process is the listener.
    private init?(onPort port: UInt16) {
        guard let socket = ["/proc/net/tcp", "/proc/net/tcp6"].lazy.compactMap({ Self.socket(on: port, in: $0) }).first
        else { return nil }
        let processes = HoldingProcess.all(withOpenFile: "socket:[\(socket.inode)]")
        // A server's worker processes share their parent's socket, so the main process of a unit is preferred.
        let process = processes.first { $0.isUnit } ?? processes.first ?? HoldingProcess.soleProcess(of: socket.user)
        self = process.map(Self.process) ?? .user(socket.user)
    }

    private static func socket(on port: UInt16, in table: String) -> (inode: Substring, user: UInt32)? {
        let digits = String(port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: 4 - digits.count) + digits
        guard let text = try? FileSystem.read(1 << 22, at: 0, of: table) else { return nil }
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n").dropFirst() {
            let columns = line.split(separator: " ")
            guard columns.count > 9, columns[1].hasSuffix(suffix), columns[3] == "0A", let user = UInt32(columns[7])
            else { continue }
            return (columns[9], user)
        }
        return nil
    }
}
