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
        (self.section, self.secrets, self.subject) = (section, secrets, subject)
        self.credentials = credentials.map { "\(section).\($0)" }
        name = "token endpoint " + (urlSource.map { "at the URL in \($0)" } ?? url.withoutQueryValues)
        self.url = url
    }

    /// `nil` when the status is one of success.
    func refusal(_ response: HTTPResponse) -> AuthorizationError? {
        let status = response.status
        let retryAfter = response.headers.retryAfter
        let code: AuthorizationError.Code
        let advice: String
        switch status {
        case 200..<300: return nil
        case 300..<400
        where response.headers["Location"].map { [url.target, origin + url.target].contains($0) } == true:
            code = .unusableAnswer
            advice = "a redirect to this very address, which leads nowhere; \(seeLog)"
        case 300..<400:
            code = .unusableAnswer
            let place = response.headers["Location"].flatMap(place)
            let to = place.map { " to \(ReportedText($0, without: secrets))" } ?? ""
            advice =
                "a redirect\(to), which is not followed; set \(section).url to the final address, or, if that is a "
                + "login page, \(authenticate)"
        case 400 where origin.hasPrefix("http:") && Self.asksForHTTPS(response.body):
            (code, advice) = (.refused, "its port expects https; write https in \(section).url")
        case 400 where Self.speaksOfCertificate(response.body):
            code = .refused
            advice = sendsCertificate ? certificateRejected : "it demands a client certificate; set \(certificateKeys)"
        case 400 where Self.isOfSpentGrant(response.body):
            code = .refused
            advice =
                "its grant was used or has expired: the first of service, waypost check and waypost token to send a "
                + "single-use refresh token spends it; give the van a grant that lasts"
        case 400:
            code = .refused
            advice = "it does not understand the request; check \(section).url, headers, body and client certificate"
        case 401 where credentials.isEmpty:
            code = .refused
            advice = "no headers are configured; \(authenticate)"
        case 401:
            (code, advice) = (.refused, "it rejects our credentials; \(authenticate)")
        case 403: (code, advice) = (.refused, forbidden)
        case 404, 410: (code, advice) = (.refused, "it does not know the address or the vehicle; check \(section).url")
        case 405:
            let allowed = response.headers["Allow"].flatMap(Self.methods).map { "; it allows \($0)" } ?? ""
            (code, advice) = (.refused, "it expects another method\(allowed); check \(section).method")
        case 406, 415:
            (code, advice) = (.refused, "it expects another kind of request; check \(section).headers and body")
        case 422:
            code = .refused
            advice =
                "it does not accept what the request says; check \(section).headers and body, and the backend's log"
        case 407:
            (code, advice) = (.refused, "a proxy in the way wants credentials; let it pass the backend's address")
        case 511:
            code = .unavailable
            advice = "the network wants a login first (a captive portal); log in there, or use another network"
        case 502, 504:
            code = .unavailable
            advice = "a proxy before the backend got no answer from it; check that the backend runs"
        case 408, 425, 429, 500...:
            code = .unavailable
            // No figure in it: a text that changes would be reported again at each try.
            advice = "it cannot answer now\(retryAfter == nil ? "" : ", and wants a pause (Retry-After)"); \(seeLog)"
        default: (code, advice) = (.refused, "it rejects the request; check \(section).url and the backend's log")
        }
        return AuthorizationError(
            code, "\(name) answered \(status): \(advice)\(pageNote(response))\(reason(response))",
            retryAfter: retryAfter)
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

    /// The methods that a server names (`GET, POST`); `nil` where it names none, or something else.
    private static func methods(_ allow: String) -> String? {
        let names = allow.split { $0 == "," || $0.isWhitespace }
        guard !names.isEmpty, names.count < 10,
            names.allSatisfy({ $0.count < 10 && $0.allSatisfy { $0.isASCII && $0.isUppercase } })
        else { return nil }
        return names.joined(separator: ", ")
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
        let advice: String
        if failure.proxyFault != nil { return error(.unavailable, failure) }
        let demand = "if it demands a client certificate, set \(certificateKeys)"
        switch failure.code {
        case .cancelled: return AuthorizationError(.cancelled, "the request to the \(name) was cancelled")
        case .responseTooLarge:
            (code, advice) = (.unusableAnswer, "expected a small JSON object with the token; check \(section).url")
        case .malformedResponse: (code, advice) = (.unusableAnswer, "expected HTTP; check \(section).url")
        case .unknownContentEncoding:
            (code, advice) = (.unusableAnswer, "switch compression off in the backend or its proxy")
        case .certificateNotTrusted:
            code = .unavailable
            advice =
                switch failure.certificateFault {
                case .outsideItsTime:
                    "let the backend renew its certificate, or, if the time is wrong, set this machine's clock"
                case .ofAnotherName:
                    "correct the host in \(section).url, or let the backend have a certificate for that name"
                case .ofUnknownAuthority:
                    "if its authority is your own, \(section).caFile must hold that one's certificate"
                case nil: "check \(section).url and caFile, and the backend's certificate"
                }
        case .transportFailed:
            code = .misconfigured
            advice = sendsCertificate ? "check \(certificateKeys); waypost check says more of both" : "check \(section)"
        case .nameNotResolved: (code, advice) = (.unavailable, "it stands in \(section).url")
        case .connectionFailed: (code, advice) = (.unavailable, "check \(section).url, and that the backend runs")
        case .timedOut:
            code = .unavailable
            advice =
                "check the network and the backend's load, or raise \(section).timeoutSeconds if it needs longer to start"
        case .connectionLost where failure.demandsCertificate, .tlsFailed where failure.demandsCertificate:
            code = .unavailable
            advice = "it demands a client certificate; \(sendsCertificate ? "check" : "set") \(certificateKeys)"
        case .connectionLost where failure.rejectsCertificate && sendsCertificate,
            .tlsFailed where failure.rejectsCertificate && sendsCertificate:
            (code, advice) = (.unavailable, certificateRejected)
        case .connectionLost where failure.isOfOldTLS, .tlsFailed where failure.isOfOldTLS:
            (code, advice) = (.unavailable, "its versions of TLS are older than 1.2; let the backend have a newer one")
        case .connectionLost where failure.brokeOff: (code, advice) = (.unavailable, seeLog)
        case .connectionLost where origin.hasPrefix("http:"):
            (code, advice) = (.unavailable, "\(seeLog), and use https if that is what its port expects")
        // Its alert may be lost with the connection.
        case .connectionLost where !sendsCertificate: (code, advice) = (.unavailable, "\(seeLog); \(demand)")
        case .connectionLost:
            (code, advice) = (.unavailable, "\(seeLog); if \(certificateRejected)")
        case .tlsFailed:
            code = .unavailable
            advice =
                "check that \(section).url names a port for https"
                + (sendsCertificate ? ", and \(certificateKeys)" : "; \(demand)")
        }
        return error(code, failure, advice)
    }

    /// The words for a failed exchange, with `advice` unless they have their own.
    private func error(
        _ code: AuthorizationError.Code, _ failure: HTTPTransportError, _ advice: String? = nil
    ) -> AuthorizationError {
        // The name has the origin already.
        let words = failure.detail.description
        let cause = words.hasPrefix("\(origin): ") ? words.dropFirst(origin.count + 2) : words[...]
        let detail = ReportedText(cause, without: secrets, limit: ReportedText.longestSentence)
        return AuthorizationError(code, "\(name): \(detail)\(advice.map { "; \($0)" } ?? "")")
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
