import HTTPMessages
import ReportedText
import StrictJSON
import VehicleAuthorization

/// What a token endpoint's refusals, or its silence, mean: a table, with messages that name the endpoint.
struct TokenEndpointErrors {
    /// A description of the endpoint, such as `token endpoint https://backend.example.com/token?key=…`, because the
    /// values of a query may be secrets, or `token endpoint at the URL in the credential token-url`.
    let name: String
    private let url: HTTPURL
    private var origin: String { url.origin }
    private let section: String
    /// The keys of the configuration under which the credentials stand that were sent.
    private let credentials: [String]
    private let subject: AuthorizationContext.Subject
    private let secrets: [String]

    /// - Parameters:
    ///   - url: the address.
    ///   - urlSource: where the address comes from, if that is shown instead of the address.
    ///   - section: where the configuration has it, as `authorization`.
    ///   - credentials: the keys of that section which say who asks, as `headers`; empty when nothing does.
    ///   - subject: whose token is asked for.
    ///   - secrets: what the request holds and no word of the answer may repeat.
    init(
        _ url: HTTPURL, urlSource: String? = nil, section: String, credentials: [String],
        subject: AuthorizationContext.Subject,
        secrets: [String]
    ) {
        self.section = section
        self.secrets = secrets
        self.subject = subject
        self.credentials = credentials.map { "\(section).\($0)" }
        name = "token endpoint " + (urlSource.map { "at the URL in \($0)" } ?? url.withoutQueryValues)
        self.url = url
    }

    /// `nil` when the status is one of success.
    func refusal(_ response: HTTPResponse) -> AuthorizationError? {
        guard !(200..<300).contains(response.status) else { return nil }
        return AuthorizationError(
            Self.code(of: response.status),
            "\(name) answered \(response.status): \(advice(on: response))\(pageNote(response))\(reason(response))",
            retryAfter: response.headers.retryAfter)
    }

    private static func code(of status: Int) -> AuthorizationError.Code {
        switch status {
        case 300..<400: .unusableAnswer
        case 408, 425, 429, 500...: .unavailable
        default: .refused
        }
    }

    private func advice(on response: HTTPResponse) -> String {
        switch response.status {
        case 300..<400: adviceOnRedirect(to: response.headers["Location"])
        case 400: adviceOnBadRequest(response.body)
        case 401 where credentials.isEmpty: "no headers are configured; \(authenticate)"
        case 401: "it rejects our credentials; \(authenticate)"
        case 403: forbidden
        case 404, 410: "it does not know the address or the vehicle; check \(section).url"
        case 405: adviceOnMethod(allowed: response.headers["Allow"])
        case 406, 415: "it expects another kind of request; check \(section).headers and body"
        case 407: "a proxy in the way wants credentials; let it pass the backend's address"
        case 422: "it does not accept what the request says; check \(section).headers and body, and the backend's log"
        case 511: "the network wants a login first (a captive portal); log in there, or use another network"
        case 502, 504: "a proxy before the backend got no answer from it; check that the backend runs"
        // No figure in it: a text that changes would be reported again at each try.
        case 408, 425, 429, 500...:
            "it cannot answer now\(response.headers.retryAfter == nil ? "" : ", and wants a pause (Retry-After)"); "
                + seeLog
        default: "it rejects the request; check \(section).url and the backend's log"
        }
    }

    private func adviceOnRedirect(to location: String?) -> String {
        if let location, [url.target, origin + url.target].contains(location) {
            return "a redirect to this very address, which leads nowhere; \(seeLog)"
        }
        let to = location.flatMap(place).map { " to \(ReportedText($0, without: secrets))" } ?? ""
        return "a redirect\(to), which is not followed; set \(section).url to the final address, or, if that is a "
            + "login page, \(authenticate)"
    }

    private func adviceOnBadRequest(_ body: [UInt8]) -> String {
        if origin.hasPrefix("http:"), Self.asksForHTTPS(body) {
            return "its port expects https; write https in \(section).url"
        }
        if Self.speaksOfCertificate(body) {
            return sendsCertificate ? certificateRejected : "it demands a client certificate; set \(certificateKeys)"
        }
        if Self.isOfSpentGrant(body) {
            return "its grant was used or has expired: the first of service, waypost check and waypost token to send a "
                + "single-use refresh token spends it; give the van a grant that lasts"
        }
        return "it does not understand the request; check \(section).url, headers, body and client certificate"
    }

    /// Whether an OAuth server (RFC 6749, section 5.2) rejects the grant that was sent, such as a refresh token.
    private static func isOfSpentGrant(_ body: [UInt8]) -> Bool {
        (try? JSONValue(parsing: body))?["error"]?.stringValue == "invalid_grant"
    }

