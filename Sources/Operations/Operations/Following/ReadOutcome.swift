import Conditions
package import FleetEngine
import FleetEngineDelivery
package import HTTPMessages
package import ReportedText
import Reporting
import StrictJSON

/// What an answer means for a follower of a trip or vehicle; the same table as for updates, seen by a reader.
package enum ReadOutcome: Sendable, Hashable {
    case seen(FollowedSnapshot)
    /// The token was rejected: once more with a new one, then hold.
    case tokenRejected(reason: ReportedText)
    /// Will pass by itself: again after a backoff, and not before `after`.
    case retry(reason: ReportedText, after: Duration?)
    /// Waypost cannot resolve it itself: there is no such trip, the API is off.
    case hold(reason: ReportedText)

    /// Judges an answer to the question for `resource`.
    package init(of response: HTTPResponse, to request: HTTPRequest, for resource: FollowedResource) {
        let outcome = DeliveryOutcome(of: response, to: request, naming: resource.description, account: "")
        self.init(outcome) {
            (try? JSONValue(parsing: response.body)).flatMap {
                FollowedSnapshot($0, named: resource.description, without: request.secrets)
            }
        }
        if response.status == 404, case .hold(let reason) = self {
            self = .hold(reason: "\(reason); correct the id, or let the backend create it")
        }
    }

    /// Judges an exchange that brought no answer.
    package init(of error: HTTPTransportError) {
        self.init(DeliveryOutcome(of: error, from: "")) { nil }
    }

    private init(_ outcome: DeliveryOutcome, snapshot: () -> FollowedSnapshot?) {
        switch outcome {
        case .delivered:
            self =
                snapshot().map(Self.seen)
                ?? .retry(reason: "200 with a body that is not valid JSON", after: nil)
        // The remedies of an update are none for a reader.
        case .prepareAgain(let fault): self = .tokenRejected(reason: Condition(fault).cause)
        case .retry(let fault, let after), .throttled(let fault, let after):
            self = .retry(reason: Condition(fault).cause, after: after)
        case .unanswered(let fault), .intercepted(let fault), .tooLarge(let fault):
            self = .retry(reason: (Condition(outcome) ?? Condition(fault)).explanation, after: nil)
        case .held(let fault), .rejected(let fault): self = .hold(reason: Condition(fault).cause)
        }
    }
}
