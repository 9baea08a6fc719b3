import CCurl
import Conditions
import Glibc
import HTTPMessages
import LinuxPlatform
import ReportedText

/// An exchange that libcurl is working on, with its easy handle, its deadline, and the data received so far.
///
/// A transfer is used only on libcurl's thread. The callbacks of the easy handle don't retain the transfer; `CurlLoop`
/// keeps it until the handle has been removed from libcurl.
@safe final class CurlTransfer {
    let exchange: CurlExchange
    private(set) var easy: CurlEasy
    private let headerLines: CurlHeaderList
    private(set) var answer: CurlAnswer
    /// The time by which the exchange must be complete.
    let deadline: ContinuousClock.Instant
    /// Whether libcurl has had a connection to the server that was ready for the request.
    private var isReady = false
    private let proxy: HTTPProxy?
    /// The route to the server that was chosen when the transfer began.
    private let route: ServerRoute
    /// The address families of all connections that libcurl tried to open for this transfer.
    private var openedFamilies: Set<ServerRoute.AddressFamily> = []
    private var repetition = RequestRepetition()
    private let sockets: CurlSockets
    /// The number of flooded connections that had been aborted when the transfer began.
    private let floodsBefore: Int
    private let tls: TLSObserver
    /// The TLS messages before the transfer began.
    private let messagesBefore: TLSObserver.Counts
    /// The buffer that receives libcurl's message about a failure.
    private let errorText: UnsafeMutablePointer<CChar>

    /// - Throws: `.transportFailed` if libcurl rejects the request.
    init(
        _ exchange: CurlExchange, options: CurlTransportOptions, multi: CurlMulti, route: ServerRoute,
        until deadline: ContinuousClock.Instant
    ) throws(HTTPTransportError) {
        let request = exchange.request
        let origin = request.url.origin
        let headerLines = try CurlHeaderList(request.headers, origin: origin)
        guard var easy = CurlEasy() else { throw HTTPTransportError(.outOfMemory, to: origin) }
        easy.apply(options)
        easy.apply(request)
        if let family = route.family {
            easy.set(CURLOPT_IPRESOLVE, family == .ipv4 ? ccurl_ipv4_only : ccurl_ipv6_only)
        }
        unsafe easy.recordSetup(ccurl_set_list(easy.handle, CURLOPT_HTTPHEADER, headerLines.head))
        unsafe easy.recordSetup(ccurl_set_pointer(easy.handle, CURLOPT_SHARE, multi.share))
        self.exchange = exchange
        self.headerLines = headerLines
        self.easy = easy
        self.route = route
        proxy = options.proxy
        sockets = multi.sockets
        floodsBefore = multi.sockets.floodCount
        tls = multi.tls
        messagesBefore = multi.tls.counts
        answer = CurlAnswer(bodyLimit: request.limits.responseBytes)
        self.deadline = deadline
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        connectCallbacks()
        guard self.easy.setupCode == CURLE_OK else {
            throw HTTPTransportError(.settingRejected(message: curlMessage(for: self.easy.setupCode)), to: origin)
        }
    }

    deinit {
        // The easy handle is freed after the buffer, so it must no longer point to the buffer.
        _ = unsafe ccurl_set_pointer(easy.handle, CURLOPT_ERRORBUFFER, nil)
        unsafe errorText.deallocate()
    }

    /// The bytes of headers and bodies that have been sent and received so far.
    var traffic: HTTPTraffic {
        let request = easy.number(CURLINFO_REQUEST_SIZE)
        let hasBody = ccurl_request_size_has_body(answeredOverHTTP2 ? 0 : 1, exchange.request.body.count) != 0
        return HTTPTraffic(
            bytesSent: hasBody ? request : request + easy.size(CURLINFO_SIZE_UPLOAD_T),
            bytesReceived: easy.number(CURLINFO_HEADER_SIZE) + easy.size(CURLINFO_SIZE_DOWNLOAD_T))
    }

    /// Whether the transfer has had a connection to the server, or to a proxy that has responded.
    var isConnected: Bool { isReady || easy.number(CURLINFO_HTTP_CONNECTCODE) != 0 }

