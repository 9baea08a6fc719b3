import CCurl
import Conditions
import HTTPMessages
import ReportedText

/// A libcurl multi handle: the running transfers, their connections, the name cache and the shared TLS sessions. A new
/// connection resumes a TLS session, so that certificates aren't transferred again.
///
/// `@unchecked Sendable` is safe because only libcurl's thread uses the handle. The exception is `wakeUp`, which
/// libcurl allows on any thread (curl_multi_wakeup(3)). For the same reason, the shared sessions need no lock functions
/// (curl_share_setopt(3)). The last owner frees the handles after the thread has ended.
@safe final class CurlMulti: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer
    /// The libcurl share handle, which holds the TLS sessions of all transfers.
    let share: UnsafeMutableRawPointer
    /// The sockets of libcurl's connections. The sockets and the TLS observer must outlive the multi handle, because
    /// freeing it closes the open connections.
    let sockets: CurlSockets
    let tls = TLSObserver()

    /// Whether libcurl could be initialised in this process. Evaluated once.
    static let isReady = OpenSSLLibrary.isReady && ccurl_global_init() == CURLE_OK

    init(sockets: CurlSockets) throws(HTTPTransportError) {
        guard Self.isReady, let handle = unsafe curl_multi_init() else {
            throw HTTPTransportError(.transportFailed, TransferFault.transportUnavailable.cause)
        }
        guard let share = unsafe curl_share_init() else {
            unsafe curl_multi_cleanup(handle)
            throw HTTPTransportError(.transportFailed, TransferFault.transportUnavailable.cause)
        }
        unsafe self.handle = unsafe handle
        unsafe self.share = unsafe share
        self.sockets = sockets
        unsafe ccurl_multi_set_long(handle, CURLMOPT_PIPELINING, ccurl_multiplex)
        unsafe ccurl_share_set_long(share, CURLSHOPT_SHARE, CInt(CURL_LOCK_DATA_SSL_SESSION.rawValue))
    }

    deinit {
        unsafe curl_multi_cleanup(handle)
        unsafe curl_share_cleanup(share)
    }

    /// Limits both the connections to one server and the connections that are kept open to `count`.
    func limitConnections(to count: Int) {
        unsafe ccurl_multi_set_long(handle, CURLMOPT_MAX_HOST_CONNECTIONS, count)
        unsafe ccurl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, count)
    }

    /// Ends the current `wait`, or the next one if none is in progress. Safe to call on any thread.
    func wakeUp() { _ = unsafe curl_multi_wakeup(handle) }

    func add(_ easy: borrowing CurlEasy) -> Bool { unsafe curl_multi_add_handle(handle, easy.handle) == CURLM_OK }

    func remove(_ easy: borrowing CurlEasy) { _ = unsafe curl_multi_remove_handle(handle, easy.handle) }

    /// Lets libcurl read and write on every socket that is ready, without waiting.
    func perform() {
        var running: CInt = 0
        _ = unsafe curl_multi_perform(handle, &running)
    }

    /// Waits until a socket is ready, `wakeUp` is called, one of libcurl's deadlines has passed, or `timeout` has
    /// elapsed.
    func wait(for timeout: Duration) {
        let milliseconds = timeout.wholeMilliseconds
        _ = unsafe curl_multi_poll(handle, nil, 0, CInt(clamping: milliseconds), nil)
    }

    /// Returns the next finished transfer, identified by its easy handle, and its result; `nil` if there is none.
    func nextFinishedTransfer() -> (identity: CurlEasy.Identity, code: CURLcode)? {
        var left: CInt = 0
        while let message = unsafe curl_multi_info_read(handle, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            return unsafe (CurlEasy.Identity(message.pointee.easy_handle), ccurl_message_result(message))
        }
        return nil
    }
}
