import CCurl
import Glibc
import HTTPMessages
import LinuxPlatform
import ReportedText

/// One exchange while libcurl works on it: the handle, what has arrived, and the deadlines.
///
/// Belongs to the transport's thread. The handle's callbacks hold it unretained; `CurlLoop` keeps it until the handle
/// has left libcurl.
@safe final class CurlTransfer {
    let exchange: CurlExchange
    private(set) var easy: CurlEasy
    private let headerLines: CurlHeaderList
    private(set) var answer: CurlAnswer
    /// The end of the exchange's time limit.
    let deadline: ContinuousClock.Instant
    /// Whether the request has had a connection.
    private var isReady = false
    private let proxy: HTTPProxy?
    /// How the server is reached, as known when the transfer began.
    private let route: ServerRoute
    /// The families of the connections that were begun for it.
    private var openedFamilies: Set<ServerRoute.AddressFamily> = []
    private var repetition = RequestRepetition()
    private let sockets: CurlSockets
    /// What the sockets had shut when the transfer began.
    private let earlierFloods: Int
    /// What libcurl says about a failure, beyond the code.
    private let errorText: UnsafeMutablePointer<CChar>

    /// - Throws: `.transportFailed` when the request cannot be put into libcurl's terms.
    init(
        _ exchange: CurlExchange, options: CurlTransportOptions, multi: CurlMulti, route: ServerRoute,
        until deadline: ContinuousClock.Instant
    ) throws(HTTPTransportError) {
        let request = exchange.request
        let origin = request.url.origin
        let headerLines = try CurlHeaderList(request.headers, origin: origin)
        guard var easy = CurlEasy() else { throw HTTPTransportError(.transportFailed, "\(origin): no memory") }
        easy.applySafety(options)
        easy.apply(request)
        if let family = route.family {
            easy.set(CURLOPT_IPRESOLVE, family == .ipv4 ? ccurl_ipv4_only : ccurl_ipv6_only)
        }
        unsafe easy.note(ccurl_set_list(easy.handle, CURLOPT_HTTPHEADER, headerLines.head))
        unsafe easy.note(ccurl_set_pointer(easy.handle, CURLOPT_SHARE, multi.share))
        self.exchange = exchange
        self.headerLines = headerLines
        self.easy = easy
        self.route = route
        proxy = options.proxy
        sockets = multi.sockets
        earlierFloods = multi.sockets.floods
        answer = CurlAnswer(bodyLimit: request.limits.responseBytes)
        self.deadline = deadline
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        connectCallbacks()
        guard self.easy.setupCode == CURLE_OK else {
            throw HTTPTransportError(
                .transportFailed, "\(origin): libcurl refused a setting (\(curlWords(self.easy.setupCode)))")
        }
    }

    deinit {
        // The handle lives a moment longer than the buffer.
        _ = unsafe ccurl_set_pointer(easy.handle, CURLOPT_ERRORBUFFER, nil)
        unsafe errorText.deallocate()
    }

    /// Header lines and bodies, both ways, as far as the exchange got.
    var traffic: HTTPTraffic {
        let request = easy.number(CURLINFO_REQUEST_SIZE)
        let hasBody = ccurl_request_size_has_body(answeredOverHTTP2 ? 0 : 1, exchange.request.body.count) != 0
        return HTTPTraffic(
            bytesSent: hasBody ? request : request + easy.size(CURLINFO_SIZE_UPLOAD_T),
            bytesReceived: easy.number(CURLINFO_HEADER_SIZE) + easy.size(CURLINFO_SIZE_DOWNLOAD_T))
    }

    /// Whether there has been a connection, to the server or to a proxy that has answered.
    var isConnected: Bool { isReady || easy.number(CURLINFO_HTTP_CONNECTCODE) != 0 }

    /// The only address family that its connection may use; `nil` if any may.
    var onlyFamily: ServerRoute.AddressFamily? { route.family }

    /// The time since the exchange began, repetitions included.
    var age: Duration { exchange.request.limits.total - ContinuousClock.now.duration(to: deadline) }

