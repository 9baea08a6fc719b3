package import HTTPMessages
import LinuxPlatform
import ReportedText
import TimeAndRandomness
package import VehicleAuthorization

/// A provider that fetches a token from a backend's endpoint at each call.
package final class HTTPTokenProvider: TokenProvider {
    private let settings: HTTPTokenSettings
    private let section: String
    private let providerID: String
    private let transport: any HTTPTransport
    private let sendsCertificate: Bool
    private let runID: String?
    private let environment: [String: String]
    private let wallClock: @Sendable () -> Double
    private let synchronizedClock: @Sendable () -> Double?

    /// - Parameters:
    ///   - settings: the endpoint, and the request to send to it.
    ///   - section: the section of the configuration that errors name.
    ///   - providerID: the value for the placeholder `{providerId}`.
    ///   - transport: sends the requests. It must trust the certificate authorities that the endpoint needs.
    ///   - sendsCertificate: whether the transport sends a client certificate; used only to explain errors.
    ///   - runID: a random text by which the endpoint can tell this run of the service from another one; `nil` if the
    ///     requests don't belong to the service.
    ///   - environment: the environment variables from which secrets are read.
    ///   - wallClock: returns this machine's time in seconds since 1970. It is used if the endpoint's `Date` header is
    ///     missing or implausible.
    ///   - synchronizedClock: returns the same time if the clock is synchronised, otherwise `nil`. Unlike `wallClock`,
    ///     it can show that a token has expired.
    /// - Throws: `.misconfigured` if the endpoint's address isn't a URL.
    package init(
        _ settings: HTTPTokenSettings, section: String = "authorization", providerID: String,
        transport: any HTTPTransport, sendsCertificate: Bool = false, runID: String? = nil,
        environment: [String: String] = ProcessEnvironment.variables,
        wallClock: @escaping @Sendable () -> Double = { UTCTime.system.secondsSince1970 },
        synchronizedClock: @escaping @Sendable () -> Double? = { nil }
    ) throws(AuthorizationError) {
        self.settings = settings
        self.section = section
        self.providerID = providerID
        self.transport = transport
        self.sendsCertificate = sendsCertificate
        self.runID = runID
        self.environment = environment
        self.wallClock = wallClock
        self.synchronizedClock = synchronizedClock
        do { _ = try url(for: AuthorizationContext(vehicleID: "vehicle", taskID: "task")) } catch {
            if error.code != .missingContext { throw error }
        }
    }

    package func fetchAnswer(for context: AuthorizationContext) async throws(AuthorizationError) -> TokenAnswer {
        let (request, secrets) = try await makeRequest(for: context)
        let keys = settings.credentialKeys + (sendsCertificate ? ["clientCertificateFile"] : [])
        let origin = TokenOrigin(
            .endpoint, settings.urlSource.map { "at the URL in \($0)" } ?? request.url.withoutQueryValues,
            section: section, tokenKey: settings.format.tokenKey, subject: context.subject,
            credentials: keys.map { "\(section).\($0)" })
        let classifier = TokenFaultClassifier(origin, url: request.url, secrets: secrets)
        let response: HTTPResponse
        do { response = try await transport.send(request) } catch { throw classifier.error(for: error) }
        if let rejection = classifier.rejection(in: response) { throw rejection }
        return try TokenAnswer(
            response.body,
            from: .init(
                source: origin,
                mediaType: response.headers["Content-Type"]?.split(separator: ";").first.map(String.init),
                issuerTime: response.headers["Date"].flatMap(UTCTime.init(httpDate:))?.secondsSince1970,
                certificateEnd: response.certificateEnd, localTime: wallClock(), present: synchronizedClock(),
                secrets: secrets),
            format: settings.format)
    }

    /// Stops using idle connections, because the network that they belong to may be gone.
    package func networkReturned() async { transport.networkChanged() }

    private func url(for context: AuthorizationContext) throws(AuthorizationError) -> HTTPURL {
        let text = try Placeholders(providerID: providerID, context: context)
            .expanding(settings.url, encoding: .percent, key: "\(section).url")
        do { return try HTTPURL(text) } catch {
            throw AuthorizationError(.invalidSetting(key: "\(section).url", .invalidURL("\(error)")))
        }
    }

    /// Returns the request, and the secrets in it, which must not appear in any error.
    private func makeRequest(
        for context: AuthorizationContext
    ) async throws(AuthorizationError) -> (request: HTTPRequest, secrets: [String]) {
        let url = try url(for: context)
        let values = try await readTemplateValues()
        var headers = HTTPHeaders(["Accept": "application/json"])
        if let runID { headers["Waypost-Run-ID"] = runID }
        if values.body != nil { headers["Content-Type"] = "application/json" }
        for (template, header) in zip(settings.headers, values.headers) { headers[template.name] = header.value }
        var secrets = values.headers.flatMap { [$0.secret, $0.value] }
        if settings.urlSource != nil { secrets += [url.origin, url.host, url.target] }
        var body: [UInt8] = []
        if let template = values.body {
            let isForm = headers["Content-Type"]?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true
            let text = try Placeholders(providerID: providerID, context: context)
                .expanding(template, encoding: isForm ? .form : .json, key: "\(section).body")
            body = Array(text.utf8)
            // A body from the configuration isn't secret as a whole. Its names and keys are ordinary words, which an
            // answer may also contain.
            if case .literal? = settings.body {} else { secrets += [template, text] }
            secrets += text.split { !$0.isLetter && !$0.isNumber && !"-_+=/.~".contains($0) }
                .filter { $0.contains { !$0.isLetter && $0 != "_" } }.map(String.init)
        }
        let request = HTTPRequest(settings.method, url, headers: headers, body: body, limits: settings.limits)
        return (request, secrets)
    }

    /// Reads and returns the values of the headers and the body, which may be in files, variables or credentials.
    private func readTemplateValues() async throws(AuthorizationError) -> TemplateValues {
        try await readOnThread(named: "waypost-secret", for: "\(section)") {
            [settings, environment] () throws(AuthorizationError) in
            try TemplateValues(settings, environment: environment)
        }
    }
}