    /// A backend rejects with JSON; a page comes from what stands before it, or from another server. (A 400 may come
    /// as a page from the backend's own front, which asks for a client certificate. A 500 often
    /// comes as one of the backend's own, and the words for 502 and 504 name the proxy already.)
    private func pageNote(_ response: HTTPResponse) -> String {
        guard response.status > 400, ![500, 502, 504].contains(response.status),
            AnswerKind(response.body) == .page
        else { return "" }
        return "; its answer is a page (HTML or XML), so another server, a proxy or a login page may be answering"
    }

    /// What a backend says itself in JSON, as RFC 6749 (section 5.2) or RFC 9457 have it, or as Google's servers do.
    /// With a figure in it, beside the id that is asked for, it may be another text each time, which would be reported
    /// again at each try.
    private func reason(_ response: HTTPResponse) -> String {
        guard case .json(let text) = AnswerKind(response.body), let answer = try? JSONValue(parsing: text) else {
            return ""
        }
        let problem = answer["error"]?.objectValue == nil ? answer : answer["error"]
        let keys = ["error_description", "detail", "message", "reason", "error", "title"]
        guard let said = keys.lazy.compactMap({ problem?[$0]?.stringValue }).first else { return "" }
        let shown = ReportedText(said, without: secrets).description
        let rest = shown.replacing(id, with: "")
        guard rest.contains(where: \.isLetter), !rest.contains(where: \.isNumber) else { return "" }
        return "; it says \"\(shown)\""
    }

    /// Where a redirect leads, plain http too, as a captive portal has it. What stands behind a path may be a secret;
    /// the path of another host may be one too, and a new one at each try.
    private func place(_ location: String) -> String? {
        let shown = location.prefix { !"?#".contains($0) }
        guard let scheme = ["https://", "http://"].first(where: shown.lowercased().hasPrefix) else {
            return shown.isEmpty || shown.hasPrefix("//") ? nil : String(shown)
        }
        let authority = shown.dropFirst(scheme.count).prefix { $0 != "/" }
        guard let place = authority.split(separator: "@").last else { return nil }
        let path = shown.dropFirst(scheme.count + authority.count)
        let isOurs = place.split(separator: ":").first.map(String.init) == url.host
        return "\(scheme)\(place)\(isOurs && path != "/" ? path : "")"
    }

    /// `header` names the methods that a server accepts; one that names none, or something else, isn't shown.
    private func adviceOnMethod(allowed header: String?) -> String {
        let names = (header ?? "").split { $0 == "," || $0.isWhitespace }
        let areMethods = names.allSatisfy { $0.count < 10 && $0.allSatisfy { $0.isASCII && $0.isUppercase } }
        let allowed = areMethods && (1..<10).contains(names.count) ? "; it allows \(names.joined(separator: ", "))" : ""
        return "it expects another method\(allowed); check \(section).method"
    }

    /// What servers say in words to a request without TLS: nginx, Apache, Go's, Tomcat.
    private static func asksForHTTPS(_ body: [UInt8]) -> Bool {
        let words = ReportedText(bytes: body.prefix(1000), limit: 1000).description.lowercased()
        return ["plain http", "to an https server", "requires tls"].contains(where: words.contains)
    }

    /// What says who asks, as a thing to do.
    private var authenticate: String {
        credentials.isEmpty
            ? "add \(section).headers or a client certificate" : "check \(credentials.joined(separator: " and "))"
    }

    private var seeLog: String { "see the backend's log" }

    private var certificateKeys: String { "\(section).clientCertificateFile and clientKeyFile" }
    private var sendsCertificate: Bool { credentials.contains("\(section).clientCertificateFile") }

    private var certificateRejected: String {
        "it rejects our client certificate: look whether that has ended (waypost check says), and whether "
            + "the backend knows its authority; check \(certificateKeys)"
    }

    /// What nginx answers to a client whose certificate is missing or not to be trusted.
    private static func speaksOfCertificate(_ body: [UInt8]) -> Bool {
        ReportedText(bytes: body.prefix(1000), limit: 1000).description.lowercased().contains("ssl certificate")
    }

    /// What is asked for.
    private var id: String {
        switch subject {
        case .vehicle(let id, _), .trip(let id): id
        case .shipment(let trackingID): trackingID
        }
    }

    /// Whoever asks is known, and may not have this token.
    private var forbidden: String {
        let keys = (credentials.isEmpty ? ["\(section).headers"] : credentials).joined(separator: " and ")
        return switch subject {
        case .vehicle:
            "it does not let us have this vehicle's token: check vehicle.vehicleId, that the vehicle is enrolled "
                + "there, and \(keys)"
        case .trip: "it does not let us have this trip's token: check whose trip it is, and \(keys)"
        case .shipment: "it does not let us have this shipment's token: check whose it is, and \(keys)"
        }
    }

