import HTTPMessages
package import HTTPService
import LinuxPlatform
import StrictJSON
package import TimeAndRandomness
import TrackDrawing

/// The routes of the status address: the technician's page, the data that its script loads, `/healthz`, `/metrics` and
/// `/status`. All routes are read-only.
package struct StatusRoutes: Sendable {
    private let report: @Sendable () async -> StatusReport
    private let history: HistoryKeeper
    private let now: @Sendable () -> UTCTime
    private let nonce: @Sendable () -> String

    /// Creates the routes. `now` returns the host's time. `nonce` returns a new random value for each page. Browsers
    /// apply only those styles and scripts of the page that are marked with this value.
    package init(
        report: @escaping @Sendable () async -> StatusReport, history: HistoryKeeper,
        now: @escaping @Sendable () -> UTCTime = { .system },
        nonce: @escaping @Sendable () -> String = {
            "\(UInt64.random(in: 0 ... .max))\(UInt64.random(in: 0 ... .max))"
        }
    ) {
        self.report = report
        self.history = history
        self.now = now
        self.nonce = nonce
    }

    package func answer(_ request: ServedRequest) async -> ServedResponse {
        switch request.path {
        case "/", "/page.json", "/map", "/healthz", "/metrics", "/status":
            guard request.method == .get || request.method == .head else {
                return .refusal(status: 405, "this address is read-only; use GET")
            }
            return await response(toRead: request)
        default:
            return .refusal(status: 404, "not found; this address serves /, /healthz, /metrics and /status")
        }
    }

    private func response(toRead request: ServedRequest) async -> ServedResponse {
        let path = request.path
        if path == "/" {
            let nonce = nonce()
            return Self.protectedResponse(
                contentType: "text/html; charset=utf-8", body: TechnicianPage.html(nonce: nonce),
                policy: TechnicianPage.contentSecurityPolicy(nonce: nonce))
        }
        if path == "/map" {
            let (history, uptime) = history.current
            return Self.protectedResponse(contentType: "text/html; charset=utf-8", body: history.map(at: uptime).text)
        }
        let report = await report()
        switch path {
        case "/healthz":
            return ServedResponse(
                status: report.isHealthy ? 200 : 503, contentType: "text/plain; charset=utf-8",
                (report.isHealthy ? "ok: " : "unhealthy: ") + report.headline + "\n")
        case "/metrics":
            guard let profile = MetricsProfile(request) else {
                return .refusal(status: 400, "unknown profile; use profile=fleet or omit it")
            }
            return ServedResponse(
                status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8", report.metrics(profile))
        case "/page.json":
            let (history, uptime) = history.current
            let page = PageReport(status: report, history: history, uptime: uptime, now: now())
            return Self.protectedResponse(contentType: "application/json", body: page.json.text)
        default:
            guard let body = try? JSONValue(encoding: report).prettyText else {
                return .refusal(status: 500, "could not write the status as JSON")
            }
            return Self.protectedResponse(contentType: "application/json", body: body + "\n")
        }
    }

    /// Returns a response whose headers keep it out of caches and frames, and hide it from pages of other origins.
    private static func protectedResponse(
        contentType: String, body: String, policy: String = "default-src 'none'"
    ) -> ServedResponse {
        ServedResponse(
            status: 200, contentType: contentType, body,
            headers: HTTPHeaders([
                "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
                "Content-Security-Policy": policy, "Cross-Origin-Resource-Policy": "same-origin",
            ]))
    }
}
