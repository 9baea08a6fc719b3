import CLinux
import Glibc

/// A socket that accepts connections from this machine. Closing it removes a Unix socket's file.
package final class ListeningSocket: Sendable {
    /// The address for clients, with the port that is actually used.
    package let address: LocalAddress
    private let descriptor: Locked<OwnedDescriptor?>

    /// Listens on `address`. Replaces a Unix socket that a dead process of this user left behind, and nothing else.
    /// Only the owner may use a new Unix socket.
    package init(on address: LocalAddress) throws(ListenError) {
        guard let target = address.socketAddress else {
            throw .system(address, SystemError(call: "listen", number: EADDRNOTAVAIL))
        }
        do {
            let socket = try Self.makeSocket(family: target.family)
            if case .unix(let path) = address {
                try Self.require(path)
                Self.removeAbandoned(path, target)
            }
            try valueOrSystemError("bind") { unsafe target.withPointer { unsafe bind(socket.raw, $0, $1) } }
            // A client that finds the queue full retries after a second. The queue holds 1024 clients while a service
            // is stopped.
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

    /// Accepts the next connection without blocking. Returns `nil` if no client waits, or if the client has gone again.
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
        // Another process may have created its own socket there.
        if wasOpen, case .unix(let path) = address, let target = address.socketAddress {
            Self.removeAbandoned(path, target)
        }
    }

    /// Checks that `user` may create a socket at `path`: that nothing exists there, or only the user's own socket.
    ///
    /// - Throws: a refusal if the user may not.
    package static func require(_ path: String, for user: UInt32 = geteuid()) throws(SystemError) {
        try DirectoryTrust.require(FileSystem.parent(of: path), .sticky, for: user)
        guard let status = try FileStatus(at: path) else { return }
        guard status.kind == .socket else {
            throw SystemError(
                refusing: path,
                because: .init(
                    "\(path) is \(status.kind.rawValue), not a socket, and is left unchanged",
                    "choose another path, such as unix:/run/waypost/status"))
        }
        guard status.owner == user else {
            throw SystemError(
                refusing: path,
                because: .init(
                    "\(path) is a socket that belongs to \(FileStatus.name(ofUser: status.owner)), and is left unchanged",
                    "choose another path"))
        }
    }

    /// Removes a socket of this user on which no process listens.
    private static func removeAbandoned(_ path: String, _ target: SocketAddress) {
        guard let status = try? FileStatus(at: path), status.kind == .socket, status.owner == geteuid(),
            isAbandoned(target)
        else { return }
        unsafe unlink(path)
    }

    private static func makeSocket(family: CInt) throws(SystemError) -> OwnedDescriptor {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let owned = OwnedDescriptor(owning: try valueOrSystemError("socket") { socket(family, kind, 0) })
        if family == AF_UNIX {
            // This precedes bind, so that the file never has wider permissions.
            try valueOrSystemError("set the mode of the socket") { fchmod(owned.raw, 0o600) }
        } else {
            // This keeps connections of a service that has just ended from delaying the next service.
            var one: CInt = 1
            try valueOrSystemError("setsockopt") {
                unsafe setsockopt(owned.raw, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
            }
        }
        return owned
    }

    /// Whether no process listens on a Unix socket.
    private static func isAbandoned(_ target: SocketAddress) -> Bool {
        guard let probe = try? makeSocket(family: target.family) else { return false }
        return unsafe target.withPointer { unsafe connect(probe.raw, $0, $1) } != 0 && errno == ECONNREFUSED
    }
}

/// Makes `close` send a reset instead of a regular end.
package func resetOnClose(_ socket: CInt) {
    var linger = linger(l_onoff: 1, l_linger: 0)
    _ = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
}

/// The reason why listening on an address failed.
package enum ListenError: Error, Sendable, Hashable, CustomStringConvertible {
    case inUse(LocalAddress)
    case system(LocalAddress, SystemError)

    package var description: String { explanation.sentence }

    /// The failure and its remedy.
    package var explanation: SystemError.Refusal {
        let (address, cause) =
            switch self {
            case .inUse(let address): (address, Self.explanation(of: Listener(on: address), on: address))
            case .system(let address, let error): (address, Self.explanation(of: error, on: address))
            }
        return SystemError.Refusal("cannot listen on \(address): \(cause.reason)", cause.remedy)
    }

    private static func explanation(of error: SystemError, on address: LocalAddress) -> SystemError.Refusal {
        if let refusal = error.refusal { return refusal }
        let remedy =
            switch address {
            case .loopback(_, let port) where port < 1024 && error.number == EACCES: "choose a port from 1024 on"
            case .unix(let path) where [ENOENT, EACCES].contains(error.number):
                "create \(FileSystem.parent(of: path)) for this user, or choose a path in an existing directory of this user"
            case .loopback, .unix: ""
            }
        return SystemError.Refusal(error.reason, remedy)
    }

    /// Whether the path itself was rejected, so it doesn't matter if a process listens.
    package var isRefusal: Bool { if case .system(_, let error) = self { error.refusal != nil } else { false } }

    /// The process that holds the address, if this user may see it.
    package var holder: HoldingProcess? {
        guard case .inUse(let address) = self, case .process(let process)? = Listener(on: address) else { return nil }
        return process
    }

    static func explanation(of listener: Listener?, on address: LocalAddress) -> SystemError.Refusal {
        let (search, choice) =
            switch address {
            case .loopback(_, let port):
                ("ss -ltnp sport = :\(port)", "choose another port (0 selects a free one)")
            case .unix(let path): ("ss -lxp src \(path)", "choose another path")
            }
        let remedy = "find it as root (\(search)) and stop it, or \(choice)"
        return switch listener {
        case .process(let process): .init("\(process) holds it", "stop it (\(process.stopCommand)), or \(choice)")
        case .user(let user): .init("a process of \(FileStatus.name(ofUser: user)) holds it", remedy)
        case nil: .init("another process holds it", remedy)
        }
    }
}

/// The process or user that listens on an address of this machine.
enum Listener: Sendable, Hashable {
    case process(HoldingProcess)
    /// The user of an unknown process.
    case user(UInt32)

    /// Finds the listener; `nil` if it can't be identified.
    init?(on address: LocalAddress) {
        switch address {
        case .loopback(_, let port): self.init(onPort: port)
        case .unix: self.init(behind: address)
        }
    }

    /// Asks the kernel for the process at the other end of a connection.
    private init?(behind address: LocalAddress) {
        // struct ucred, which the Glibc module doesn't export: process, user, group.
        var credentials: [CInt] = [0, 0, 0]
        var size = socklen_t(MemoryLayout<CInt>.stride * credentials.count)
        guard let socket = try? connectedSocket(to: address, within: 1),
            unsafe getsockopt(socket.raw, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0, credentials[0] > 0
        else { return nil }
        self = .process(HoldingProcess(reading: credentials[0]))
    }

    /// Looks up the socket's inode in the kernel's table, and the process whose descriptor links to it. If the links
    /// are hidden, the table still shows the user, who may have only one process, such as a service.
    private init?(onPort port: UInt16) {
        guard let socket = ["/proc/net/tcp", "/proc/net/tcp6"].lazy.compactMap({ Self.socket(on: port, in: $0) }).first
        else { return nil }
        let processes = HoldingProcess.all(having: "socket:[\(socket.inode)]")
        // A server's workers share their parent's socket.
        let process = processes.first { $0.isUnit } ?? processes.first ?? HoldingProcess.only(of: socket.user)
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
