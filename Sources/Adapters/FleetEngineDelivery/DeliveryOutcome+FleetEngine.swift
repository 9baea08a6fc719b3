package import FleetEngine
package import HTTPMessages
package import Reporting
import StrictJSON

extension DeliveryOutcome {
    /// Determines the outcome from a response to an update of `vehicle`.
    ///
    /// - Parameters:
    ///   - response: any response, from Fleet Engine or from an intermediary such as a captive portal.
    ///   - request: the request, whose secrets the outcome must not repeat.
    ///   - vehicle: the vehicle of the update.
    package init(of response: HTTPResponse, to request: HTTPRequest, for vehicle: VehicleName) {
        self.init(of: response, to: request, naming: vehicle.description, account: vehicle.providerID)
    }

    /// Determines the outcome from a response, whose body must name `resource` to count as a success. `OutcomeTests`
    /// has the table of outcomes.
    package init(of response: HTTPResponse, to request: HTTPRequest, naming resource: String, account: String) {
        // Checked first, because nearly every response is of this form.
        if response.status == 200, Self.isResource(response.body, named: resource) {
            self = .delivered
            return
        }
        let error = FleetEngineError(response.body, without: request.secrets)
        let after = error?.retryDelay ?? response.headers.retryAfter
        let fault = DeliveryFault.answered(
            ServiceAnswer(
                status: response.status, body: ServiceAnswer.Body(response.body, error: error), account: account))
        switch response.status {
        case 400 where error != nil: self = .rejected(fault)
        case 401 where error != nil || response.body.isEmpty: self = .prepareAgain(fault)
        case 403 where error != nil: self = .prepareAgain(fault)
        case 404 where error != nil: self = .held(fault)
        case 413 where error != nil: self = .rejected(fault)
        // A 413 without Fleet Engine's error comes from a proxy, or from Fleet Engine's front end, which writes HTML.
        // The request was too large, but no update was rejected.
        case 413: self = .tooLarge(fault)
        case 429: self = .throttled(fault, after: after)
        case 501 where error != nil: self = .held(fault)
        // 408, 409, 499 and 5xx come from Fleet Engine, or from its front end, which sometimes writes HTML.
        case 408, 409, 499: self = .retry(fault, after: after)
        case 500..<600 where response.status != Self.networkAuthenticationRequired:
            self = .retry(fault, after: after)
        case _ where error != nil: self = .retry(fault, after: after)
        // These responses don't come from Fleet Engine: a redirect, HTML, an empty 200, or a 400, 401, 403 or 404
        // without Fleet Engine's error body. They say nothing about the update or the token.
        default: self = .intercepted(fault)
        }
    }

    /// Determines the outcome of an exchange with the server at `origin` that ended without a response.
    package init(of error: HTTPTransportError, from origin: String) {
        let fault = DeliveryFault.unanswered(LostExchange(error, origin: origin))
        switch error.code {
        case .nameNotResolved, .connectionFailed, .timedOut, .connectionLost, .tlsFailed: self = .unanswered(fault)
        case .certificateNotTrusted, .malformedResponse: self = .intercepted(fault)
        // The update may have been applied, and sending it repeatedly would not help.
        case .unknownContentEncoding: self = .held(fault)
        case .transportFailed: self = .held(fault)
        case .cancelled, .responseTooLarge: self = .retry(fault, after: nil)
        }
    }

    /// The status that only captive portals send (RFC 6585, section 6).
    private static let networkAuthenticationRequired = 511

    /// Whether `body` is the resource named `name`. Fleet Engine's response to an update contains the resource.
    private static func isResource(_ body: [UInt8], named name: String) -> Bool {
        (try? JSONValue(parsing: body))?["name"]?.stringValue == name
    }
}
