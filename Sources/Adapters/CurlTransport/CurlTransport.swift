package import HTTPMessages
import LinuxPlatform
import ReportedText

/// `HTTPTransport` over libcurl: one thread drives every exchange of this transport, another one ends floods.
///
/// Connections are kept and shared: HTTP/2 over TLS where the server speaks it, HTTP/1.1 keep-alive elsewhere, TLS
/// sessions resumed. Servers are always verified, with TLS 1.2 or newer. A redirect is an answer and is not followed.
///
/// `HTTPTraffic` counts what libcurl does: header lines and bodies of request and answer, before HPACK, TLS and TCP.
/// Over HTTP/2 the header lines are therefore larger than what went over the wire.
///
/// Safe to use from any task. When the transport is released, its thread ends its connections and is waited for.
package final class CurlTransport: HTTPTransport {
    private let mailbox: CurlMailbox
    private let guardian: FloodGuard
    /// Readable once the thread has ended.
    private let ended: EventDescriptor

    /// Starts the thread; connections are made when they are needed.
    ///
    /// - Throws: `.transportFailed` when libcurl cannot be set up.
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
        mailbox.leave(.stop)
        ended.wait()
        guardian.stop()
    }

    package func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        let exchange = CurlExchange(request: request)
        let result = await withTaskCancellationHandler {
            await exchange.outcome { mailbox.leave(.start(exchange)) }
        } onCancel: {
            exchange.markCancelled()
            mailbox.leave(.cancel(exchange))
        }
        return try result.get()
    }

    package func networkChanged() { mailbox.leave(.networkChanged) }
}

/// What holds for every request of one `CurlTransport`.
///
/// There is no switch that turns certificate verification off, and no proxy is taken from the environment. libcurl
/// reads the files that are named here by itself: whoever names them has seen that they are files, and not large.
package struct CurlTransportOptions: Sendable, Hashable {
    /// What `User-Agent` says, as `waypost/1.2.0`.
    package var userAgent: String
    /// Authorities to trust instead of the system's: a PEM file. `nil` trusts the system's.
    package var caFile: String?
    /// A client certificate, for backends that ask for one.
    package var clientCertificate: CurlClientCertificate?
    /// The proxy that every connection goes through, to this machine's own servers too; `nil` for none.
    package var proxy: HTTPProxy?
    /// To one server at once, over HTTP/1.1; HTTP/2 has many exchanges on one.
    package var mostConnections = 16
    /// Whether answers tell when the server's certificate ends; costs a copy of its chain for each connection.
    package var tellsCertificateEnd = false

    package init(userAgent: String, caFile: String? = nil, clientCertificate: CurlClientCertificate? = nil) {
        self.userAgent = userAgent
        self.caFile = caFile
        self.clientCertificate = clientCertificate
    }
}