    var answeredOverHTTP2: Bool { easy.number(CURLINFO_HTTP_VERSION) >= ccurl_answered_http_2 }

    /// What the transfer came to, once libcurl has ended it with `code`.
    func outcome(_ code: CURLcode) -> CurlExchange.Outcome {
        if code == CURLE_OK {
            var headers = answer.headers
            headers["Content-Encoding"] = nil  // the body is decoded
            return .success(
                HTTPResponse(
                    status: easy.number(CURLINFO_RESPONSE_CODE), headers: headers, body: answer.body,
                    traffic: traffic, certificateEnd: easy.certificateEnd))
        }
        if let excess = answer.excess { return outcome(.responseTooLarge, excess) }
        if sockets.floods > earlierFloods {
            return outcome(
                .responseTooLarge,
                "the server sent data without end and no complete answer; the connection was closed")
        }
        if repetition.isRefused {
            return outcome(.connectionLost, "the server refused the request before it looked at it")
        }
        let said = words
        let words = said.isEmpty ? curlWords(code) : said
        let number = easy.number(CURLINFO_OS_ERRNO)
        let refusal = number == 0 ? nil : SystemError(call: "connect", number: CInt(truncatingIfNeeded: number)).reason
        if let failure = proxyFailure(code, words, refusal) { return failure }
        let failure = CurlFailure(
            code, words: words, verification: easy.number(CURLINFO_SSL_VERIFYRESULT), refusal: refusal,
            limits: exchange.request.limits)
        return outcome(failure.code, failure.cause, failure.certificateFault)
    }

    /// The failure if the configured proxy is its cause; `nil` otherwise.
    private func proxyFailure(_ code: CURLcode, _ words: ReportedText, _ refusal: String?) -> CurlExchange.Outcome? {
        guard let proxy, !isReady else { return nil }
        let url = exchange.request.url
        let status = easy.number(CURLINFO_HTTP_CONNECTCODE)
        let failure =
            status == 0
            ? CurlProxyFailure(code, of: proxy, words: words, refusal: refusal)
            : CurlProxyFailure(status: status, of: proxy, to: "\(url.host):\(url.port)")
        guard let failure else { return nil }
        return .failure(
            HTTPTransportError(
                code == CURLE_OPERATION_TIMEDOUT ? .timedOut : .connectionFailed, "\(url.origin): \(failure.cause)",
                proxyFault: failure.fault, traffic: traffic))
    }

    /// A failure with its words, and what the exchange has cost until then.
    func outcome(
        _ code: HTTPTransportError.Code, _ cause: ReportedText,
        _ certificateFault: HTTPTransportError.CertificateFault? = nil
    ) -> CurlExchange.Outcome {
        .failure(
            HTTPTransportError(
                code, "\(exchange.request.url.origin): \(cause)", certificateFault: certificateFault, traffic: traffic))
    }

    private var words: ReportedText {
        let secrets = exchange.request.secrets + (proxy?.login.map { [$0.password] } ?? [])
        return ReportedText(unsafe String(cString: errorText), without: secrets)
    }

    /// Closes the connection with the transfer, unless others still use it: after a time limit it is likely dead, and
    /// HTTP/2 would keep using it.
    func abandonConnection() { easy.set(CURLOPT_FORBID_REUSE, true) }

    /// Uses no connection that has been idle for more than a second (libcurl closes those that it meets), and no
    /// address that was looked up before; of several addresses any may be the first.
    func startAfresh() {
        easy.set(CURLOPT_MAXAGE_CONN, 1)
        easy.set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
        easy.set(CURLOPT_DNS_SHUFFLE_ADDRESSES, true)
    }

    /// The address family of the connection that was made for this transfer; `nil` if it used an earlier one, if
    /// connections over both families were begun and none was established, or if its host is an address.
    var newConnectionFamily: ServerRoute.AddressFamily? {
        let isAddress = proxy?.isHostAddress ?? exchange.request.url.isHostAddress
        guard !openedFamilies.isEmpty, !isAddress else { return nil }
        return easy.remoteFamily ?? (openedFamilies.count == 1 ? openedFamilies.first : nil)
    }

