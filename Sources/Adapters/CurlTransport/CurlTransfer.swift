import CCurl
import Glibc
import HTTPMessages
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
    private(set) var deadlines: TransferDeadlines
    private var repetition = RequestRepetition()
    private let sockets: CurlSockets
    /// What the sockets had shut when the transfer began.
    private let earlierFloods: Int
    /// What libcurl says about a failure, beyond the code.
    private let errorText: UnsafeMutablePointer<CChar>

    /// - Throws: `.transportFailed` when the request cannot be put into libcurl's terms.
    init(
        _ exchange: CurlExchange, options: CurlTransportOptions, share: CurlShare, sockets: CurlSockets,
        now: ContinuousClock.Instant
    ) throws(HTTPTransportError) {
        let request = exchange.request
        let origin = request.url.origin
        let headerLines = try CurlHeaderList(request.headers, origin: origin)
        guard var easy = CurlEasy() else { throw HTTPTransportError(.transportFailed, "\(origin): no memory") }
        easy.applySafety(options)
        easy.apply(request)
        unsafe easy.note(ccurl_set_list(easy.handle, CURLOPT_HTTPHEADER, headerLines.head))
        unsafe easy.note(ccurl_set_pointer(easy.handle, CURLOPT_SHARE, share.handle))
        self.exchange = exchange
        self.headerLines = headerLines
        self.easy = easy
        (self.sockets, earlierFloods) = (sockets, sockets.floods)
        answer = CurlAnswer(bodyLimit: request.limits.responseBytes)
        deadlines = TransferDeadlines(limits: request.limits, begun: now)
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
        let isHTTP1 = easy.number(CURLINFO_HTTP_VERSION) < ccurl_answered_http_2
        let hasBody = ccurl_request_size_has_body(isHTTP1 ? 1 : 0, exchange.request.body.count) != 0
        return HTTPTraffic(
            bytesSent: hasBody ? request : request + easy.size(CURLINFO_SIZE_UPLOAD_T),
            bytesReceived: easy.number(CURLINFO_HEADER_SIZE) + easy.size(CURLINFO_SIZE_DOWNLOAD_T))
    }

    /// What the transfer came to, once libcurl has ended it with `code`.
    func outcome(_ code: CURLcode) -> CurlExchange.Outcome {
        if code == CURLE_OK {
            return .success(
                HTTPResponse(
                    status: easy.number(CURLINFO_RESPONSE_CODE), headers: answer.headers, body: answer.body,
                    traffic: traffic))
        }
        let origin = exchange.request.url.origin
        if let excess = answer.excess {
            return .failure(HTTPTransportError(.responseTooLarge, "\(origin): \(excess)", traffic: traffic))
        }
        if sockets.floods > earlierFloods {
            return .failure(
                HTTPTransportError(
                    .responseTooLarge,
                    "\(origin): the server sent data without end and no complete answer; the connection was closed",
                    traffic: traffic))
        }
        if repetition.isRefused {
            return .failure(
                HTTPTransportError(
                    .connectionLost, "\(origin): the server refused the request before it looked at it",
                    traffic: traffic))
        }
        let words = words
        let failure = CurlFailure(code, words: words.isEmpty ? curlWords(code) : words, limits: exchange.request.limits)
        return .failure(HTTPTransportError(failure.code, "\(origin): \(failure.cause)", traffic: traffic))
    }

    private var words: ReportedText {
        ReportedText(unsafe String(cString: errorText), without: exchange.request.secrets)
    }

    /// What a transfer that this transport ends itself is answered with.
    func outcome(_ code: HTTPTransportError.Code, _ cause: String) -> CurlExchange.Outcome {
        .failure(HTTPTransportError(code, "\(exchange.request.url.origin): \(cause)", traffic: traffic))
    }

    /// Closes the connection with the transfer, unless others still use it: after a time limit it is likely dead, and
    /// HTTP/2 would go on using it.
    func abandonConnection() { easy.set(CURLOPT_FORBID_REUSE, true) }

    /// Uses no connection that has been idle for more than a second (libcurl closes those that it meets), and no
    /// address that was looked up before.
    func startAfresh() {
        easy.set(CURLOPT_MAXAGE_CONN, 1)
        easy.set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
    }

    private func connectCallbacks() {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let handle = unsafe easy.handle
        unsafe easy.note(ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText))
        unsafe easy.note(ccurl_set_write_callback(handle, CURLOPT_WRITEFUNCTION, receiveBody))
        unsafe easy.note(ccurl_set_pointer(handle, CURLOPT_WRITEDATA, context))
        unsafe easy.note(ccurl_set_write_callback(handle, CURLOPT_HEADERFUNCTION, receiveHeader))
        unsafe easy.note(ccurl_set_pointer(handle, CURLOPT_HEADERDATA, context))
        unsafe easy.note(ccurl_set_progress_callback(handle, noteProgress))
        unsafe easy.note(ccurl_set_pointer(handle, CURLOPT_XFERINFODATA, context))
        unsafe easy.note(ccurl_set_ready_callback(handle, noteReady))
        unsafe easy.note(ccurl_set_pointer(handle, CURLOPT_PREREQDATA, context))
        unsafe easy.note(ccurl_set_socket_callback(handle, noteSocket))
        unsafe easy.note(ccurl_set_pointer(handle, CURLOPT_SOCKOPTDATA, context))
        // Called when the transfer may be long gone: with the sockets, which outlive their connections.
        unsafe easy.note(ccurl_set_close_callback(handle, closeSocket))
        unsafe easy.note(
            ccurl_set_pointer(handle, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(sockets).toOpaque()))
        easy.set(CURLOPT_NOPROGRESS, false)
    }

    /// False when there is to be no connection.
    fileprivate func opened(_ socket: CInt) -> Bool {
        guard repetition.mayConnect(words: words.description) else { return false }
        let patience = exchange.request.limits.stall.wholeMilliseconds
        ccurl_limit_unacknowledged(socket, UInt32(clamping: max(1, patience)))
        sockets.opened(socket)
        return true
    }

    fileprivate func received(body bytes: UnsafeRawBufferPointer) -> Bool {
        deadlines.received(at: .now)
        return unsafe answer.append(body: bytes)
    }

    fileprivate func received(header bytes: UnsafeRawBufferPointer) -> Bool {
        deadlines.received(at: .now)
        return unsafe answer.append(header: bytes)
    }

    fileprivate func progressed(to count: Int) { deadlines.progressed(to: count, at: .now) }

    fileprivate func connected() {
        repetition.connected()
        deadlines.connected(wasUsed: easy.number(CURLINFO_NUM_CONNECTS) == 0, at: .now)
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

private func noteProgress(
    _ context: UnsafeMutableRawPointer?, _ downloadTotal: curl_off_t, _ downloaded: curl_off_t,
    _ uploadTotal: curl_off_t, _ uploaded: curl_off_t
) -> CInt {
    unsafe transfer(context)?.progressed(to: Int(downloaded + uploaded))
    return 0
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
