package import HTTPMessages
package import ReportedText
import StrictJSON

/// What an answer means for the updates that were sent, and so what happens next.
package enum UploadOutcome: Sendable, Hashable {
    /// Fleet Engine has them.
    case delivered
    /// The token was rejected: once more with a new one, then hold.
    case tokenRefused(reason: ReportedText)
    /// Will pass by itself: again after a backoff, and not before `after`.
    case retry(reason: ReportedText, after: Duration?)
    /// Too much for the server: again after a backoff, not before `after`, and less often from then on.
    case throttled(reason: ReportedText, after: Duration?)
    /// No answer came: the network path to Fleet Engine is interrupted, and may work again at any moment.
    case unreachable(reason: ReportedText)
    /// An intermediary answered in Fleet Engine's place, a captive portal or a proxy: again after a backoff, or
    /// when the network changes. `forSize`: it found the request too large, so that a smaller one goes first.
    case intercepted(reason: ReportedText, forSize: Bool = false)
    /// Waypost cannot resolve it itself (the vehicle does not exist, the API is off): probe slowly, keep everything.
    case hold(reason: ReportedText)
    /// This request will never be accepted as it is.
    case rejected(reason: ReportedText)

    /// Whether it counts as an attempt that failed. What puts delivery on hold does not: Waypost cannot resolve it
    /// itself, and nothing was wrong with the update or the network.
    package var isFailedAttempt: Bool {
        switch self {
        case .retry, .throttled, .unreachable, .intercepted, .rejected: true
        case .delivered, .tokenRefused, .hold: false
        }
    }

    /// The server's words, or what went wrong on the way; empty when delivered.
    package var reason: ReportedText {
        switch self {
        case .delivered: ""
        case .tokenRefused(let reason), .retry(let reason, _), .throttled(let reason, _), .unreachable(let reason),
            .intercepted(let reason, _), .hold(let reason), .rejected(let reason):
            reason
        }
    }
}

extension UploadOutcome {
    /// Judges an answer to an update of `vehicle`.
    ///
    /// - Parameters:
    ///   - response: any answer, from Fleet Engine or from an intermediary (a captive portal).
    ///   - request: what was answered; nothing secret in it is repeated.
    ///   - vehicle: whom the update was for.
    package init(of response: HTTPResponse, to request: HTTPRequest, for vehicle: VehicleName) {
        self.init(of: response, to: request, naming: vehicle.description)
        guard self != .delivered else { return }  // what it comes to nearly always needs no words
        let words = ReportedText(reason.description, limit: ReportedText.longestSentence)
        let error = FleetEngineError(response.body, without: request.secrets)
        let remedy =
            error?.projectFault.map { Self.remedy(for: $0, vehicle) }
            ?? Self.remedy(for: response.status, vehicle, reason: reason.description, isOfFleetEngine: error != nil)
        let advised: ReportedText = "\(words); \(remedy)"
        switch self {
        case .tokenRefused: self = .tokenRefused(reason: advised)
        case .hold: self = .hold(reason: advised)
        case .retry(_, let after): self = .retry(reason: advised, after: after)
        case .throttled(_, let after): self = .throttled(reason: advised, after: after)
        // The words of one that is rejected are kept with the update; the others say what to do already.
        case .delivered, .rejected, .unreachable, .intercepted: break
        }
    }

    /// Who has to do what about a status that was answered to an update, for one who has never heard of it.
    private static func remedy(
        for status: Int, _ vehicle: VehicleName, reason: String, isOfFleetEngine: Bool
    ) -> ReportedText {
        switch status {
        case 401 where namesTime(reason):
            """
            check the clock of the backend, and that it makes a new token each time (waypost token shows what it \
            signs); let it sign with a key of a service account of \(vehicle.providerID)
            """
        case 401:
            """
            let the backend sign with a key of a service account of \(vehicle.providerID), and check its clock \
            (waypost token shows what it signs)
            """
        case 403:
            """
            let the backend name this vehicle in the token, and sign it as a service account of \
            \(vehicle.providerID) that has the driver's role (waypost token shows what it signs), or correct vehicle.providerId
            """
        case 404:
            """
            let the backend create the vehicle, as a driver's token cannot, or correct vehicle.vehicleId, \
            vehicle.providerId, vehicle.service or upload.endpoint
            """
        case 429: "it passes by itself; if it comes often, lower upload.backlogUpdatesPerSecond"
        case 501 where isOfFleetEngine:
            "let the Fleet Engine API be enabled for \(vehicle.providerID), or correct vehicle.service"
        case 408, 409, 499, 500...:
            // The front of Fleet Engine writes HTML now and then, and so does a proxy whose server is away.
            isOfFleetEngine
                ? "it passes by itself"
                : """
                it passes by itself; if it stays so, a proxy answers in Fleet Engine's place, or upload.endpoint names \
                another server
                """
        default: "it is tried again; if it stays so, check upload.endpoint"
        }
    }

    /// What the owner of the project has to do.
    private static func remedy(for fault: FleetEngineError.ProjectFault, _ vehicle: VehicleName) -> ReportedText {
        switch fault {
        case .serviceDisabled:
            """
            let the Fleet Engine API be enabled for \(vehicle.providerID) (gcloud services enable \
            fleetengine.googleapis.com), or correct vehicle.providerId
            """
        case .billingDisabled:
            """
            let billing be enabled for \(vehicle.providerID) in the Google Cloud console, or correct \
            vehicle.providerId
            """
        }
    }