    private func connectCallbacks() {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let handle = unsafe easy.handle
        unsafe easy.note(ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText))
        unsafe easy.note(ccurl_set_write_callback(handle, CURLOPT_WRITEFUNCTION, receiveBody))
        unsafe easy.note(ccurl_set_pointer(handle, CURLOPT_WRITEDATA, context))
        unsafe easy.note(ccurl_set_write_callback(handle, CURLOPT_HEADERFUNCTION, receiveHeader))
        unsafe easy.note(ccurl_set_pointer(handle, CURLOPT_HEADERDATA, context))
        unsafe easy.note(ccurl_set_ready_callback(handle, noteReady))
        unsafe easy.note(ccurl_set_pointer(handle, CURLOPT_PREREQDATA, context))
        unsafe easy.note(ccurl_set_socket_callback(handle, noteSocket))
        unsafe easy.note(ccurl_set_pointer(handle, CURLOPT_SOCKOPTDATA, context))
        // Called when the transfer may be long gone: with the sockets, which outlive their connections.
        unsafe easy.note(ccurl_set_close_callback(handle, closeSocket))
        unsafe easy.note(
            ccurl_set_pointer(handle, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(sockets).toOpaque()))
    }

    /// False when there is to be no connection.
    fileprivate func opened(_ socket: CInt) -> Bool {
        guard repetition.mayConnect(hasFailureWords: unsafe errorText.pointee != 0) else { return false }
        openedFamilies.insert(ccurl_is_ipv6(socket) ? .ipv6 : .ipv4)
        sockets.opened(socket)
        return true
    }

    fileprivate func received(body bytes: UnsafeRawBufferPointer) -> Bool { unsafe answer.append(body: bytes) }

    fileprivate func received(header bytes: UnsafeRawBufferPointer) -> Bool {
        // Afterwards it would be too late: libcurl keeps the connection as soon as the answer is complete.
        if route.leavesConnection(after: easy.number(CURLINFO_RESPONSE_CODE)) { abandonConnection() }
        return unsafe answer.append(header: bytes)
    }

    fileprivate func connected() {
        isReady = true
        repetition.connected()
    }
}

/// libcurl's own words for a code, as "Timeout was reached".
func curlWords(_ code: CURLcode) -> ReportedText { unsafe ReportedText(String(cString: curl_easy_strerror(code))) }

// libcurl calls these on the transport's thread, inside `CurlMulti.perform`.

private func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
    unsafe context.map { unsafe Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
}

private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let isAccepted = unsafe transfer(context)?.received(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
    return isAccepted == true ? size * count : Int(CURL_WRITEFUNC_ERROR)
}

private func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let isAccepted = unsafe transfer(context)?.received(
        header: UnsafeRawBufferPointer(start: bytes, count: size * count))
    return isAccepted == true ? size * count : Int(CURL_WRITEFUNC_ERROR)
}

private func noteReady(
    _ context: UnsafeMutableRawPointer?, _ remoteAddress: UnsafeMutablePointer<CChar>?,
    _ localAddress: UnsafeMutablePointer<CChar>?, _ remotePort: CInt, _ localPort: CInt
) -> CInt {
    unsafe transfer(context)?.connected()
    return ccurl_prereq_ok
}

private func noteSocket(_ context: UnsafeMutableRawPointer?, _ socket: CInt, _ purpose: curlsocktype) -> CInt {
    unsafe transfer(context)?.opened(socket) == true ? ccurl_socket_ok : ccurl_socket_refused
}

private func closeSocket(_ context: UnsafeMutableRawPointer?, _ socket: CInt) -> CInt {
    guard let context = unsafe context else { return close(socket) }
    return unsafe Unmanaged<CurlSockets>.fromOpaque(context).takeUnretainedValue().close(socket)
}

/// One request on its way, as its task and libcurl's thread share it.
final class CurlExchange: Sendable {
    typealias Outcome = Result<HTTPResponse, HTTPTransportError>

