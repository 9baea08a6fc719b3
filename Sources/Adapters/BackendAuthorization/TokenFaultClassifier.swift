import HTTPMessages
import ReportedText
import StrictJSON
import VehicleAuthorization

/// A classifier that turns a token endpoint's rejections and connection failures into errors.
struct TokenFaultClassifier {
    let origin: TokenOrigin
    private let url: HTTPURL
    private let secrets: [String]
    private var isEncrypted: Bool { !url.origin.hasPrefix("http:") }

    /// - Parameters:
    ///   - origin: the description of the endpoint in errors.
    ///   - url: the endpoint's URL.
    ///   - secrets: the secrets in the request, which must not appear in any error.
    init(_ origin: TokenOrigin, url: HTTPURL, secrets: [String]) {
        self.origin = origin
        self.url = url
        self.secrets = secrets
    }

    /// Returns the error for an answer with a status other than 2xx; otherwise `nil`.
    func rejection(in response: HTTPResponse) -> AuthorizationError? {
        guard !(200..<300).contains(response.status) else { return nil }
        return AuthorizationError(
            .rejected(
                origin,
                EndpointRejection(
                    status: response.status, detail: detail(of: response), isPage: isPage(response),
                    message: message(in: response))),
            retryAfter: response.headers.retryAfter)
    }

    private func detail(of response: HTTPResponse) -> EndpointRejection.Detail? {
        switch response.status {
        case 300..<400:
            let location = response.headers["Location"]
            if let location, [url.target, url.origin + url.target].contains(location) { return .redirectToItself }
            return .redirect(to: location.flatMap(redactedDestination(of:)).map { ReportedText($0, without: secrets) })
        case 400:
            if !isEncrypted, Self.requiresHTTPS(response.body) { return .httpsExpected }
            if Self.mentionsClientCertificate(response.body) {
                return origin.sendsCertificate ? .certificateRejected : .certificateRequired
            }
            return Self.rejectsGrant(response.body) ? .spentGrant : nil
        case 405: return .allowedMethods(Self.methods(in: response.headers["Allow"]))
        default: return nil
        }
    }

