import Glibc
import LinuxPlatform
import ReportedText
import Reporting

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

/// Finds the addresses of a host by name, without holding up a thread that is being stopped.
struct HostLookup: Sendable {
    /// What came of it.
    private enum Answer: Sendable {
        case addresses([NetworkAddress])
        /// The resolver's message.
        case failed(ReportedText)
    }

    private static let longestWait = Duration.seconds(30)

    let host: String
    let port: Int
    /// For `bind` rather than `connect`.
    var isPassive = false

    /// All addresses, best first.
    ///
    /// The resolver cannot be interrupted, so a name is looked up on a thread that is abandoned when the answer is no
    /// longer needed; it ends with the resolver's own time limit.
    func addresses(unless stop: EventDescriptor) throws(ReceiverOpenError) -> [NetworkAddress] {
        if case .addresses(let addresses) = resolve(onlyNumeric: true) { return addresses }
        let answer = Locked<Answer?>(nil)
        let outcome: PollOutcome
        do throws(SystemError) {
            let arrival = try EventDescriptor()
            try startThreadIfAny(named: "host-lookup") {
                let found = resolve(onlyNumeric: false)
                answer.withLock { $0 = found }
                arrival.signal()
            }
            outcome = try poll(arrival.raw, within: Self.longestWait, unless: stop)
        } catch {
            throw .notNow(.hostNotFound(host, "\(error)"))
        }
        if outcome == .stopped { throw .stopped }
        switch answer.withLock({ $0 }) {
        case .addresses(let addresses): return addresses
        case .failed(let message): throw .notNow(.hostNotFound(host, message))
        case nil: throw .notNow(.hostNotFound(host, nil))
        }
    }

    /// Blocks unless `onlyNumeric`.
    private func resolve(onlyNumeric: Bool) -> Answer {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)  // else each address comes once a type
        unsafe hints.ai_flags = (isPassive ? AI_PASSIVE : 0) | (onlyNumeric ? AI_NUMERICHOST : 0) | AI_NUMERICSERV
        var first: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, String(port), &hints, &first)
        guard code == 0 else { return .failed(ReportedText(unsafe String(cString: gai_strerror(code)))) }
        defer { unsafe freeaddrinfo(first) }
        var addresses: [NetworkAddress] = []
        var next = unsafe first
        while let entry = unsafe next {
            if let address = unsafe entry.pointee.ai_addr {
                addresses.append(unsafe NetworkAddress(address, length: entry.pointee.ai_addrlen))
            }
            unsafe next = entry.pointee.ai_next
        }
        return .addresses(addresses)
    }
}