    let request: HTTPRequest
    /// Who waits for the outcome; taken by whoever answers first.
    private let waiter = Locked<CheckedContinuation<Outcome, Never>?>(nil)
    private let cancelled = Locked(false)

    init(request: HTTPRequest) { self.request = request }

    /// Set before the thread is told, so that it does not matter whether request or cancellation arrives first.
    var isCancelled: Bool { cancelled.withLock { $0 } }

    func markCancelled() { cancelled.withLock { $0 = true } }

    /// Waits for the outcome, from before `submit` on, which gives the exchange to whoever answers it.
    func outcome(_ submit: () -> Void) async -> Outcome {
        await withCheckedContinuation { continuation in
            waiter.withLock { $0 = continuation }
            submit()
        }
    }

    /// Answers that the exchange was not even begun.
    func finishCancelled(_ words: ReportedText) {
        finish(.failure(HTTPTransportError(.cancelled, "\(request.url.origin): \(words)")))
    }

    /// Answers the task; a second answer goes nowhere.
    func finish(_ outcome: Outcome) { waiter.withLock { $0.take() }?.resume(returning: outcome) }
}

/// The answer as it arrives: header lines, then the body, within their limits.
struct CurlAnswer {
    /// More than any server of ours sends; keeps an endless header from filling the memory.
    static let headerLimit = 64 * 1024

    private(set) var headers = HTTPHeaders()
    private(set) var body: [UInt8] = []
    /// Which limit was passed, in words.
    private(set) var excess: ReportedText?
    private let bodyLimit: Int
    private var headerBytes = 0

    init(bodyLimit: Int) { self.bodyLimit = bodyLimit }

    /// Takes a part of the body; false ends the transfer.
    mutating func append(body bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= bodyLimit - body.count else {
            excess = "the answer is larger than \(bodyLimit) bytes"
            return false
        }
        unsafe body.append(contentsOf: bytes)
        return true
    }

    /// Takes one header line; false ends the transfer.
    ///
    /// A status line starts over: an interim answer (RFC 9110, section 15.2) came before.
    mutating func append(header bytes: UnsafeRawBufferPointer) -> Bool {
        headerBytes += bytes.count
        guard headerBytes <= Self.headerLimit else {
            excess = "the answer's header is larger than \(Self.headerLimit) bytes"
            return false
        }
        let line = unsafe String(decoding: bytes, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            headers = HTTPHeaders()
        } else if let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) {
            let value = line[line.index(after: colon)...].utf8.trimming { " \t\r\n".utf8.contains($0) }
            headers.append(String(line[..<colon]), String(Substring(value)))
        }
        return true
    }
}

/// Whether libcurl may send a request once more on a new connection, which it does by itself up to five times.
///
/// Once is enough, and it is the caller who decides whether and when to try again: a server that refuses every stream
/// would be asked six times at once. A request that was written to a connection of earlier exchanges is another matter,
/// for that connection may have been dead; and so is a server that asks for HTTP/1.1.
struct RequestRepetition: Sendable, Hashable {
    private var isConnecting = false
    private var hasAskedOnNewConnection = false
    private var hasChangedProtocol = false
    /// Whether a repetition was wanted and refused.
    private(set) var isRefused = false

    /// A socket was made; false when it is not to be connected.
    ///
    /// `hasFailureWords`: whether libcurl has any about what failed before. It has none for a refused stream, and some
    /// where the server asked for HTTP/1.1.
    mutating func mayConnect(hasFailureWords: Bool) -> Bool {
        if hasAskedOnNewConnection {
            guard !hasChangedProtocol, hasFailureWords else {
                isRefused = true
                return false
            }
            hasChangedProtocol = true
            hasAskedOnNewConnection = false
        }
        isConnecting = true
        return true
    }

    /// A connection stands, new or used before, and the request is about to be written to it.
    mutating func connected() { hasAskedOnNewConnection = hasAskedOnNewConnection || isConnecting }
}
