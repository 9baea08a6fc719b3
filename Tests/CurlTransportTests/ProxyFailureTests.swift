import CCurl
import HTTPMessages
import ReportedText
import Testing

@testable import CurlTransport

@Suite struct ProxyFailure {
    @Test(
        arguments: [
            (CURLE_COULDNT_RESOLVE_PROXY, .nameNotResolved), (CURLE_COULDNT_CONNECT, .notConnected),
            (CURLE_OPERATION_TIMEDOUT, .timedOut), (CURLE_PEER_FAILED_VERIFICATION, .untrustedCertificate),
            (CURLE_SSL_CONNECT_ERROR, .tlsFailed), (CURLE_RECV_ERROR, .connectionLost),
            (CURLE_WEIRD_SERVER_REPLY, .notAProxy), (CURLE_PROXY, .rejected),
        ] as [(CURLcode, ProxyFault.Cause)])
    func isNamedByTheCodeOfLibcurl(curl: CURLcode, cause: ProxyFault.Cause) {
        #expect(ProxyFault.Cause(curl, of: .http) == cause)
    }

    @Test(
        arguments: [
            (CURLPX_REPLY_CONNECTION_REFUSED, .serverNotReached), (CURLPX_REPLY_HOST_UNREACHABLE, .serverNotReached),
            (CURLPX_BAD_VERSION, .notAProxy), (CURLPX_USER_REJECTED, .rejected), (CURLPX_REPLY_NOT_ALLOWED, .rejected),
        ] as [(CURLproxycode, ProxyFault.Cause)])
    func isNamedByTheReasonForASOCKSProxysRejection(reason: CURLproxycode, cause: ProxyFault.Cause) {
        #expect(ProxyFault.Cause(CURLE_PROXY, of: .socks5h, proxyError: reason) == cause)
    }

    /// Only libcurl's code shows whether there was a tunnel through a SOCKS proxy.
    @Test(arguments: [CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_RECV_ERROR])
    func isNotReportedAfterASOCKSProxyHasConnected(curl: CURLcode) {
        #expect(ProxyFault.Cause(curl, of: .socks5h) == nil)
        #expect(ProxyFault.Cause(CURLE_PROXY, of: .socks5h) == .rejected)
        #expect(ProxyFault.Cause(CURLE_OPERATION_TIMEDOUT, of: .socks5h) == .timedOut)
    }
}
