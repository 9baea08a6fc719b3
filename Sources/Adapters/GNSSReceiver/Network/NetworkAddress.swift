import Glibc
import LinuxPlatform
import ReportedText
import Reporting

/// An IPv4 or IPv6 address with its port, in the form that the socket calls use.
struct NetworkAddress: Sendable, Hashable {
    let family: CInt
    /// The bytes of the `sockaddr` structure for `family`.
    private let bytes: [UInt8]

    @unsafe init(_ pointer: UnsafePointer<sockaddr>, length: socklen_t) {
        family = CInt(unsafe pointer.pointee.sa_family)
        bytes = unsafe Array(UnsafeRawBufferPointer(start: pointer, count: Int(length)))
    }

    /// Calls `body` with the address in the form that `connect` and `bind` use. Returns the result of `body`.
    @unsafe func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe bytes.withUnsafeBytes { buffer in
            // The array's bytes are aligned for any `sockaddr` structure, because malloc aligns them.
            unsafe buffer.withMemoryRebound(to: sockaddr.self) { generic in
                unsafe body(generic.baseAddress.unsafelyUnwrapped, socklen_t(buffer.count))
            }
        }
    }
}

/// A lookup of a host's addresses. The lookup stops waiting for the resolver when the receiver is stopped.
struct HostLookup: Sendable {
    private enum Answer: Sendable {
        case addresses([NetworkAddress])
        /// The resolver's message.
        case failed(ReportedText)
    }

    private static let timeout = Duration.seconds(30)

    let host: String
    let port: Int
    /// Whether the addresses are for `bind` instead of `connect`.
    var isPassive = false

    /// Returns all addresses, in the resolver's order of preference.
    ///
    /// The resolver can't be interrupted, so it runs on its own thread. If its answer is no longer needed, that thread
    /// is abandoned, and ends when the resolver times out.
    func addresses(unless stop: EventDescriptor) throws(ReceiverOpenError) -> [NetworkAddress] {
        if case .addresses(let addresses) = resolve(onlyNumeric: true) { return addresses }
        let answer = Locked<Answer?>(nil)
        let outcome: PollOutcome
        do throws(SystemError) {
            let arrival = try EventDescriptor()
            try startThreadIfPossible(named: "host-lookup") {
                let found = resolve(onlyNumeric: false)
                answer.withLock { $0 = found }
                arrival.signal()
            }
            outcome = try poll(arrival.raw, within: Self.timeout, unless: stop)
        } catch {
            throw .failed(.hostNotFound(host, "\(error)"))
        }
        if outcome == .stopped { throw .stopped }
        switch answer.withLock({ $0 }) {
        case .addresses(let addresses): return addresses
        case .failed(let message): throw .failed(.hostNotFound(host, message))
        case nil: throw .failed(.hostNotFound(host, nil))
        }
    }

    /// Calls the resolver, and returns its answer. May block unless `onlyNumeric` is `true`.
    private func resolve(onlyNumeric: Bool) -> Answer {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)  // otherwise each address is returned once per type
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
