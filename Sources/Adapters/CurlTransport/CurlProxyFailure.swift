import CCurl
import HTTPMessages
import ReportedText

/// The reason why the configured proxy didn't connect to the server, as far as libcurl and the proxy's response reveal
/// it.
struct CurlProxyFailure {
    let fault: HTTPTransportError.ProxyFault
    let cause: ReportedText
    let remedy: ReportedText

    private init(_ fault: HTTPTransportError.ProxyFault, _ cause: ReportedText, _ remedy: ReportedText) {
        self.fault = fault
        self.cause = cause
        self.remedy = remedy
    }

    /// Creates the failure for the status of the proxy's response to CONNECT. Returns `nil` for 2xx, because the tunnel
    /// then exists and the proxy didn't cause the failure.
    ///
    /// `server`: host and port, such as `example.com:443`.
    init?(status: Int, of proxy: HTTPProxy, to server: String) {
        let said: ReportedText = "the proxy \(proxy.origin) answered \(status)"
        let key = proxy.key
        switch status {
        case 200..<300: return nil
        // tinyproxy responds to a missing or wrong login with 401 instead of 407.
        case 401 where proxy.login == nil, 407 where proxy.login == nil:
            self.init(
                .loginRequired, "\(said): it requires a user and password", "set \(key).user and \(key).password")
        case 401, 407:
            self.init(
                .loginRejected, "\(said): it rejects the user and password", "check \(key).user and \(key).password")
        case 403:
            self.init(.serverForbidden, "\(said): it doesn't allow \(server)", "allow the server in the proxy's rules")
        case 500, 502, 503, 504:
            self.init(
                .serverUnreachable, "\(said): it could not connect to \(server)",
                "check the proxy's network, and its log")
        case 400, 404, 405, 501:
            self.init(.notAProxy, "\(said): it doesn't support tunnels (CONNECT)", "correct \(key).url")
        case 300..<400, 511:
            self.init(
                .intercepted, "\(said): a captive portal answered in its place",
                "sign in to the portal, or use another network")
        default: self.init(.refused, "\(said) for \(server)", "check the proxy's log")
        }
    }

    /// Creates the failure for libcurl's code if the proxy sent no response to CONNECT. Returns `nil` if the proxy
    /// didn't cause the failure.
    ///
    /// libcurl reports every rejection by a SOCKS proxy with the same code, `CURLE_PROXY`.
    ///
    /// - Parameters:
    ///   - curl: libcurl's code.
    ///   - proxy: the configured proxy.
    ///   - message: libcurl's message.
    ///   - refusal: the reason why the system could not connect; `nil` if unknown.
    init?(_ curl: CURLcode, of proxy: HTTPProxy, message: ReportedText, refusal: String?) {
        let name = proxy.origin
        let key = proxy.key
        let check: ReportedText = "check \(key).url, and that the proxy is running"
        switch curl {
        case CURLE_COULDNT_RESOLVE_PROXY:
            self.init(.unreachable, "the name of the proxy \(name) could not be resolved", check)
        case CURLE_COULDNT_CONNECT:
            self.init(.unreachable, "no connection to the proxy \(name): \(refusal ?? message.description)", check)
        case CURLE_PROXY:
            self.init(
                .refused,
                "the proxy \(name) made no connection: \(message)",
                "check its rules, \(key).user and \(key).password")
        case _ where proxy.scheme == .socks5h: return nil
        case CURLE_OPERATION_TIMEDOUT:
            self.init(.unreachable, "timeout: no answer from the proxy \(name) (\(message))", check)
        case CURLE_PEER_FAILED_VERIFICATION:
            self.init(.unreachable, "the certificate of the proxy \(name) is not trusted: \(message)", check)
        case CURLE_SSL_CONNECT_ERROR:
            self.init(
                .unreachable,
                "no secure connection to the proxy \(name): \(message)", "if it has no TLS, write http:// in \(key).url"
            )
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            self.init(.unreachable, "the proxy \(name) closed the connection: \(message)", check)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL:
            self.init(.notAProxy, "the server at \(name) isn't a proxy: \(message)", "correct \(key).url")
        default: return nil
        }
    }
}
