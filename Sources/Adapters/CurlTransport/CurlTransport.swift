package import HTTPMessages
import LinuxPlatform
import ReportedText

/// An `HTTPTransport` that uses libcurl. One thread drives all exchanges; another aborts connections that are being
/// flooded.
///
/// Connections are kept and shared: HTTP/2 over TLS if the server supports it, otherwise HTTP/1.1 with keep-alive. TLS
/// sessions are resumed. Servers are always verified, with TLS 1.2 or newer. Redirects are returned to the caller, not
/// followed.
///
/// `HTTPTraffic` contains libcurl's counts of header and body bytes, before HPACK compression and without TLS and TCP
/// framing. So HTTP/2 headers are counted with more bytes than they take on the wire.
///
/// Safe to use from any task. Releasing the transport closes its connections and waits until libcurl's thread has
/// ended.
package final class CurlTransport: HTTPTransport {
    private let mailbox: CurlMailbox
    private let floodGuard: FloodGuard
    /// An event that is signalled when libcurl's thread has ended.
    private let threadEnded: EventDescriptor

    /// Starts the transport's threads. Connections are opened when they are needed.
    ///
    /// - Throws: `.transportFailed` if libcurl can't be set up.
    package init(options: CurlTransportOptions) throws(HTTPTransportError) {
        do throws(SystemError) {
            threadEnded = try EventDescriptor()
            floodGuard = try FloodGuard()
        } catch {
            throw HTTPTransportError(.transportFailed, "\(error)")
        }
        let multi = try CurlMulti(sockets: floodGuard.sockets)
        let mailbox = CurlMailbox(multi: multi)
        self.mailbox = mailbox
        let threadEnded = threadEnded
        floodGuard.start()
        startThread(named: "waypost-curl") {
            CurlLoop(multi: multi, mailbox: mailbox, options: options).run()
            threadEnded.signal()
        }
    }

    deinit {
        mailbox.post(.stop)
        threadEnded.wait()
        floodGuard.stop()
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
/// Certificate verification can't be turned off, and proxies set in the environment are ignored. libcurl itself reads
/// the files named here, so the caller must check that they are files and not too large.
package struct CurlTransportOptions: Sendable, Hashable {
    /// The value of `User-Agent`, such as `waypost/1.2.0`.
    package var userAgent: String
    /// The path of a PEM file of certificate authorities to trust instead of the system's; `nil` to trust the system's.
    package var caFile: String?
    /// A client certificate, for backends that require one.
    package var clientCertificate: CurlClientCertificate?
    /// The proxy for all connections, including those to servers on this machine; `nil` for none.
    package var proxy: HTTPProxy?
    /// The maximum number of connections to a server. HTTP/2 needs fewer, because requests share a connection.
    package var maximumConnections = 16
    /// Whether responses report when the server's certificate expires. To report this time, libcurl copies the
    /// certificate chain of every connection.
    package var reportsCertificateEnd = false

    package init(userAgent: String, caFile: String? = nil, clientCertificate: CurlClientCertificate? = nil) {
        self.userAgent = userAgent
        self.caFile = caFile
        self.clientCertificate = clientCertificate
    }
}