    /// Returns a redirect's destination in a form that may be shown. The query is omitted, because it may be secret.
    /// The path on another host is omitted too, because it may be secret or differ at each attempt.
    private func redactedDestination(of location: String) -> String? {
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

    /// Whether the body is an OAuth error (RFC 6749, section 5.2) that rejects the grant in the request, such as a
    /// refresh token.
    private static func rejectsGrant(_ body: [UInt8]) -> Bool {
        (try? JSONValue(parsing: body))?["error"]?.stringValue == "invalid_grant"
    }

    /// Returns the methods in an `Allow` header; empty if the header contains anything else.
    private static func methods(in header: String?) -> [String] {
        let names = (header ?? "").split { $0 == "," || $0.isWhitespace }.map(String.init)
        let areMethods = names.allSatisfy { $0.count < 10 && $0.allSatisfy { $0.isASCII && $0.isUppercase } }
        return areMethods && names.count < 10 ? names : []
    }

    /// Whether the body is the message with which nginx, Apache, Go or Tomcat rejects plain HTTP on an HTTPS port.
    private static func requiresHTTPS(_ body: [UInt8]) -> Bool {
        let text = ReportedText(bytes: body.prefix(1000), limit: 1000).description.lowercased()
        return ["plain http", "to an https server", "requires tls"].contains(where: text.contains)
    }

    /// Whether the body is nginx's message about a missing or untrusted client certificate.
    private static func mentionsClientCertificate(_ body: [UInt8]) -> Bool {
        ReportedText(bytes: body.prefix(1000), limit: 1000).description.lowercased().contains("ssl certificate")
    }

    /// Whether the answer is a page that another server may have sent. Backends usually reject requests with JSON.
    /// Status 400 is excluded, because it may come from the backend's own front end, which requires a client
    /// certificate. Status 500 is excluded, because it may come from the backend itself. 502 and 504 are excluded,
    /// because they are clear anyway.
    private func isPage(_ response: HTTPResponse) -> Bool {
        response.status > 400 && ![500, 502, 504].contains(response.status) && AnswerKind(response.body) == .page
    }

    /// Returns the backend's message from JSON in the form of RFC 6749 (section 5.2), RFC 9457 or Google's servers.
    /// Returns `nil` if the message contains a number outside the requested id. Such a message may differ at each
    /// attempt, and would then be logged at each attempt.
    private func message(in response: HTTPResponse) -> ReportedText? {
        guard case .json(let text) = AnswerKind(response.body), let answer = try? JSONValue(parsing: text) else {
            return nil
        }
        let problem = answer["error"]?.objectValue == nil ? answer : answer["error"]
        let keys = ["error_description", "detail", "message", "reason", "error", "title"]
        guard let said = keys.lazy.compactMap({ problem?[$0]?.stringValue }).first else { return nil }
        let shown = ReportedText(said, without: secrets)
        let rest = shown.description.replacing(requestedID, with: "")
        return rest.contains(where: \.isLetter) && !rest.contains(where: \.isNumber) ? shown : nil
    }

    private var requestedID: String {
        switch origin.subject {
        case .vehicle(let id, _), .trip(let id): id
        case .shipment(let trackingID): trackingID
        case nil: ""
        }
    }

    /// Returns the error for a request that received no complete answer.
    func error(for failure: HTTPTransportError) -> AuthorizationError {
        guard failure.code != .cancelled else { return AuthorizationError(.cancelled) }
        // The message may begin with the endpoint's address, which `origin` already contains.
        let text = failure.detail.description
        let cause = text.hasPrefix("\(url.origin): ") ? text.dropFirst(url.origin.count + 2) : text[...]
        let message = ReportedText(cause, without: secrets, limit: ReportedText.maximumSentenceLength)
        let fault = ExchangeFault(failure, isEncrypted: isEncrypted, sendsCertificate: origin.sendsCertificate)
        return AuthorizationError(.unanswered(origin, fault, message))
    }
}

extension ExchangeFault {
    fileprivate init(_ error: HTTPTransportError, isEncrypted: Bool, sendsCertificate: Bool) {
        if let fault = error.proxyFault {
            self = .proxyFailed(fault)
            return
        }
        self =
            switch error.code {
            case .nameNotResolved: .nameNotResolved
            case .connectionFailed: .connectionFailed
            case .timedOut: .timedOut
            case .certificateNotTrusted: .untrustedCertificate(error.certificateFault)
            case .connectionLost, .tlsFailed:
                Self.brokenConnection(error, isEncrypted: isEncrypted, sendsCertificate: sendsCertificate)
            case .transportFailed, .cancelled: .clientFailed
            case .responseTooLarge: .answerTooLarge
            case .malformedResponse: .malformedAnswer
            case .unknownContentEncoding: .undecodableAnswer
            }
    }

    private static func brokenConnection(_ error: HTTPTransportError, isEncrypted: Bool, sendsCertificate: Bool) -> Self
    {
        switch error.tlsFault {
        case .certificateRequested: return sendsCertificate ? .certificateRejected : .certificateRequired
        case .noCommonVersion: return .oldTLS
        case nil where error.code == .tlsFailed: return .tlsFailed
        case nil: break
        }
        return error.traffic.bytesReceived > 0 ? .answerTruncated : .connectionLost(isEncrypted: isEncrypted)
    }
}

extension HTTPURL {
    /// The URL in a form that may be shown: without the values in its query, which may be secrets.
    var withoutQueryValues: String {
        guard let mark = target.firstIndex(of: "?") else { return origin + target }
        let names = target[target.index(after: mark)...].split(separator: "&").map { part in
            part.contains("=") ? "\(part.prefix { $0 != "=" })=…" : "…"
        }
        return origin + target[..<mark] + "?" + names.joined(separator: "&")
    }
}
