import CCurl
import HTTPMessages
import ReportedText

/// libcurl's set of running transfers, with its connections and its cache of names.
///
/// `@unchecked Sendable`: only the transport's thread calls anything but `wakeUp`, which libcurl allows from any
/// thread (curl_multi_wakeup(3)); the last owner frees the handle, when the thread has ended.
@safe final class CurlMulti: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer
    /// Those of its connections; its end closes them.
    let sockets: CurlSockets

    /// Whether libcurl is ready for use in this process; asked once.
    private static let libraryCode: CURLcode = ccurl_global_init()

    init(sockets: CurlSockets, maximumConnectionsPerHost: Int) throws(HTTPTransportError) {
        guard Self.libraryCode == CURLE_OK, let handle = unsafe curl_multi_init() else {
            throw HTTPTransportError(.transportFailed, "libcurl could not be started")
        }
        unsafe self.handle = unsafe handle
        self.sockets = sockets
        unsafe ccurl_multi_set_long(handle, CURLMOPT_PIPELINING, ccurl_multiplex)
        unsafe ccurl_multi_set_long(handle, CURLMOPT_MAX_HOST_CONNECTIONS, maximumConnectionsPerHost)
        unsafe ccurl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, maximumConnectionsPerHost)
    }

    deinit { _ = unsafe curl_multi_cleanup(handle) }

    /// Ends the current or the next `wait`; from any thread.
    func wakeUp() { _ = unsafe curl_multi_wakeup(handle) }

    func add(_ easy: borrowing CurlEasy) -> Bool { unsafe curl_multi_add_handle(handle, easy.handle) == CURLM_OK }

    func remove(_ easy: borrowing CurlEasy) { _ = unsafe curl_multi_remove_handle(handle, easy.handle) }

    /// Reads and writes whatever is ready, without waiting.
    func perform() {
        var running: CInt = 0
        _ = unsafe curl_multi_perform(handle, &running)
    }

    /// Waits for a socket, `wakeUp`, one of libcurl's own deadlines, or `timeout`.
    func wait(_ timeout: Duration) {
        let milliseconds = timeout.wholeMilliseconds
        _ = unsafe curl_multi_poll(handle, nil, 0, CInt(clamping: milliseconds), nil)
    }

    /// The next finished transfer, by the identity of its easy handle.
    func nextFinished() -> (identity: CurlEasy.Identity, code: CURLcode)? {
        var left: CInt = 0
        while let message = unsafe curl_multi_info_read(handle, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            return unsafe (CurlEasy.Identity(message.pointee.easy_handle), ccurl_message_result(message))
        }
        return nil
    }
}

/// TLS sessions shared by all transfers, so that a new connection resumes instead of sending certificates again.
///
/// `@unchecked Sendable`: made on one thread and then used by the transport's thread alone, so it needs no lock
/// functions (curl_share_setopt(3)).
@safe final class CurlShare: @unchecked Sendable {
    let handle: UnsafeMutableRawPointer

    init() throws(HTTPTransportError) {
        guard let handle = unsafe curl_share_init() else {
            throw HTTPTransportError(.transportFailed, "libcurl could not be started")
        }
        unsafe self.handle = unsafe handle
        _ = unsafe ccurl_share_set_long(handle, CURLSHOPT_SHARE, CInt(CURL_LOCK_DATA_SSL_SESSION.rawValue))
    }

    deinit { _ = unsafe curl_share_cleanup(handle) }
}