    /// The only address family over which the transfer may connect; `nil` if both are allowed.
    var onlyFamily: ServerRoute.AddressFamily? { route.family }

    /// The time since the exchange began. Repeating the exchange doesn't reset it.
    var age: Duration { exchange.request.limits.total - ContinuousClock.now.duration(to: deadline) }

    var answeredOverHTTP2: Bool { easy.number(CURLINFO_HTTP_VERSION) >= ccurl_answered_http_2 }

    /// Returns the outcome after libcurl has ended the transfer with `code`.
    func outcome(for code: CURLcode) -> CurlExchange.Outcome {
        if code == CURLE_OK {
            var headers = answer.headers
            headers["Content-Encoding"] = nil  // libcurl has decoded the body
            return .success(
                HTTPResponse(
                    status: easy.number(CURLINFO_RESPONSE_CODE), headers: headers, body: answer.body,
                    traffic: traffic, certificateEnd: easy.certificateEnd))
        }
        if let sizeFault = answer.sizeFault { return failure(.responseTooLarge, sizeFault) }
        if sockets.floodCount > floodsBefore { return failure(.responseTooLarge, .endlessAnswer) }
        if repetition.isRefused { return failure(.connectionLost, .requestUnread) }
        let reported = reportedMessage
        let message = reported.isEmpty ? curlMessage(for: code) : reported
        let number = easy.number(CURLINFO_OS_ERRNO)
        let refusal = number == 0 ? nil : SystemError(call: "connect", number: CInt(truncatingIfNeeded: number)).reason
        if let proxyFailure = proxyFailure(code, message: message, refusal: refusal) { return proxyFailure }
        if let fault = tlsFault(for: code) { return failure(.tlsFailed, TransferFault(fault), tlsFault: fault) }
        let curlFailure = CurlFailure(
            code, message: message, verificationResult: easy.number(CURLINFO_SSL_VERIFYRESULT), refusal: refusal,
            limits: exchange.request.limits)
        return failure(curlFailure.code, curlFailure.fault, certificateFault: curlFailure.certificateFault)
    }

    /// The outcome if the exchange exceeds its own time limit.
    var timeout: CurlExchange.Outcome {
        let fault = TransferFault.answerTimedOut(limit: exchange.request.limits.total)
        return proxyFailure(CURLE_OPERATION_TIMEDOUT, message: fault.cause, refusal: nil) ?? failure(.timedOut, fault)
    }

    /// The outcome if the exchange is cancelled. A proxy that hasn't answered yet may be the reason.
    var cancellation: CurlExchange.Outcome {
        let isSilent = easy.number(CURLINFO_HTTP_CONNECTCODE) == 0
        let cause = proxy.flatMap { isSilent ? ProxyFault.Cause(CURLE_OPERATION_TIMEDOUT, of: $0.scheme) : nil }
        return failure(.cancelled, .cancelled, proxyFault: cause.flatMap(proxyFault))
    }

    /// Returns the fault of the configured proxy; `nil` if there is no proxy, or if there is a connection through it.
    private func proxyFault(_ cause: ProxyFault.Cause) -> ProxyFault? {
        guard let proxy, !isReady else { return nil }
        let url = exchange.request.url
        return ProxyFault(
            cause, origin: proxy.origin, key: proxy.key, hasLogin: proxy.login != nil, server: "\(url.host):\(url.port)"
        )
    }

