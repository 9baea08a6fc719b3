package import HTTPMessages
import LinuxPlatform
import ReportedText
import TimeAndChance
package import VehicleAuthorization

/// A provider that fetches a token from a backend's endpoint at each call.
package final class HTTPTokenProvider: TokenProvider {
    private let settings: HTTPTokenSettings
    private let section: String
    private let providerID: String
    private let transport: any HTTPTransport
    private let sendsCertificate: Bool
    private let environment: [String: String]
    private let wallClock: @Sendable () -> Double
    private let present: @Sendable () -> Double?

    /// - Parameters:
    ///   - settings: the endpoint.
    ///   - section: the section of the configuration, for errors.
    ///   - providerID: the value of `{providerId}`.
    ///   - transport: the transport that sends the requests, with the certificate authorities for the endpoint.
    ///   - sendsCertificate: whether the transport sends a client certificate, for errors.
    ///   - environment: the source of secrets that are kept in variables.
    ///   - wallClock: returns the time in seconds since 1970, which may shorten a token's lifetime. It is used if
    ///     the endpoint states no time.
    ///   - present: returns the same time if something keeps the clock right, otherwise `nil`. It can show that a token
    ///     has expired.
    /// - Throws: `.misconfigured` if the endpoint's address isn't a URL.
    package init(
        _ settings: HTTPTokenSettings, section: String = "authorization", providerID: String,
        transport: any HTTPTransport, sendsCertificate: Bool = false,
        environment: [String: String] = ProcessEnvironment.variables,
        wallClock: @escaping @Sendable () -> Double = { UTCTime.system.secondsSince1970 },
        present: @escaping @Sendable () -> Double? = { nil }
    ) throws(AuthorizationError) {
        self.settings = settings
        self.section = section
        self.providerID = providerID
        self.transport = transport
        self.sendsCertificate = sendsCertificate
        self.environment = environment
        self.wallClock = wallClock
        self.present = present
        do { _ = try url(for: AuthorizationContext(vehicleID: "vehicle", taskID: "task")) } catch {
            if error.code != .missingContext { throw error }
        }
    }

    package func ask(for context: AuthorizationContext) async throws(AuthorizationError) -> TokenAnswer {
        let (request, secrets) = try await request(for: context)
        let keys = settings.credentials + (sendsCertificate ? ["clientCertificateFile"] : [])
        let origin = TokenOrigin(
            .endpoint, settings.urlSource.map { "at the URL in \($0)" } ?? request.url.withoutQueryValues,
            section: section, tokenKey: settings.format.tokenKey, subject: context.subject,
            credentials: keys.map { "\(section).\($0)" })
        let endpoint = TokenFaultClassifier(origin, url: request.url, secrets: secrets)
        let response: HTTPResponse
        do { response = try await transport.send(request) } catch { throw endpoint.failure(error) }
        if let rejection = endpoint.rejection(response) { throw rejection }
        return try TokenAnswer(
            response.body,
            from: .init(
                from: origin,
                mediaType: response.headers["Content-Type"]?.split(separator: ";").first.map(String.init),
                issuerTime: response.headers["Date"].flatMap(UTCTime.init(httpDate:))?.secondsSince1970,
                certificateEnd: response.certificateEnd, localTime: wallClock(), present: present(), secrets: secrets),
            format: settings.format)
    }

    /// Stops using idle connections, because their network may be gone.
    package func networkReturned() async { transport.networkChanged() }

    private func url(for context: AuthorizationContext) throws(AuthorizationError) -> HTTPURL {
        let text = try Placeholders(providerID: providerID, context: context)
            .expanding(settings.url, .percent, name: "\(section).url")
        do { return try HTTPURL(text) } catch {
            throw AuthorizationError(.invalidSetting(key: "\(section).url", .invalidURL("\(error)")))
        }
    }

    /// Returns the request and its secrets.
    private func request(
        for context: AuthorizationContext
    ) async throws(AuthorizationError) -> (request: HTTPRequest, secrets: [String]) {
        let url = try url(for: context)
        let texts = try await texts()
        var headers = HTTPHeaders(["Accept": "application/json"])
        if texts.body != nil { headers["Content-Type"] = "application/json" }
        for (template, text) in zip(settings.headers, texts.headers) { headers[template.name] = text.value }
        var secrets = texts.headers.flatMap { [$0.secret, $0.value] }
        if settings.urlSource != nil { secrets += [url.origin, url.host, url.target] }
        var body: [UInt8] = []
        if let template = texts.body {
            let isForm = headers["Content-Type"]?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true
            let text = try Placeholders(providerID: providerID, context: context)
                .expanding(template, isForm ? .form : .json, name: "\(section).body")
            body = Array(text.utf8)
            // A body in the configuration contains ordinary words as names and keys, which an answer may also contain.
            if case .literal? = settings.body {} else { secrets += [template, text] }
            secrets += text.split { !$0.isLetter && !$0.isNumber && !"-_+=/.~".contains($0) }
                .filter { $0.contains { !$0.isLetter && $0 != "_" } }.map(String.init)
        }
        let request = HTTPRequest(settings.method, url, headers: headers, body: body, limits: settings.limits)
        return (request, secrets)
    }

    /// Returns the values of the headers and the body from their sources.
    private func texts() async throws(AuthorizationError) -> RequestTexts {
        try await readOnThread(named: "waypost-secret", for: "\(section)") {
            [settings, environment] () throws(AuthorizationError) in
            try RequestTexts(settings, environment: environment)
        }
    }
}

