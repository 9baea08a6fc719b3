import HTTPMessages
import ReportedText
import VehicleAuthorization

/// What a token endpoint's refusals, or its silence, mean: a table, with messages that name the endpoint.
struct TokenEndpointErrors {
    /// As `token endpoint https://backend.example.com/token?key=…`: the values of a query may be secrets.
    let name: String
    private let origin: String
    private let section: String
    private let secrets: [String]

    /// - Parameters:
    ///   - url: the address.
    ///   - section: where the configuration has it, as `authorization`.
    ///   - secrets: what the request holds and no word of the answer may repeat.
    init(_ url: HTTPURL, section: String, secrets: [String]) {
        (self.section, self.secrets) = (section, secrets)
        name = "token endpoint \(url.withoutQueryValues)"
        origin = url.origin
    }

    /// `nil` when the status is one of success.
    func refusal(_ response: HTTPResponse) -> AuthorizationError? {
        let status = response.status
        let retryAfter = RetryAfter(response.headers)?.delay
        let code: AuthorizationError.Code
        let advice: String
        switch status {
        case 200..<300: return nil
        case 300..<400:
            code = .unusableAnswer
            let target = response.headers["Location"].flatMap { try? HTTPURL($0) }
            let place = target.map { " to \(ReportedText($0.origin, without: secrets))" } ?? ""
            advice = "a redirect\(place), which is not followed; set \(section).url to the final address"
        case 400:
            code = .refused
            advice = "it does not understand the request; check \(section).url, headers, body and client certificate"
        case 401, 403:
            (code, advice) = (.refused, "it rejects our credentials; check \(section).headers")
        case 404, 410: (code, advice) = (.refused, "it does not know the address or the vehicle; check \(section).url")
        case 405: (code, advice) = (.refused, "it expects another method; check \(section).method")
        case 408, 425, 429, 500...:
            code = .unavailable
            // No figure in it: a text that changes would be reported again at each try.
            advice = "it cannot answer now; asked again \(retryAfter == nil ? "later" : "when its Retry-After is over")"
        default: (code, advice) = (.refused, "it rejects the request; check \(section).url and the backend's log")
        }
        return AuthorizationError(code, "\(name) answered \(status): \(advice)", retryAfter: retryAfter)
    }

    /// The exchange brought no answer.
    func failure(_ failure: HTTPTransportError) -> AuthorizationError {
        let code: AuthorizationError.Code
        let advice: String
        switch failure.code {
        case .cancelled: return AuthorizationError(.cancelled, "the request to the \(name) was cancelled")
        case .responseTooLarge:
            (code, advice) = (.unusableAnswer, "expected a small JSON object with the token; check \(section).url")
        case .malformedResponse: (code, advice) = (.unusableAnswer, "expected HTTP; check \(section).url")
        case .certificateNotTrusted:
            (code, advice) = (.unavailable, "set \(section).caFile if its authority is your own")
        case .transportFailed: (code, advice) = (.misconfigured, "check \(section)")
        case .nameNotResolved: (code, advice) = (.unavailable, "asked again later")
        case .connectionFailed: (code, advice) = (.unavailable, "check \(section).url, and that the backend runs")
        case .timedOut: (code, advice) = (.unavailable, "check the network and the backend's load")
        case .connectionLost: (code, advice) = (.unavailable, "asked again later")
        case .tlsFailed:
            advice = "check that \(section).url names a port for https, and the client certificate"
            code = .unavailable
        }
        // The name has the origin already.
        let words = failure.detail.description
        let detail = words.hasPrefix("\(origin): ") ? words.dropFirst(origin.count + 2) : words[...]
        return AuthorizationError(code, "\(name): \(detail); \(advice)")
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
