import HTTPMessages
package import HTTPService
import StrictJSON

/// What the status address answers: `/healthz`, `/metrics` and `/status`.
package struct StatusRoutes: Sendable {
    private let report: @Sendable () async -> StatusReport?

    /// - Parameter report: `nil` when the outbox cannot be asked.
    package init(report: @escaping @Sendable () async -> StatusReport?) { self.report = report }

    package func answer(_ request: ServedRequest) async -> ServedResponse {
        guard ["/healthz", "/metrics", "/status"].contains(request.path) else {
            return .refusal(status: 404, "there is only /healthz, /metrics and /status")
        }
        guard request.method == .get || request.method == .head else {
            return .refusal(status: 405, "only GET is answered here")
        }
        guard let report = await report() else { return .refusal(status: 503, "the outbox does not answer") }
        switch request.path {
        case "/healthz":
            return ServedResponse(
                status: report.isHealthy ? 200 : 503, contentType: "text/plain; charset=utf-8",
                (report.isHealthy ? "ok: " : "look: ") + report.headline + "\n")
        case "/metrics":
            return ServedResponse(
                status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8", report.metrics)
        default:
            guard let body = try? JSONValue(encoding: report).prettyText else {
                return .refusal(status: 500, "the status cannot be written as JSON")
            }
            return ServedResponse(status: 200, contentType: "application/json", body + "\n")
        }
    }
}

/// Answers for the status address, which listens before there is a status: a port in use is found first.
actor StatusResponder {
    private var routes: StatusRoutes?

    func set(_ routes: StatusRoutes) { self.routes = routes }

    func answer(_ request: ServedRequest) async -> ServedResponse {
        guard let routes else { return .refusal(status: 503, "the service is starting") }
        return await routes.answer(request)
    }
}