/// The parts of a request after its secrets have been read.
private struct RequestTexts: Sendable {
    var headers: [(value: String, secret: String)] = []
    var body: String?

    init(_ settings: HTTPTokenSettings, environment: [String: String]) throws(AuthorizationError) {
        for template in settings.headers { headers.append(try template.value(environment: environment)) }
        body = try settings.body?.text(for: "the body", environment: environment)
    }
}

/// A backend's token endpoint, and the request to it.
package struct HTTPTokenSettings: Sendable, Hashable {
    /// The endpoint's URL. `{providerId}` is replaced anywhere in it, percent-encoded, and so are `{vehicleId}`,
    /// `{taskId}`, `{tripId}` and `{trackingId}` if the context has a value for them.
    package var url: String
    /// A description of the credential that contains the URL, shown in place of the URL; `nil` if the URL isn't from a
    /// credential.
    package var urlSource: String?
    package var method: HTTPMethod
    package var headers: [HeaderTemplate]
    /// The body, in which the same placeholders are replaced: percent-encoded in a form, otherwise escaped for JSON.
    package var body: Secret?
    package var format: TokenAnswerFormat
    package var limits: HTTPLimits

    package init(
        url: String, method: HTTPMethod = .get, headers: [HeaderTemplate] = [], body: Secret? = nil,
        format: TokenAnswerFormat = TokenAnswerFormat(), limits: HTTPLimits = HTTPLimits(responseBytes: 64 * 1024)
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.format = format
        self.limits = limits
    }

    /// The keys whose values may identify the caller.
    fileprivate var credentials: [String] {
        var keys = headers.isEmpty ? [] : ["headers"]
        if url.firstIndex(of: "?").map({ Self.holdsValue(url[$0...]) }) == true { keys.append("url") }
        switch body {
        case .literal(let text)? where !Self.holdsValue(text[...]): break
        case .some: keys.append("body")
        case nil: break
        }
        return keys
    }

    /// Whether a query, a form or JSON contains a value in addition to placeholders.
    private static func holdsValue(_ text: Substring) -> Bool {
        text.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == "=" }.dropFirst().contains { part in
            var value = part.drop(while: \.isWhitespace)
            if value.first == "\"" { value.removeFirst() }
            while value.first == "{", let end = value.firstIndex(of: "}"),
                value[..<end].dropFirst().allSatisfy(\.isLetter)
            {
                value = value[end...].dropFirst()
            }
            return value.first.map { !$0.isWhitespace && !"\"{}&,".contains($0) } ?? false
        }
    }
}