    /// Whether a token was rejected for its times, as far as the server's words tell.
    private static func namesTime(_ reason: String) -> Bool {
        reason.lowercased().split { !$0.isLetter }.contains { ["iat", "exp", "nbf", "expired", "clock"].contains($0) }
    }

    /// Judges an answer that must name `resource`; the table is `Outcome` in the tests.
    init(of response: HTTPResponse, to request: HTTPRequest, naming resource: String) {
        // First, and by itself: it is the answer to nearly every request.
        if response.status == 200, Self.isResource(response.body, named: resource) {
            self = .delivered
            return
        }
        let error = FleetEngineError(response.body, without: request.secrets)
        let after = error?.retryDelay ?? response.headers.retryAfter
        let words = Self.words(of: response, error)
        switch response.status {
        case 400 where error != nil: self = .rejected(reason: words)
        case 401 where error != nil || response.body.isEmpty: self = .tokenRefused(reason: words)
        case 403 where error != nil: self = .tokenRefused(reason: words)
        case 404 where error != nil: self = .hold(reason: words)
        case 413 where error != nil: self = .rejected(reason: words)
        // Of a proxy, or of Fleet Engine's front, which writes HTML: a limit of size, and no verdict on an update.
        case 413:
            self = .intercepted(
                reason: """
                    \(words); fewer updates are sent at once, and if one alone is too large as well, a captive portal \
                    or a proxy is in the way; if not, correct upload.endpoint
                    """, forSize: true)
        case 429: self = .throttled(reason: words, after: after)
        case 501 where error != nil: self = .hold(reason: words)
        // Fleet Engine's own, or its front's, which writes HTML now and then: 408, 409, 499, 5xx.
        case 408, 409, 499: self = .retry(reason: words, after: after)
        case 500..<600 where response.status != Self.networkAuthenticationRequired:
            self = .retry(reason: words, after: after)
        case _ where error != nil: self = .retry(reason: words, after: after)
        // What Fleet Engine would not say: a redirect, HTML, an empty 200, a 400, 401, 403 or 404 without its error
        // body. It is no verdict on the update or the token.
        default:
            self = .intercepted(
                reason: """
                    \(words); a captive portal or a proxy seems to be in the way: sign in there, or use another network; \
                    if there is none, correct upload.endpoint
                    """)
        }
    }

    /// Judges an exchange that brought no answer.
    package init(of error: HTTPTransportError) {
        switch error.code {
        case .transportFailed: self = .hold(reason: error.detail)
        case .nameNotResolved, .connectionFailed, .timedOut, .connectionLost:
            self = .unreachable(reason: error.detail)
        case .tlsFailed:
            self = .unreachable(
                reason: "\(error.detail); if it stays so, check that upload.endpoint names a port for https")
        case .certificateNotTrusted where error.certificateFault == .outsideItsTime:
            self = .intercepted(
                reason: """
                    \(error.detail); set this machine's clock if it is wrong; if it is right, upload.endpoint, or a \
                    captive portal or a proxy in the way, has a certificate of another time
                    """)
        case .certificateNotTrusted where error.certificateFault == .ofUnknownAuthority:
            self = .intercepted(
                reason: """
                    \(error.detail); if its authority is your own, or that of a proxy that inspects TLS, add its \
                    authority's certificate to upload.caFile, or use another network
                    """)
        case .certificateNotTrusted:
            self = .intercepted(
                reason: """
                    \(error.detail); a captive portal or a proxy in the way, or this machine's clock is wrong; set \
                    upload.caFile if its authority is your own
                    """)
        case .malformedResponse:
            self = .intercepted(
                reason:
                    "\(error.detail); a captive portal or a proxy seems to be in the way; if not, correct upload.endpoint"
            )
        // The update may have been applied, and sending it often would not help.
        case .unknownContentEncoding:
            self = .hold(
                reason: """
                    \(error.detail); switch off the compression of answers in the proxy in the way, or correct \
                    upload.endpoint
                    """)
        case .cancelled, .responseTooLarge: self = .retry(reason: error.detail, after: nil)
        }
    }

    /// RFC 6585, section 6: said by captive portals alone.
    private static let networkAuthenticationRequired = 511

    private static func words(of response: HTTPResponse, _ error: FleetEngineError?) -> ReportedText {
        if let error { return "\(response.status) \(error.summary)" }
        switch response.status {
        case 300..<400: return "\(response.status) redirect, not followed"
        case networkAuthenticationRequired: return "511 network authentication required"
        case _ where response.body.isEmpty: return "\(response.status) with an empty body"
        case _ where response.body.starts(with: Array("<".utf8)):
            return "\(response.status) with HTML, not Fleet Engine"
        default: return "\(response.status) with a body that is not Fleet Engine's"
        }
    }

    /// Whether `body` is the resource: the answer echoes its name.
    private static func isResource(_ body: [UInt8], named name: String) -> Bool {
        (try? JSONValue(parsing: body))?["name"]?.stringValue == name
    }
}
