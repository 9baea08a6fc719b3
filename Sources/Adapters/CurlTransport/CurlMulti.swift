import CCurl
import HTTPMessages
import ReportedText

/// libcurl's set of running transfers, with their connections, name cache and shared TLS sessions, which new
/// connections resume instead of transferring certificates again.
///
/// `@unchecked Sendable`: only the transport's thread calls anything but `wakeUp`, which libcurl allows from any thread
/// (curl_multi_wakeup(3)). So the sessions need no lock functions (curl_share_setopt(3)). The last owner frees the
/// handles after the thread has ended.
@safe final class CurlMulti: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer
    /// The TLS sessions of all transfers.
    let share: UnsafeMutableRawPointer
    /// The sockets of libcurl's connections, which are closed when the handle is freed.
    let sockets: CurlSockets

    /// Whether libcurl could be initialized in this process. Evaluated once.
    static let isReady = OpenSSLLibrary.isReady && ccurl_global_init() == CURLE_OK

    init(sockets: CurlSockets) throws(HTTPTransportError) {
        guard Self.isReady, let handle = unsafe curl_multi_init() else {
            throw HTTPTransportError(.transportFailed, "libcurl could not be started")
        }
        guard let share = unsafe curl_share_init() else {
            unsafe curl_multi_cleanup(handle)
            throw HTTPTransportError(.transportFailed, "libcurl could not be started")
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

    /// Sets the maximum number of connections to a server, and of connections that are kept open.
    func limitConnections(to count: Int) {
        unsafe ccurl_multi_set_long(handle, CURLMOPT_MAX_HOST_CONNECTIONS, count)
        unsafe ccurl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, count)
    }

    /// Ends the current or the next `wait`. May be called on any thread.
    func wakeUp() { _ = unsafe curl_multi_wakeup(handle) }

    func add(_ easy: borrowing CurlEasy) -> Bool { unsafe curl_multi_add_handle(handle, easy.handle) == CURLM_OK }

    func remove(_ easy: borrowing CurlEasy) { _ = unsafe curl_multi_remove_handle(handle, easy.handle) }

    /// Reads and writes everything that is ready, without waiting.
    func perform() {
        var running: CInt = 0
        _ = unsafe curl_multi_perform(handle, &running)
    }

    /// Waits for a socket, `wakeUp`, one of libcurl's deadlines, or `timeout`.
    func wait(_ timeout: Duration) {
        let milliseconds = timeout.wholeMilliseconds
        _ = unsafe curl_multi_poll(handle, nil, 0, CInt(clamping: milliseconds), nil)
    }

    /// Returns the next finished transfer, identified by its easy handle.
    func nextFinished() -> (identity: CurlEasy.Identity, code: CURLcode)? {
        var left: CInt = 0
        while let message = unsafe curl_multi_info_read(handle, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            return unsafe (CurlEasy.Identity(message.pointee.easy_handle), ccurl_message_result(message))
        }
        return nil
    }
}
