import FleetEngine
import ReportedText
package import Reporting
package import VehicleAuthorization

/// Decides after each answer what a follower reports, and when the follower sends its next request. Times are
/// monotonic.
package struct FollowDecisions: Sendable {
    /// The follower's next step.
    package enum Step: Sendable, Hashable {
        /// Send the next request after a pause.
        case read(after: Duration)
        /// Discard the token and send the request again at once with a new one.
        case renewToken
        /// The trip has ended.
        case end
    }

    /// The events to report, and the next step.
    package typealias Decision = (events: [FollowEvent], next: Step)

    /// The time between two requests, the same as in the consumer SDKs.
    private static let interval = Duration.seconds(5)
    /// The time without change after which a vehicle is reported as silent. An active vehicle reports at least once
    /// per minute (Fleet Engine guide).
    private static let maximumSilence = Duration.seconds(60)

    private let retry: RetryPolicy
    private var failures = 0
    private var hasRenewedToken = false
    private var last: FollowedSnapshot?
    private var lastChange: Duration = .zero
    /// The time without change after which silence is reported next; it doubles with each report.
    private var nextSilence = maximumSilence
    private var trouble: ReportedText?

    package init(retry: RetryPolicy) { self.retry = retry }

    /// The version of the known route. The next request states it, so that the answer needn't repeat the route.
    package var routeVersion: String? { last?.routeVersion }

    /// Returns the decision after an answer. `jitter` is drawn from 0...1.
    package mutating func receive(_ outcome: ReadOutcome, at now: Duration, jitter: Double) -> Decision {
        switch outcome {
        case .seen(let snapshot): return decide(after: snapshot, at: now, jitter: jitter)
        case .tokenRejected(let reason):
            failures += 1
            guard hasRenewedToken else {
                hasRenewedToken = true
                return ([], .renewToken)
            }
            // The next request also gets a new token, because the issuer may have been corrected.
            hasRenewedToken = false
            return (complain(reason), .read(after: retry.holdDelay(jitter: jitter)))
        case .hold(let reason):
            failures += 1
            return (complain(reason), .read(after: retry.holdDelay(jitter: jitter)))
        case .retry(let reason, let after): return fail(reason, after: after, jitter: jitter)
        }
    }

    /// Returns the decision after the provider has failed to return a token.
    package mutating func receive(tokenError error: AuthorizationError, jitter: Double) -> Decision {
        fail("\(error)", after: error.retryAfter, jitter: jitter)
    }

    private mutating func decide(after snapshot: FollowedSnapshot, at now: Duration, jitter: Double) -> Decision {
        var events: [FollowEvent] = trouble == nil ? [] : [.recovered]
        failures = 0
        hasRenewedToken = false
        trouble = nil
        if last.map(snapshot.differs) ?? true {
            lastChange = now
            nextSilence = Self.maximumSilence
            events.append(.changed(snapshot))
        } else if now - lastChange >= nextSilence {
            events.append(.silent(now - lastChange))
            nextSilence *= 2
        }
        // An answer may omit the version of an unchanged route.
        let version = snapshot.routeVersion ?? last?.routeVersion
        last = snapshot
        last?.routeVersion = version
        return (events, snapshot.isOver ? .end : .read(after: pause(jitter)))
    }

    private mutating func fail(_ reason: ReportedText, after: Duration?, jitter: Double) -> Decision {
        failures += 1
        let backoff = retry.delay(beforeRetry: failures, jitter: jitter, after: after)
        return (complain(reason), .read(after: max(pause(jitter), backoff)))
    }

    /// Returns the pause before the next request: the interval ± 10 %, so that followers don't send in step.
    private func pause(_ jitter: Double) -> Duration { Self.interval * (0.9 + 0.2 * jitter) }

    private mutating func complain(_ reason: ReportedText) -> [FollowEvent] {
        defer { trouble = reason }
        return trouble == reason ? [] : [.trouble(reason.description)]
    }
}
