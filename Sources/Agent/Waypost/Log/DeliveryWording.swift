package import ReportedText
package import Reporting
import Conditions

/// The only place that puts the outcome of a delivery into words.
extension DeliveryOutcome {
    /// Why it isn't delivered, and what to do; empty if it is.
    package var reason: ReportedText {
        guard let fault else { return "" }
        // The message of an update that is rejected is kept with it; the other faults say what to do already.
        guard case .answered(let answer) = fault else { return fault.reason }
        switch self {
        case .delivered, .rejected, .unanswered: return answer.words
        case .tooLarge:
            return """
                \(answer.words); fewer updates are sent at once, and if one alone is too large as well, a captive portal \
                or a proxy is in the way; if not, correct upload.endpoint
                """
        case .intercepted:
            return """
                \(answer.words); a captive portal or a proxy seems to be in the way: sign in there, or use another network; \
                if there is none, correct upload.endpoint
                """
        case .prepareAgain, .retry, .throttled, .held: return "\(answer.words); \(answer.remedy)"
        }
    }

    /// The line of the log.
    var logLine: String {
        switch self {
        case .delivered: ""
        case .prepareAgain: "token rejected, updates are kept: \(reason)"
        case .retry: "upload failed, retry follows: \(reason)"
        case .unanswered: "Fleet Engine unreachable, retry follows: \(reason)"
        case .intercepted, .tooLarge: "upload intercepted, retry follows: \(reason)"
        case .throttled: "throttled, uploads go out less often for a while: \(reason)"
        case .held: "delivery is on hold, updates are kept: \(reason)"
        case .rejected: "Fleet Engine rejects an update: \(reason)"
        }
    }
}

extension DeliveryFault {
    /// What went wrong, and what to do if that doesn't depend on what an answer means.
    package var reason: ReportedText {
        switch self {
        case .noPermit(let missing): missing.sentence
        case .answered(let answer): answer.words
        case .unanswered(let lost): lost.reason
        case .aborted(.networkChanged, let lost):
            "\(lost.origin): the network changed, and no answer came on the old connection\(lost.routeInBrackets)"
        case .aborted(.newerPosition, let lost):
            """
            \(lost.origin): no answer while a newer position waited; it goes first, on a new \
            connection\(lost.routeInBrackets)
            """
        case .everythingRejected(let fault):
            """
            \(fault.reason); it rejects one update after another, so that something else is wrong: check \
            vehicle.service and upload.endpoint, and whether there is a newer release of Waypost
            """
        case .invalidAddress(let message): message
        }
    }
}

extension LostExchange {
    fileprivate var routeInBrackets: ReportedText { route.map { " (\($0))" } ?? "" }

    fileprivate var reason: ReportedText {
        switch cause {
        case .cancelled, .nameNotResolved, .connectionFailed, .timedOut, .connectionLost, .answerTooLarge,
            .clientFailed:
            message
        case .tlsFailed: "\(message); if it stays so, check that upload.endpoint names a port for https"
        case .untrustedCertificate(.outsideItsTime?):
            """
            \(message); set this machine's clock if it is wrong; if it is right, upload.endpoint, or a captive portal \
            or a proxy in the way, has a certificate of another time
            """
        case .untrustedCertificate(.ofUnknownAuthority?):
            """
            \(message); if its authority is your own, or that of a proxy that inspects TLS, add its authority's \
            certificate to upload.caFile, or use another network
            """
        case .untrustedCertificate(.ofAnotherName?), .untrustedCertificate(nil):
            """
            \(message); a captive portal or a proxy in the way, or this machine's clock is wrong; set upload.caFile if \
            its authority is your own
            """
        case .malformedAnswer:
            "\(message); a captive portal or a proxy seems to be in the way; if not, correct upload.endpoint"
        case .undecodableAnswer:
            "\(message); switch off the compression of answers in the proxy in the way, or correct upload.endpoint"
        }
    }
}

extension ServiceAnswer {
    /// What came, without a remedy.
    var words: ReportedText {
        switch (body, status) {
        case (.error(let message, _), _): "\(status) \(message)"
        case (_, 300..<400): "\(status) redirect, not followed"
        case (_, 511): "511 network authentication required"
        case (.empty, _): "\(status) with an empty body"
        case (.html, _): "\(status) with HTML, not Fleet Engine"
        case (.other, _): "\(status) with a body that is not Fleet Engine's"
        }
    }

    /// Who has to do what, for one who has never heard of the status.
    fileprivate var remedy: ReportedText {
        if case .error(_, about: .disabledService?) = body {
            return """
                let the Fleet Engine API be enabled for \(account) (gcloud services enable \
                fleetengine.googleapis.com), or correct vehicle.providerId
                """
        }
        if case .error(_, about: .disabledBilling?) = body {
            return """
                let billing be enabled for \(account) in the Google Cloud console, or correct \
                vehicle.providerId
                """
        }
        return switch status {
        case 401: tokenRemedy
        case 403:
            """
            let the backend name this vehicle in the token, and sign it as a service account of \(account) that has \
            the driver's role (waypost token shows what it signs), or correct vehicle.providerId
            """
        case 404:
            """
            let the backend create the vehicle, as a driver's token cannot, or correct vehicle.vehicleId, \
            vehicle.providerId, vehicle.service or upload.endpoint
            """
        case 429: "it passes by itself; if it comes often, lower upload.backlogUpdatesPerSecond"
        case 501 where isOfService:
            "let the Fleet Engine API be enabled for \(account), or correct vehicle.service"
        case 408, 409, 499, 500...:
            // The front of Fleet Engine writes HTML now and then, and so does a proxy whose server is away.
            isOfService
                ? "it passes by itself"
                : """
                it passes by itself; if it stays so, a proxy answers in Fleet Engine's place, or upload.endpoint names \
                another server
                """
        default: "it is tried again; if it stays so, check upload.endpoint"
        }
    }

    private var tokenRemedy: ReportedText {
        if case .error(_, about: .tokenTimes?) = body {
            return """
                check the clock of the backend, and that it makes a new token each time (waypost token shows what it \
                signs); let it sign with a key of a service account of \(account)
                """
        }
        return """
            let the backend sign with a key of a service account of \(account), and check its clock \
            (waypost token shows what it signs)
            """
    }
}

extension Presence {
    /// As operators know it.
    var words: String { rawValue.uppercased() }
}
