package import FleetEngine
package import FleetEngineDelivery
package import HTTPMessages
import LinuxPlatform
import ReportedText
package import Reporting
package import VehicleAuthorization

/// A provider that answers with a closure and records its calls.
package final class ScriptedAuthorization: VehicleAuthorization {
    package typealias Answer =
        @Sendable (AuthorizationContext, _ number: Int) async throws(AuthorizationError) -> AuthorizationToken

    private struct Log {
        var asked: [AuthorizationContext] = []
        var running: [AuthorizationContext: Int] = [:]
        var maximumConcurrentCalls = 0
        var discarded: [AuthorizationToken] = []
        var networkReturns = 0
    }

    private let answer: Answer
    private let log = Locked(Log())

    /// Creates a provider that returns `token-1`, `token-2` ..., a new token for each call.
    package convenience init() {
        self.init { (_, number) throws(AuthorizationError) in
            AuthorizationToken(value: "token-\(number)", lifetime: .seconds(3600))
        }
    }

    /// Creates a provider that answers with `answer`, which gets the context and the number of the call, from 1.
    package init(_ answer: @escaping Answer) { self.answer = answer }

    package var asked: [AuthorizationContext] { log.withLock { $0.asked } }
    /// The maximum number of concurrent calls for one context.
    package var maximumConcurrentCalls: Int { log.withLock { $0.maximumConcurrentCalls } }
    package var discarded: [AuthorizationToken] { log.withLock { $0.discarded } }
    /// The number of calls to `networkReturned`.
    package var networkReturns: Int { log.withLock { $0.networkReturns } }

    package func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        let number = log.withLock { log in
            log.asked.append(context)
            log.running[context, default: 0] += 1
            log.maximumConcurrentCalls = max(log.maximumConcurrentCalls, log.running[context, default: 0])
            return log.asked.count
        }
        defer { log.withLock { $0.running[context, default: 0] -= 1 } }
        return try await answer(context, number)
    }

    package func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async {
        log.withLock { $0.discarded.append(token) }
    }

    package func networkReturned() async { log.withLock { $0.networkReturns += 1 } }
}

extension MissingPermit {
    /// Creates a fault with a provider's own message.
    package init(_ cause: Cause, _ message: String, retryAfter: Duration? = nil) {
        self.init(cause, TokenFault.reported(.unavailable, ReportedText(message)), retryAfter: retryAfter)
    }
}

/// A transport that answers with a closure and records its requests.
package final class ScriptedTransport: HTTPTransport {
    package typealias Answer = @Sendable (HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse

    private let answer: @Sendable (HTTPRequest, _ number: Int) async throws(HTTPTransportError) -> HTTPResponse
    private let log = Locked([HTTPRequest]())
    private let changes = Locked(0)

    package init(_ answer: @escaping Answer) {
        self.answer = { (request, _) throws(HTTPTransportError) in try await answer(request) }
    }

    /// Creates a transport that fails `times` times, then answers with `success`.
    package init(
        failing times: Int, then success: HTTPResponse,
        _ failure: @escaping @Sendable () throws(HTTPTransportError) -> HTTPResponse
    ) {
        answer = { (_, number) throws(HTTPTransportError) in number > times ? success : try failure() }
    }

    /// Every request so far, in order.
    package var requests: [HTTPRequest] { log.withLock { $0 } }

    /// The number of calls to `networkChanged`.
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

extension FleetEngineDelivery {
    /// Returns a delivery for vehicle `v` of provider `p`.
    package static func sample(
        service: FleetService = .onDemandTrips, to endpoint: String = "http://127.0.0.1:1",
        limits: HTTPLimits = HTTPLimits(), authorization: any VehicleAuthorization = ScriptedAuthorization(),
        over transport: any HTTPTransport
    ) throws -> Self {
        Self(
            of: try VehicleName(service: service, providerID: "p", vehicleID: "v"), to: try HTTPURL(endpoint),
            limits: limits, authorization: authorization, transport: transport)
    }
}
