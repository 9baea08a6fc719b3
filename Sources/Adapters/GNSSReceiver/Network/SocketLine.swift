import Glibc
import LinuxPlatform
import ReportedText
import Reporting

/// A TCP or UDP socket on which NMEA sentences or gpsd's reports arrive.
final class SocketLine: ReceiverLine {
    enum Kind: Sendable {
        /// A read of zero bytes means that the other side has closed the connection.
        case stream
        /// A read of zero bytes is an empty datagram.
        case datagrams
    }

    private static let connectTimeout = Duration.seconds(10)

    private let descriptor: OwnedDescriptor
    private let kind: Kind
    let start: ReceiverStart

    private init(_ descriptor: consuming OwnedDescriptor, _ kind: Kind, _ start: ReceiverStart) {
        self.kind = kind
        self.start = start
        self.descriptor = descriptor
    }

    /// Returns a line to the first of `addresses` that answers, after sending `request`.
    ///
    /// - Throws: the system's reason for the last failure, or `stopped`.
    static func connect(
        to addresses: [NetworkAddress], request: [UInt8], isGPSD: Bool = false, unless stop: EventDescriptor
    ) throws(ReceiverOpenError) -> SocketLine {
        var reason: ReportedText = "the host has no address"
        for address in addresses {
            switch Result(catching: { () throws(SystemError) in
                try attemptConnection(to: address, request: request, unless: stop)
            }) {
            case .success(let line?): return line
            case .success(nil): throw .stopped
            case .failure(let error): reason = "\(error.reason)"
            }
        }
        throw .failed(.notConnected(reason, isGPSD: isGPSD))
    }

    /// Returns a line that receives datagrams at the first of `addresses` that can be bound.
    ///
    /// - Throws: the system's reason for the last failure.
    static func listen(on addresses: [NetworkAddress]) throws(ReceiverOpenError) -> SocketLine {
        var reason: ReportedText = "the host has no address"
        for address in addresses {
            do throws(SystemError) {
                let descriptor = OwnedDescriptor(owning: try makeSocket(address.family, SOCK_DGRAM))
                try valueOrSystemError("bind") { unsafe address.withPointer { unsafe bind(descriptor.raw, $0, $1) } }
                let port = Int(SocketAddress.port(of: descriptor.raw))
                return SocketLine(descriptor, .datagrams, .listening(port: port))
            } catch {
                reason = "\(error.reason)"
            }
        }
        throw .failed(.notListening(reason))
    }

    var raw: CInt { descriptor.raw }

    func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> LineRead {
        let read = try LineRead { () throws(SystemError) in try descriptor.read(into: &buffer) }
        guard kind == .datagrams else { return read }
        switch read {
        case .end: return .nothingYet
        case .bytes(let count) where count < buffer.count:
            // An unfinished sentence ends with its datagram, because the next datagram may belong to another epoch.
            buffer[count] = UInt8(ascii: "\n")
            return .bytes(count + 1)
        default: return read
        }
    }

    /// Connects to one address. Returns `nil` if stopped.
    private static func attemptConnection(
        to address: NetworkAddress, request: [UInt8], unless stop: EventDescriptor
    ) throws(SystemError) -> SocketLine? {
        let descriptor = OwnedDescriptor(owning: try makeSocket(address.family, SOCK_STREAM))
        let code = unsafe address.withPointer { unsafe Glibc.connect(descriptor.raw, $0, $1) == 0 ? 0 : errno }
        if code != 0 {
            guard code == EINPROGRESS else { throw SystemError(call: "connect", number: code) }
            switch try poll(descriptor.raw, for: .writing, within: connectTimeout, unless: stop) {
            case .stopped: return nil
            case .timedOut: throw SystemError(call: "connect", number: ETIMEDOUT)
            case .ready: try throwPendingError(of: descriptor.raw)
            }
        }
        // The request fits into any empty send buffer. With MSG_NOSIGNAL, a closed connection causes an error, not a
        // signal.
        try valueOrSystemError("send") {
            unsafe send(descriptor.raw, request, request.count, CInt(MSG_NOSIGNAL))
        }
        return SocketLine(descriptor, .stream, .connected)
    }

    private static func makeSocket(_ family: CInt, _ type: __socket_type) throws(SystemError) -> CInt {
        try valueOrSystemError("socket") {
            socket(family, CInt(type.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        }
    }

    private static func throwPendingError(of socket: CInt) throws(SystemError) {
        var number: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        try valueOrSystemError("getsockopt") { unsafe getsockopt(socket, SOL_SOCKET, SO_ERROR, &number, &length) }
        if number != 0 { throw SystemError(call: "connect", number: number) }
    }
}
