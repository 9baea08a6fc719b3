import FoundationEssentials
package import HTTPMessages
import LinuxPlatform
package import VehicleAuthorization

/// Asks a backend's token endpoint, each time anew.
package final class HTTPTokenProvider: VehicleAuthorization {
    private let settings: HTTPTokenSettings
    private let providerID: String
    private let transport: any HTTPTransport
    private let environment: [String: String]
    private let wallClock: @Sendable () -> Double
    private let doubts: DoubtReporter

    /// - Parameters:
    ///   - settings: the endpoint.
    ///   - providerID: replaces `{providerId}`.
    ///   - transport: sends the requests; it knows the endpoint's authorities.
    ///   - environment: where secrets by environment come from.
    ///   - wallClock: seconds since 1970; used only when neither token nor endpoint tells the time.
    ///   - report: hears of an expiry that does not fit, once.
    /// - Throws: `.misconfigured` when the address can be none.
    package init(
        _ settings: HTTPTokenSettings, providerID: String, transport: any HTTPTransport,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        wallClock: @escaping @Sendable () -> Double = { Date().timeIntervalSince1970 },
        report: @escaping @Sendable (AuthorizationWarning) -> Void
    ) throws(AuthorizationError) {
        self.settings = settings
        self.providerID = providerID
        self.transport = transport
        self.environment = environment
        self.wallClock = wallClock
        doubts = DoubtReporter(report)
        do { _ = try url(for: AuthorizationContext(vehicleID: "vehicle", taskID: "task")) } catch {
            if error.code != .missingContext { throw error }
        }
    }

    package func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        let request = try await request(for: context)
        let source = "token endpoint \(request.url.withoutQueryValues)"
        let response: HTTPResponse
        do { response = try await transport.send(request) } catch { throw TokenEndpointFailure.error(error, source) }
        if let refusal = TokenEndpointFailure.error(response, source) { throw refusal }
        let answer = try TokenAnswer(
            response.body, from: source, format: settings.format,
            moment: .init(
                issuerTime: response.headers["Date"].flatMap(HTTPDate.init).map { Double($0.secondsSince1970) },
                localTime: wallClock()))
        doubts.tell(answer.doubt)
        return answer.token
    }

    private func url(for context: AuthorizationContext) throws(AuthorizationError) -> HTTPURL {
        let text = try Placeholders(providerID: providerID, context: context)
            .expanding(settings.url, .percent, name: "authorization.url")
        do { return try HTTPURL(text) } catch {
            throw AuthorizationError(.misconfigured, "authorization.url \(error)")
        }
    }

    private func request(for context: AuthorizationContext) async throws(AuthorizationError) -> HTTPRequest {
        let headers = try await headers()
        var body: [UInt8] = []
        if let template = settings.body {
            let isForm = headers["Content-Type"]?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true
            let text = try Placeholders(providerID: providerID, context: context)
                .expanding(template, isForm ? .form : .json, name: "authorization.body")
            body = Array(text.utf8)
        }
        return HTTPRequest(
            settings.method, try url(for: context), headers: headers, body: body, limits: settings.limits)
    }

    private func headers() async throws(AuthorizationError) -> HTTPHeaders {
        let templates = settings.headers
        let environment = environment
        var headers = HTTPHeaders(["Accept": "application/json"])
        if settings.body != nil { headers["Content-Type"] = "application/json" }
        let values = await onThread(named: "waypost-secret") { () -> Result<[String], AuthorizationError> in
            do throws(AuthorizationError) {
                var values: [String] = []
                for template in templates { values.append(try template.value(environment: environment)) }
                return .success(values)
            } catch { return .failure(error) }
        }
        for (template, value) in zip(templates, try values.get()) { headers[template.name] = value }
        return headers
    }
}

extension HTTPURL {
    /// For messages: the values of a query may be secrets.
    var withoutQueryValues: String {
        guard let mark = target.firstIndex(of: "?") else { return origin + target }
        let names = target[target.index(after: mark)...].split(separator: "&").map { part in
            part.contains("=") ? "\(part.prefix { $0 != "=" })=…" : "…"
        }
        return origin + target[..<mark] + "?" + names.joined(separator: "&")
    }
}
