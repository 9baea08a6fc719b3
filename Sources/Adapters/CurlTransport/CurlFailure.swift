import CCrypto
import CCurl
import Conditions
import HTTPMessages
import ReportedText

/// A libcurl error code, translated into an error code for the retry rules and a fault for the operator.
struct CurlFailure {
    let code: HTTPTransportError.Code
    let fault: TransferFault
    let certificateFault: CertificateFault?

    /// - Parameters:
    ///   - curl: libcurl's code.
    ///   - message: libcurl's message, which names hosts, addresses and certificates.
    ///   - verificationResult: OpenSSL's verdict on the server's certificate.
    ///   - refusal: the reason why the system could not connect, such as `Connection refused`; `nil` if unknown.
    ///   - limits: the limits of the request.
    init(
        _ curl: CURLcode, message: ReportedText, verificationResult: Int = 0, refusal: String? = nil, limits: HTTPLimits
    ) {
        code = Self.code(for: curl)
        certificateFault = code == .certificateNotTrusted ? Self.certificateFault(for: verificationResult) : nil
        fault =
            switch code {
            case .cancelled: .cancelled
            case .nameNotResolved: .nameNotResolved
            case .timedOut: .connectionTimedOut(limit: limits.connect, message: message)
            case .certificateNotTrusted: .untrustedCertificate(message: message)
            case .tlsFailed: .tlsFailed(message: message)
            // libcurl's message repeats that there is no connection, but doesn't say why.
            case .connectionFailed: .notConnected(reason: refusal.map { "\($0)" } ?? message)
            // For these codes libcurl's text depends on whether it was reading or writing when the connection ended.
            case .connectionLost where [CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR].contains(curl):
                .connectionLost(message: nil)
            case .connectionLost: .connectionLost(message: message)
            case .malformedResponse where curl == CURLE_OUT_OF_MEMORY: .headerTooLarge(limit: CurlAnswer.headerLimit)
            case .malformedResponse: .notHTTP(message: message)
            case .unknownContentEncoding: .unknownEncoding
            case .responseTooLarge: .bodyTooLarge(limit: limits.responseBytes)
            case .transportFailed where curl == CURLE_SSL_CERTPROBLEM: .unusableClientCertificate(message: message)
            case .transportFailed where curl == CURLE_SSL_CACERT_BADFILE: .unreadableAuthorities(message: message)
            case .transportFailed: .other(message: message, number: Int(curl.rawValue))
            }
    }

    /// Returns the fault that OpenSSL's verdict (`X509_V_...`) describes. libcurl compares the name itself, after
    /// OpenSSL has accepted everything else. If the name is wrong, the verdict is therefore `X509_V_OK`, or still
    /// `X509_V_ERR_UNSPECIFIED`.
    static func certificateFault(for verificationResult: Int) -> CertificateFault? {
        switch CInt(truncatingIfNeeded: verificationResult) {
        case X509_V_OK, X509_V_ERR_UNSPECIFIED, X509_V_ERR_HOSTNAME_MISMATCH: .otherHostName
        case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID: .notValidNow
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            .unknownAuthority
        default: nil
        }
    }

    /// Returns the transport's error code for an error code of libcurl. The codes that aren't listed can't occur with
    /// our options, or mean that the transport itself failed.
    static func code(for curl: CURLcode) -> HTTPTransportError.Code {
        switch curl {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .nameNotResolved
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: .connectionFailed
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2,
            CURLE_HTTP2_STREAM, CURLE_SEND_FAIL_REWIND, CURLE_NO_CONNECTION_AVAILABLE:
            .connectionLost
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            .certificateNotTrusted
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED, CURLE_SSL_CLIENTCERT,
            CURLE_SSL_SHUTDOWN_FAILED:
            .tlsFailed
        case CURLE_FILESIZE_EXCEEDED: .responseTooLarge
        // libcurl reports a response without a status line (HTTP/0.9) as an unsupported protocol.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .malformedResponse
        case CURLE_BAD_CONTENT_ENCODING: .unknownContentEncoding
        // libcurl reports a header longer than its limit as a lack of memory. A real lack of memory would have ended
        // this process.
        case CURLE_OUT_OF_MEMORY: .malformedResponse
        default: .transportFailed
        }
    }
}

extension HTTPTransportError {
    /// Creates the error for a request to `origin` that was never sent.
    init(_ fault: TransferFault, to origin: String) { self.init(.transportFailed, "\(origin): \(fault.cause)") }
}

extension ProxyFault.Cause {
    /// Creates the cause for libcurl's code if a proxy sent no response to CONNECT. Returns `nil` if the proxy didn't
    /// cause the failure.
    ///
    /// libcurl reports every rejection by a SOCKS proxy with the same code, `CURLE_PROXY`; `proxyError` is its reason.
    init?(_ curl: CURLcode, of scheme: HTTPProxy.Scheme, proxyError: CURLproxycode = CURLPX_OK) {
        switch curl {
        case CURLE_COULDNT_RESOLVE_PROXY: self = .nameNotResolved
        case CURLE_COULDNT_CONNECT: self = .notConnected
        case CURLE_PROXY:
            self =
                switch proxyError {
                case CURLPX_BAD_VERSION: .notAProxy
                case CURLPX_REPLY_CONNECTION_REFUSED, CURLPX_REPLY_GENERAL_SERVER_FAILURE,
                    CURLPX_REPLY_HOST_UNREACHABLE, CURLPX_REPLY_NETWORK_UNREACHABLE, CURLPX_REPLY_TTL_EXPIRED:
                    .serverNotReached
                default: .rejected
                }
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut
        case _ where scheme == .socks5h: return nil
        case CURLE_PEER_FAILED_VERIFICATION: self = .untrustedCertificate
        case CURLE_SSL_CONNECT_ERROR: self = .tlsFailed
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR: self = .connectionLost
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL: self = .notAProxy
        default: return nil
        }
    }
}

extension Duration {
    /// The duration in milliseconds, rounded up so that a wait never ends just before its deadline. Zero if the
    /// duration is negative.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 1_000_000 else { return 1_000_000_000 }
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