    /// Returns the failure if the configured proxy caused it; otherwise `nil`.
    private func proxyFailure(_ code: CURLcode, message: ReportedText, refusal: String?) -> CurlExchange.Outcome? {
        guard let proxy else { return nil }
        let status = easy.number(CURLINFO_HTTP_CONNECTCODE)
        // After 2xx the tunnel exists, so the proxy didn't cause the failure.
        var cause: ProxyFault.Cause? = 200..<300 ~= status ? nil : .answered(status: status)
        if status == 0 {
            let proxyError = CURLproxycode(UInt32(clamping: easy.number(CURLINFO_PROXY_ERROR)))
            cause =
                proxy.scheme == .https && tlsFault(for: code) == .certificateRequested
                ? .certificateRequested : ProxyFault.Cause(code, of: proxy.scheme, proxyError: proxyError)
        }
        guard let cause, let fault = proxyFault(cause) else { return nil }
        let reason = cause == .notConnected ? refusal.map { "\($0)" as ReportedText } : nil
        return .failure(
            HTTPTransportError(
                code == CURLE_OPERATION_TIMEDOUT ? .timedOut : .connectionFailed,
                "\(exchange.request.url.origin): \(fault.wording(reason ?? message).cause)", proxyFault: fault,
                traffic: traffic))
    }

    /// Returns the reason why the TLS connection failed; `nil` if it isn't known, or if an answer has begun.
    private func tlsFault(for code: CURLcode) -> TLSFault? {
        let isBroken = [.connectionLost, .tlsFailed].contains(CurlFailure.code(for: code))
        return isBroken && !answer.hasBegun ? tls.fault(since: messagesBefore) : nil
    }

    /// Returns a failure with its fault and the traffic so far.
    func failure(
        _ code: HTTPTransportError.Code, _ fault: TransferFault, certificateFault: CertificateFault? = nil,
        tlsFault: TLSFault? = nil, proxyFault: ProxyFault? = nil
    ) -> CurlExchange.Outcome {
        let origin = exchange.request.url.origin
        return .failure(
            HTTPTransportError(
                code, "\(origin): \(fault.cause)", certificateFault: certificateFault, tlsFault: tlsFault,
                proxyFault: proxyFault, traffic: traffic))
    }

    /// The message about the failure that libcurl wrote for this transfer; empty if there is none.
    private var reportedMessage: ReportedText {
        let secrets = exchange.request.secrets + (proxy?.login.map { [$0.password] } ?? [])
        let message = unsafe String(cString: errorText)
        return ReportedText(message.hasSuffix(".") ? String(message.dropLast()) : message, without: secrets)
    }

    /// Makes libcurl close the connection at the end of the transfer, unless other transfers are still using it. After
    /// a timeout the connection is probably dead, but libcurl would keep using it for HTTP/2.
    func abandonConnection() { easy.set(CURLOPT_FORBID_REUSE, true) }

    /// Makes the transfer use no connection that has been idle for more than a second, and no cached address. libcurl
    /// closes the idle connections that it finds. If the server has several addresses, libcurl tries them in random
    /// order.
    func useFreshConnection() {
        easy.set(CURLOPT_MAXAGE_CONN, 1)
        easy.set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
        easy.set(CURLOPT_DNS_SHUFFLE_ADDRESSES, true)
    }

    /// The address family of the connection that was opened for this transfer. `nil` if no connection was opened, if
    /// both families were tried and neither connected, or if the host is an IP address.
    var newConnectionFamily: ServerRoute.AddressFamily? {
        let isAddress = proxy?.isHostAddress ?? exchange.request.url.isHostAddress
        guard !openedFamilies.isEmpty, !isAddress else { return nil }
        return easy.remoteFamily ?? (openedFamilies.count == 1 ? openedFamilies.first : nil)
    }

