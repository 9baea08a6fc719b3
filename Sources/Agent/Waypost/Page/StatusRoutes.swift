import HTTPMessages
package import HTTPService
import LinuxPlatform
import StrictJSON
import TimeAndChance
import TrackDrawing

/// What the status address answers: the technician's page with what its script asks for, `/healthz`, `/metrics` and
/// `/status`.
package struct StatusRoutes: Sendable {
    let report: @Sendable () async -> StatusReport
    let history: HistoryKeeper
    let orders: PageOrders
    /// The host's time.
    var now: @Sendable () -> UTCTime = { .system }
    /// A new secret of each page, which its own style and script know.
    var nonce: @Sendable () -> String = { "\(UInt64.random(in: 0 ... .max))\(UInt64.random(in: 0 ... .max))" }

    package func answer(_ request: ServedRequest) async -> ServedResponse {
        let isRead = request.method == .get || request.method == .head
        switch request.path {
        case "/", "/page.json", "/map", "/healthz", "/metrics", "/status":
            guard isRead else { return .refusal(status: 405, "only GET is answered here") }
            return await read(request.path)
        case "/check", "/bundle":
            guard request.method == .post else { return .refusal(status: 405, "only POST is answered here") }
            guard request.isOfOwnPage else {
                return .refusal(
                    status: 403,
                    "only the page at / of this address may ask for this; through a proxy that page needs HTTPS")
            }
            return await carryOut(request.path)
        default:
            return .refusal(status: 404, "there is only the page at /, and /healthz, /metrics and /status")
        }
    }

    private func read(_ path: String) async -> ServedResponse {
        if path == "/" {
            let nonce = nonce()
            return Self.guarded(
                "text/html; charset=utf-8", TechnicianPage.html(nonce: nonce),
                policy: TechnicianPage.policy(nonce: nonce))
        }
        if path == "/map" {
            let (history, uptime) = history.current
            return Self.guarded("text/html; charset=utf-8", history.map(at: uptime).text)
        }
        let report = await report()
        switch path {
        case "/healthz":
            return ServedResponse(
                status: report.isHealthy ? 200 : 503, contentType: "text/plain; charset=utf-8",
                (report.isHealthy ? "ok: " : "look: ") + report.headline + "\n")
        case "/metrics":
            return ServedResponse(
                status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8", report.metrics)
        case "/page.json":
            let (history, uptime) = history.current
            let page = PageReport(status: report, history: history, uptime: uptime, now: now(), orders: orders.json)
            return Self.guarded("application/json", page.json.text)
        default:
            guard let body = try? JSONValue(encoding: report).prettyText else {
                return .refusal(status: 500, "the status cannot be written as JSON")
            }
            return Self.guarded("application/json", body + "\n")
        }
    }

    private func carryOut(_ path: String) async -> ServedResponse {
        if path == "/check" {
            if let refusal = orders.orderCheck() { return .refusal(status: 409, refusal) }
            return Self.guarded("application/json", "{}\n", status: 202)
        }
        guard let bundle = await orders.bundle() else {
            return .refusal(status: 409, "one is being made, or was a moment ago; wait half a minute")
        }
        var response = Self.guarded("application/octet-stream", "")
        response.response.headers["Content-Disposition"] = "attachment; filename=\"\(bundle.name)\""
        response.response.body = bundle.bytes
        return response
    }

    /// An answer that is kept nowhere and shown in no frame, from which no other page may take anything.
    private static func guarded(
        _ contentType: String, _ body: String, status: Int = 200, policy: String = "default-src 'none'"
    ) -> ServedResponse {
        ServedResponse(
            status: status, contentType: contentType, body,
            headers: HTTPHeaders([
                "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
                "Content-Security-Policy": policy, "Cross-Origin-Resource-Policy": "same-origin",
            ]))
    }
}
