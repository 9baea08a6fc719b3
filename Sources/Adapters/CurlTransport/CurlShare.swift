import CCurl
import HTTPMessages
import ReportedText

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
