import FoundationEssentials
package import HTTPMessages

extension UploadOutcome {
    /// Judges an answer to an update of `vehicle`.
    ///
    /// `response`: any answer, from Fleet Engine or from whatever stands in its place (a captive portal).
    package init(of response: HTTPResponse, for vehicle: VehicleName) {
        self.init(of: response, naming: vehicle.description)
    }

    /// Judges an answer that must name `resource`; the table is `Outcome` in the tests.
    init(of response: HTTPResponse, naming resource: String) {
        let error = FleetEngineError(response.body)
        let after = error?.retryDelay ?? RetryAfter(response.headers)?.delay
        let words = Self.words(of: response, error)
        switch response.status {
        case 200 where Self.isResource(response.body, named: resource): self = .delivered
        case 400 where error != nil: self = .rejected(reason: words)
        case 401: self = .tokenRefused(reason: words)
        case 403 where error != nil: self = .tokenRefused(reason: words)
        case 404 where error != nil: self = .hold(reason: words)
        case 409: self = .retry(reason: words, after: after)
        case 413: self = .rejected(reason: words)
        case 501 where error != nil: self = .hold(reason: words)
        // 408, 429, 499, 5xx; and everything that Fleet Engine would not say: redirects, HTML, an empty 200, a 400,
        // 403 or 404 without its error body. Some network in between answered; it is no verdict on the update.
        default: self = .retry(reason: words, after: after)
        }
    }

    /// Judges an exchange that brought no answer.
    package init(of error: HTTPTransportError) {
        switch error.code {
        case .certificateNotTrusted, .transportFailed: self = .hold(reason: error.detail)
        case .nameNotResolved, .connectionFailed, .timedOut, .connectionLost:
            self = .unreachable(reason: error.detail)
        case .cancelled, .tlsFailed, .responseTooLarge, .malformedResponse:
            self = .retry(reason: error.detail, after: nil)
        }
    }

    private static func words(of response: HTTPResponse, _ error: FleetEngineError?) -> String {
        if let error { return "\(response.status) \(error.summary)" }
        switch response.status {
        case 300..<400: return "\(response.status) redirect, not followed; is there a login page in the way?"
        case _ where response.body.isEmpty: return "\(response.status) with an empty body"
        case _ where response.body.starts(with: Array("<".utf8)):
            return "\(response.status) with HTML, not Fleet Engine; is there a login page or proxy in the way?"
        default: return "\(response.status) with a body that is not Fleet Engine's"
        }
    }

    /// Whether `body` is the resource: the answer echoes its name.
    private static func isResource(_ body: [UInt8], named name: String) -> Bool {
        struct Resource: Decodable { let name: String? }
        guard let resource = try? JSONDecoder().decode(Resource.self, from: Data(body)) else { return false }
        return resource.name == name
    }
}