    /// The exchange brought no answer.
    func failure(_ failure: HTTPTransportError) -> AuthorizationError {
        let code: AuthorizationError.Code
        switch failure.code {
        case .cancelled: return AuthorizationError(.cancelled, "the request to the \(name) was cancelled")
        case _ where failure.proxyFault != nil: code = .unavailable
        case .responseTooLarge, .malformedResponse, .unknownContentEncoding: code = .unusableAnswer
        case .transportFailed: code = .misconfigured
        case .certificateNotTrusted, .nameNotResolved, .connectionFailed, .timedOut, .connectionLost, .tlsFailed:
            code = .unavailable
        }
        // The name has the origin already.
        let words = failure.detail.description
        let cause = words.hasPrefix("\(origin): ") ? words.dropFirst(origin.count + 2) : words[...]
        let detail = ReportedText(cause, without: secrets, limit: ReportedText.longestSentence)
        // The message of a proxy's fault has its remedy.
        let remedy = failure.proxyFault == nil ? "; \(advice(on: failure))" : ""
        return AuthorizationError(code, "\(name): \(detail)\(remedy)")
    }

    private func advice(on failure: HTTPTransportError) -> String {
        switch failure.code {
        case .cancelled: ""
        case .responseTooLarge: "expected a small JSON object with the token; check \(section).url"
        case .malformedResponse: "expected HTTP; check \(section).url"
        case .unknownContentEncoding: "switch compression off in the backend or its proxy"
        case .certificateNotTrusted: advice(on: failure.certificateFault)
        case .transportFailed where sendsCertificate: "check \(certificateKeys); waypost check says more of both"
        case .transportFailed: "check \(section)"
        case .nameNotResolved: "it stands in \(section).url"
        case .connectionFailed: "check \(section).url, and that the backend runs"
        case .timedOut:
            "check the network and the backend's load, or raise \(section).timeoutSeconds if it needs longer to start"
        case .connectionLost, .tlsFailed: adviceOnBrokenConnection(failure)
        }
    }

    private func advice(on fault: HTTPTransportError.CertificateFault?) -> String {
        switch fault {
        case .outsideItsTime:
            "let the backend renew its certificate, or, if the time is wrong, set this machine's clock"
        case .ofAnotherName:
            "correct the host in \(section).url, or let the backend have a certificate for that name"
        case .ofUnknownAuthority: "if its authority is your own, \(section).caFile must hold that one's certificate"
        case nil: "check \(section).url and caFile, and the backend's certificate"
        }
    }

    /// The advice on a connection that was lost, or for which TLS could not be set up.
    private func adviceOnBrokenConnection(_ failure: HTTPTransportError) -> String {
        let demand = "if it demands a client certificate, set \(certificateKeys)"
        if failure.demandsCertificate {
            return "it demands a client certificate; \(sendsCertificate ? "check" : "set") \(certificateKeys)"
        }
        if failure.rejectsCertificate, sendsCertificate { return certificateRejected }
        if failure.isOfOldTLS { return "its versions of TLS are older than 1.2; let the backend have a newer one" }
        guard failure.code == .connectionLost else {
            return "check that \(section).url names a port for https"
                + (sendsCertificate ? ", and \(certificateKeys)" : "; \(demand)")
        }
        if failure.brokeOff { return seeLog }
        if origin.hasPrefix("http:") { return "\(seeLog), and use https if that is what its port expects" }
        // Its alert may be lost with the connection.
        return "\(seeLog); \(sendsCertificate ? "if " + certificateRejected : demand)"
    }
}

extension HTTPTransportError {
    /// By the TLS alert of that name, which TLS 1.3 sends after the handshake.
    fileprivate var demandsCertificate: Bool { detail.description.lowercased().contains("certificate required") }

    /// By the TLS alerts of RFC 8446, section 6.2, as OpenSSL names them.
    fileprivate var rejectsCertificate: Bool {
        let words = detail.description.lowercased()
        return ["certificate expired", "bad certificate", "certificate revoked", "certificate unknown", "unknown ca"]
            .contains { words.contains("alert \($0)") }
    }

    /// In OpenSSL's words: by the TLS alert of that name, or before it.
    fileprivate var isOfOldTLS: Bool {
        ["protocol version", "unsupported protocol"].contains(where: detail.description.lowercased().contains)
    }

    /// Within an answer, in libcurl's words.
    fileprivate var brokeOff: Bool { detail.description.contains("remaining") }
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
