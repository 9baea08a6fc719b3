package import HTTPMessages
import LinuxPlatform

/// A transport that answers from a closure and remembers what it was asked.
package final class ScriptedTransport: HTTPTransport {
    package typealias Answer = @Sendable (HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse

    private let answer: @Sendable (HTTPRequest, _ number: Int) async throws(HTTPTransportError) -> HTTPResponse
    private let log = Locked([HTTPRequest]())
    private let changes = Locked(0)

    package init(_ answer: @escaping Answer) {
        self.answer = { (request, _) throws(HTTPTransportError) in try await answer(request) }
    }

    /// A server that fails a number of times and then works.
    package init(
        failing times: Int, then success: HTTPResponse,
        _ failure: @escaping @Sendable () throws(HTTPTransportError) -> HTTPResponse
    ) {
        answer = { (_, number) throws(HTTPTransportError) in number > times ? success : try failure() }
    }

    /// Every request so far, in order.
    package var requests: [HTTPRequest] { log.withLock { $0 } }

    /// How often it was told that the network has changed.
    package var networkChanges: Int { changes.withLock { $0 } }

    package func networkChanged() { changes.withLock { $0 += 1 } }

    package func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        let number = log.withLock { log in
            log.append(request)
            return log.count
        }
        return try await answer(request, number)
    }
}
