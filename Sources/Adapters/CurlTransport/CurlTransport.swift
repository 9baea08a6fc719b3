package import HTTPMessages
import LinuxPlatform
import ReportedText

/// An `HTTPTransport` that uses libcurl. One thread drives all exchanges; another aborts connections that are being
/// flooded.
///
/// Connections are kept and shared: HTTP/2 over TLS if the server supports it, otherwise HTTP/1.1 with keep-alive. TLS
/// sessions are resumed. Servers are always verified, with TLS 1.2 or newer. A redirect is an answer and isn't
/// followed.
///
/// `HTTPTraffic` has libcurl's counts: header lines and bodies of request and answer, before HPACK, TLS and TCP. So
/// HTTP/2 header lines are counted with more bytes than they cost on the wire.
///
/// Safe to use from any task. Releasing the transport ends its connections and waits for its thread.
package final class CurlTransport: HTTPTransport {
    private let mailbox: CurlMailbox
    private let guardian: FloodGuard
    /// An event that is signalled when the thread has ended.
    private let ended: EventDescriptor

    /// Starts the thread. Connections are made when needed.
    ///
    /// - Throws: `.transportFailed` if libcurl can't be set up.
    package init(options: CurlTransportOptions) throws(HTTPTransportError) {
        do throws(SystemError) {
            ended = try EventDescriptor()
            guardian = try FloodGuard()
        } catch {
            throw HTTPTransportError(.transportFailed, "\(error)")
        }
        let multi = try CurlMulti(sockets: guardian.sockets)
        let mailbox = CurlMailbox(multi: multi)
        self.mailbox = mailbox
        let ended = ended
        guardian.start()
        startThread(named: "waypost-curl") {
            CurlLoop(multi: multi, mailbox: mailbox, options: options).run()
            ended.signal()
        }
    }

    deinit {
        mailbox.post(.stop)
        ended.wait()
        guardian.stop()
    }

    package func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        let exchange = CurlExchange(request: request)
        let result = await withTaskCancellationHandler {
            await exchange.outcome { mailbox.post(.start(exchange)) }
        } onCancel: {
            exchange.markCancelled()
            mailbox.post(.cancel(exchange))
        }
        return try result.get()
    }

    package func networkChanged() { mailbox.post(.networkChanged) }
}

/// The options for every request of a `CurlTransport`.
///
/// Certificate verification can't be turned off, and the environment's proxies are ignored. libcurl reads the named
/// files itself, so the caller must check that they are files and not too large.
package struct CurlTransportOptions: Sendable, Hashable {
    /// The value of `User-Agent`, such as `waypost/1.2.0`.
    package var userAgent: String
    /// A PEM file of authorities to trust instead of the system's; `nil` to trust the system's.
    package var caFile: String?
    /// A client certificate, for backends that require one.
    package var clientCertificate: CurlClientCertificate?
    /// The proxy for all connections, including those to servers on this machine; `nil` for none.
    package var proxy: HTTPProxy?
    /// The maximum number of HTTP/1.1 connections to a server. HTTP/2 shares connections.
    package var maximumConnections = 16
    /// Whether answers report when the server's certificate expires. This costs a copy of its chain per connection.
    package var reportsCertificateEnd = false

    package init(userAgent: String, caFile: String? = nil, clientCertificate: CurlClientCertificate? = nil) {
        self.userAgent = userAgent
        self.caFile = caFile
        self.clientCertificate = clientCertificate
    }
}
