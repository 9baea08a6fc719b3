package import HTTPMessages
import LinuxPlatform

/// A transport that answers from a closure and remembers what it was asked.
package final class ScriptedTransport: HTTPTransport {
    package typealias Answer = @Sendable (HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse

    private let answer: Answer
    private let log = Locked([HTTPRequest]())
    private let changes = Locked(0)

    package init(_ answer: @escaping Answer) { self.answer = answer }

    /// Every request so far, in order.
    package var requests: [HTTPRequest] { log.withLock { $0 } }

    /// How often it was told that the network has changed.
    package var networkChanges: Int { changes.withLock { $0 } }

    package func networkChanged() { changes.withLock { $0 += 1 } }

    package func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        log.withLock { $0.append(request) }
        return try await answer(request)
    }
}