    private func connectCallbacks() {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let handle = unsafe easy.handle
        unsafe easy.recordSetup(ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText))
        unsafe easy.recordSetup(ccurl_set_write_callback(handle, CURLOPT_WRITEFUNCTION, receiveBody))
        unsafe easy.recordSetup(ccurl_set_pointer(handle, CURLOPT_WRITEDATA, context))
        unsafe easy.recordSetup(ccurl_set_write_callback(handle, CURLOPT_HEADERFUNCTION, receiveHeader))
        unsafe easy.recordSetup(ccurl_set_pointer(handle, CURLOPT_HEADERDATA, context))
        unsafe easy.recordSetup(ccurl_set_ready_callback(handle, handleConnection))
        unsafe easy.recordSetup(ccurl_set_pointer(handle, CURLOPT_PREREQDATA, context))
        unsafe easy.recordSetup(ccurl_set_socket_callback(handle, handleNewSocket))
        unsafe easy.recordSetup(ccurl_set_pointer(handle, CURLOPT_SOCKOPTDATA, context))
        // `closeSocket` and `observeConnection` don't receive the transfer, because a connection may outlive it.
        unsafe easy.recordSetup(ccurl_set_close_callback(handle, closeSocket))
        unsafe easy.recordSetup(
            ccurl_set_pointer(handle, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(sockets).toOpaque()))
        unsafe easy.recordSetup(ccurl_set_tls_callback(handle, observeConnection))
        unsafe easy.recordSetup(
            ccurl_set_pointer(handle, CURLOPT_SSL_CTX_DATA, Unmanaged.passUnretained(tls).toOpaque()))
    }

    /// Records a socket that libcurl has created. Returns `false` if libcurl must not connect it.
    fileprivate func admitSocket(_ socket: CInt) -> Bool {
        guard repetition.admitSocket(hasFailureMessage: unsafe errorText.pointee != 0) else { return false }
        openedFamilies.insert(ccurl_is_ipv6(socket) ? .ipv6 : .ipv4)
        sockets.recordOpening(of: socket)
        return true
    }

    fileprivate func receive(body bytes: UnsafeRawBufferPointer) -> Bool { unsafe answer.append(body: bytes) }

    fileprivate func receive(header bytes: UnsafeRawBufferPointer) -> Bool {
        // Don't wait for the body: libcurl decides whether to keep the connection as soon as the response is complete.
        if route.mustCloseConnection(after: easy.number(CURLINFO_RESPONSE_CODE)) { abandonConnection() }
        return unsafe answer.append(header: bytes)
    }

    fileprivate func recordConnection() {
        isReady = true
        repetition.recordRequest()
    }
}

/// Returns libcurl's message for a code, such as "Timeout was reached".
func curlMessage(for code: CURLcode) -> ReportedText { unsafe ReportedText(String(cString: curl_easy_strerror(code))) }

// libcurl calls these functions on its own thread, inside `CurlMulti.perform`.

private func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
    unsafe context.map { unsafe Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
}

private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let isAccepted = unsafe transfer(context)?.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
    return isAccepted == true ? size * count : Int(CURL_WRITEFUNC_ERROR)
}

private func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let isAccepted = unsafe transfer(context)?.receive(
        header: UnsafeRawBufferPointer(start: bytes, count: size * count))
    return isAccepted == true ? size * count : Int(CURL_WRITEFUNC_ERROR)
}

private func handleConnection(
    _ context: UnsafeMutableRawPointer?, _ remoteAddress: UnsafeMutablePointer<CChar>?,
    _ localAddress: UnsafeMutablePointer<CChar>?, _ remotePort: CInt, _ localPort: CInt
) -> CInt {
    unsafe transfer(context)?.recordConnection()
    return ccurl_prereq_ok
}

private func handleNewSocket(_ context: UnsafeMutableRawPointer?, _ socket: CInt, _ purpose: curlsocktype) -> CInt {
    unsafe transfer(context)?.admitSocket(socket) == true ? ccurl_socket_ok : ccurl_socket_refused
}

private func closeSocket(_ context: UnsafeMutableRawPointer?, _ socket: CInt) -> CInt {
    guard let context = unsafe context else { return close(socket) }
    return unsafe Unmanaged<CurlSockets>.fromOpaque(context).takeUnretainedValue().close(socket)
}

/// A request in progress, shared by the task that sends it and libcurl's thread.
final class CurlExchange: Sendable {
    typealias Outcome = Result<HTTPResponse, HTTPTransportError>

    let request: HTTPRequest
    /// The task that waits for the outcome; `nil` once it has been resumed.
    private let waiter = Locked<CheckedContinuation<Outcome, Never>?>(nil)
    private let cancelled = Locked(false)

    init(request: HTTPRequest) { self.request = request }

    /// Whether the exchange has been cancelled. The value is set before libcurl's thread is notified. So it doesn't
    /// matter whether the thread receives the request or its cancellation first.
    var isCancelled: Bool { cancelled.withLock { $0 } }