/// The header values and the body of a request, after they have been read from their sources.
private struct TemplateValues: Sendable {
    var headers: [(value: String, secret: String)] = []
    var body: String?

    init(_ settings: HTTPTokenSettings, environment: [String: String]) throws(AuthorizationError) {
        for template in settings.headers { headers.append(try template.resolve(in: environment)) }
        body = try settings.body?.text(for: "the body", environment: environment)
    }
}

/// A backend's token endpoint, and the request that fetches a token from it.
package struct HTTPTokenSettings: Sendable, Hashable {
    /// The endpoint's URL. It may contain `{providerId}`, `{vehicleId}`, `{taskId}`, `{tripId}` and `{trackingId}`,
    /// which are replaced by their percent-encoded values. A request fails if the context has no value for one of them.
    package var url: String
    /// A description of the credential that the URL was read from. Messages show it in place of the URL. `nil` if the
    /// URL wasn't read from a credential.
    package var urlSource: String?
    package var method: HTTPMethod
    package var headers: [HeaderTemplate]
    /// The body, with the same placeholders as `url`; `nil` for no body. Their values are percent-encoded in a form,
    /// and escaped for JSON in any other body.
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

    /// The configuration keys whose values may be credentials.
    fileprivate var credentialKeys: [String] {
        var keys = headers.isEmpty ? [] : ["headers"]
        if url.firstIndex(of: "?").map({ Self.containsLiteralValue(url[$0...]) }) == true { keys.append("url") }
        switch body {
        case .literal(let text)? where !Self.containsLiteralValue(text[...]): break
        case .some: keys.append("body")
        case nil: break
        }
        return keys
    }

    /// Whether a query, a form or JSON contains a literal value, not only placeholders.
    private static func containsLiteralValue(_ text: Substring) -> Bool {
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
