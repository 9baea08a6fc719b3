import CCurl
import CSSL
import ReportedText

/// An observer of the TLS messages on a transport's connections.
///
/// libcurl reports a rejected client certificate with several codes and texts, depending on whether it reads the
/// server's alert before the connection ends. The messages of the handshake are the same each time.
///
/// An observer is used only on libcurl's thread. It must outlive the connections, because closing them sends a message.
@safe final class TLSObserver {
    /// The numbers of messages so far.
    struct Counts: Hashable {
        /// The requests for a client certificate (RFC 8446, section 4.3.2).
        var certificateRequests = 0
        /// The alerts, from either side, that there is no common TLS version (RFC 8446, section 6.2).
        var versionAlerts = 0
    }

    private(set) var counts = Counts()

    /// Returns the reason why a connection failed; `nil` if the messages since `earlier` contain none.
    func fault(since earlier: Counts) -> TLSFault? {
        if counts.versionAlerts > earlier.versionAlerts { return .noCommonVersion }
        return counts.certificateRequests > earlier.certificateRequests ? .certificateRequested : nil
    }

    /// Observes the connections that will be made with `context`, an `SSL_CTX`.
    fileprivate func observe(_ context: UnsafeMutableRawPointer) {
        unsafe cssl_observe_messages(context, receiveMessage, Unmanaged.passUnretained(self).toOpaque())
    }

    fileprivate func record(_ bytes: UnsafeRawBufferPointer, contentType: CInt, isSent: Bool) {
        switch contentType {
        case SSL3_RT_HANDSHAKE where unsafe !isSent && bytes.first == UInt8(SSL3_MT_CERTIFICATE_REQUEST):
            counts.certificateRequests += 1
        case SSL3_RT_ALERT where unsafe bytes.count == 2 && bytes[1] == UInt8(SSL_AD_PROTOCOL_VERSION):
            counts.versionAlerts += 1
        default: break
        }
    }
}

/// Receives the `SSL_CTX` of a new connection from libcurl (CURLOPT_SSL_CTX_FUNCTION).
func observeConnection(
    _ easy: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?, _ observer: UnsafeMutableRawPointer?
) -> CURLcode {
    if let context = unsafe context, let observer = unsafe observer {
        unsafe Unmanaged<TLSObserver>.fromOpaque(observer).takeUnretainedValue().observe(context)
    }
    return CURLE_OK
}

private func receiveMessage(
    _ isSent: CInt, _ version: CInt, _ contentType: CInt, _ bytes: UnsafeRawPointer?, _ count: Int,
    _ connection: OpaquePointer?, _ observer: UnsafeMutableRawPointer?
) {
    guard let observer = unsafe observer else { return }
    let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
    unsafe Unmanaged<TLSObserver>.fromOpaque(observer).takeUnretainedValue().record(
        bytes, contentType: contentType, isSent: isSent != 0)
}
