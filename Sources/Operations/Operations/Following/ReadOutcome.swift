import Conditions
package import FleetEngine
import FleetEngineDelivery
package import HTTPMessages
package import ReportedText
import Reporting
import StrictJSON

/// The meaning of a response for a follower. Responses are classified by the same rules as in `DeliveryOutcome`.
package enum ReadOutcome: Sendable, Hashable {
    case seen(FollowedSnapshot)
    /// The token was rejected. The follower tries once with a new token. If that fails too, it waits longer before the
    /// next attempt.
    case tokenRejected(reason: ReportedText)
    /// The failure is temporary. The follower tries again after a backoff of at least `after`.
    case retry(reason: ReportedText, after: Duration?)
    /// The failure lasts until an operator corrects its cause, such as an unknown trip or a disabled API.
    case hold(reason: ReportedText)

    /// Creates the outcome of the request for `resource` from its response.
    package init(of response: HTTPResponse, to request: HTTPRequest, for resource: FollowedResource) {
        let outcome = DeliveryOutcome(of: response, to: request, naming: resource.description, account: "")
        self.init(outcome) {
            (try? JSONValue(parsing: response.body)).flatMap {
                FollowedSnapshot($0, named: resource.description, without: request.secrets)
            }
        }
        if response.status == 404, case .hold(let reason) = self {
            self = .hold(reason: "\(reason); correct the id, or create the trip or vehicle in the backend")
        }
    }

    /// Creates the outcome of a request that has received no response.
    package init(of error: HTTPTransportError) {
        self.init(DeliveryOutcome(of: error, from: "")) { nil }
    }

    private init(_ outcome: DeliveryOutcome, snapshot: () -> FollowedSnapshot?) {
        switch outcome {
        case .delivered:
            self =
                snapshot().map(Self.seen)
                ?? .retry(reason: "200 with a body that is not valid JSON", after: nil)
        // Only the cause is used, because the remedies apply to sending updates, not to following.
        case .prepareAgain(let fault): self = .tokenRejected(reason: Condition(fault).cause)
        case .retry(let fault, let after), .throttled(let fault, let after):
            self = .retry(reason: Condition(fault).cause, after: after)
        case .unanswered(let fault), .intercepted(let fault), .tooLarge(let fault):
            self = .retry(reason: (Condition(outcome) ?? Condition(fault)).explanation, after: nil)
        case .held(let fault), .rejected(let fault): self = .hold(reason: Condition(fault).cause)
        }
    }
}