    func markCancelled() { cancelled.withLock { $0 = true } }

    /// Calls `submit`, which passes the exchange to libcurl's thread. Waits for the outcome and returns it.
    func outcome(_ submit: () -> Void) async -> Outcome {
        await withCheckedContinuation { continuation in
            waiter.withLock { $0 = continuation }
            submit()
        }
    }

    /// Resumes the waiting task with the error `cancelled`.
    func finishCancelled(_ fault: TransferFault) {
        finish(.failure(HTTPTransportError(.cancelled, "\(request.url.origin): \(fault.cause)")))
    }

    /// Resumes the waiting task with `outcome`. Only the first call has an effect.
    func finish(_ outcome: Outcome) { waiter.withLock { $0.take() }?.resume(returning: outcome) }
}

/// A response that is being received: header lines, then the body. Both are limited in size.
struct CurlAnswer {
    /// The maximum size of a response's header in bytes. It is far more than servers send, and keeps an endless header
    /// from filling the memory.
    static let headerLimit = 64 * 1024

    private(set) var headers = HTTPHeaders()
    private(set) var body: [UInt8] = []
    /// The size limit that was exceeded; `nil` if none was.
    private(set) var sizeFault: TransferFault?
    private let bodyLimit: Int
    private var headerBytes = 0
    /// Whether the server, not only a proxy, has begun to answer.
    var hasBegun: Bool { headerBytes > 0 }

    init(bodyLimit: Int) { self.bodyLimit = bodyLimit }

    /// Appends a part of the body. Returns `false`, which ends the transfer, if the body would become too large.
    mutating func append(body bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= bodyLimit - body.count else {
            sizeFault = .bodyTooLarge(limit: bodyLimit)
            return false
        }
        unsafe body.append(contentsOf: bytes)
        return true
    }

    /// Appends a header line. Returns `false`, which ends the transfer, if the header would become too large.
    ///
    /// A status line discards the header lines received before it, because they belonged to an interim response (RFC
    /// 9110, section 15.2).
    mutating func append(header bytes: UnsafeRawBufferPointer) -> Bool {
        headerBytes += bytes.count
        guard headerBytes <= Self.headerLimit else {
            sizeFault = .headerTooLarge(limit: Self.headerLimit)
            return false
        }
        let line = unsafe String(decoding: bytes, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            headers = HTTPHeaders()
        } else if let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) {
            let value = line[line.index(after: colon)...].utf8.trimming { " \t\r\n".utf8.contains($0) }
            headers.append(name: String(line[..<colon]), value: String(Substring(value)))
        }
        return true
    }
}

/// The rule that decides whether libcurl may repeat a request on a new connection. Without this rule, libcurl would do
/// so up to five times.
///
/// Only one attempt is normally allowed, because the caller decides whether and when to try again. Otherwise, a server
/// that rejects every stream would get six requests at once. A request may be repeated in two cases: it was written to
/// a reused connection, which may have been dead, or the server demands HTTP/1.1.
struct RequestRepetition: Sendable, Hashable {
    private var isConnecting = false
    private var hasAskedOnNewConnection = false
    private var hasChangedProtocol = false
    /// Whether a repetition was prevented.
    private(set) var isRefused = false

    /// Returns whether libcurl may connect a new socket for this request.
    ///
    /// `hasFailureMessage` says whether libcurl has a message about the previous failure. libcurl has none if the
    /// stream was rejected, but has one if the server demanded HTTP/1.1.
    mutating func admitSocket(hasFailureMessage: Bool) -> Bool {
        if hasAskedOnNewConnection {
            guard !hasChangedProtocol, hasFailureMessage else {
                isRefused = true
                return false
            }
            hasChangedProtocol = true
            hasAskedOnNewConnection = false
        }
        isConnecting = true
        return true
    }

    /// Records that the request is about to be written to a connection, new or reused.
    mutating func recordRequest() { hasAskedOnNewConnection = hasAskedOnNewConnection || isConnecting }
}
