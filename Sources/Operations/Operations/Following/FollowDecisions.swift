import FleetEngine
import ReportedText
package import Reporting
package import VehicleAuthorization

/// The decisions of a follower after each response: which events it reports, and when it sends its next request. Times
/// are monotonic.
package struct FollowDecisions: Sendable {
    /// The next thing that the follower must do.
    package enum Step: Sendable, Hashable {
        /// Send the next request after a pause.
        case sendRequest(after: Duration)
        /// Discard the token, and immediately send the request again with a new one.
        case renewToken
        /// Stop, because the trip has ended.
        case end
    }

    /// The events to report, and what to do next.
    package typealias Decision = (events: [FollowEvent], next: Step)

    /// The mean time between two requests. The consumer SDKs use the same time.
    private static let requestInterval = Duration.seconds(5)
    /// The time after which an unchanged vehicle is reported as silent. An active vehicle sends an update at least once
    /// per minute (Fleet Engine guide).
    private static let maximumSilence = Duration.seconds(60)

    private let retry: RetryPolicy
    private var failures = 0
    private var hasRenewedToken = false
    private var lastSnapshot: FollowedSnapshot?
    private var lastChange: Duration = .zero
    /// The time after the last change at which silence is reported next. It doubles with each report.
    private var nextSilence = maximumSilence
    private var lastTrouble: ReportedText?

    package init(retry: RetryPolicy) { self.retry = retry }

    /// The version of the route that the follower already has. The next request contains it, so that the response
    /// needn't repeat the route.
    package var routeVersion: String? { lastSnapshot?.routeVersion }

    /// Returns the decision after a response with this outcome. `jitter` is a random number from 0...1.
    package mutating func receive(_ outcome: ReadOutcome, at now: Duration, jitter: Double) -> Decision {
        switch outcome {
        case .seen(let snapshot): return decide(after: snapshot, at: now, jitter: jitter)
        case .tokenRejected(let reason):
            failures += 1
            guard hasRenewedToken else {
                hasRenewedToken = true
                return ([], .renewToken)
            }
            // After the pause, a new token is requested again, because the token's issuer may have been corrected by
            // then.
            hasRenewedToken = false
            return (failureEvents(for: reason), .sendRequest(after: retry.holdDelay(jitter: jitter)))
        case .hold(let reason):
            failures += 1
            return (failureEvents(for: reason), .sendRequest(after: retry.holdDelay(jitter: jitter)))
        case .retry(let reason, let after): return decide(afterFailure: reason, retryAfter: after, jitter: jitter)
        }
    }

    /// Returns the decision after the token provider has failed.
    package mutating func receive(tokenError error: AuthorizationError, jitter: Double) -> Decision {
        decide(afterFailure: "\(error)", retryAfter: error.retryAfter, jitter: jitter)
    }

    private mutating func decide(after snapshot: FollowedSnapshot, at now: Duration, jitter: Double) -> Decision {
        var events: [FollowEvent] = lastTrouble == nil ? [] : [.recovered]
        failures = 0
        hasRenewedToken = false
        lastTrouble = nil
        if lastSnapshot.map(snapshot.differs) ?? true {
            lastChange = now
            nextSilence = Self.maximumSilence
            events.append(.changed(snapshot))
        } else if now - lastChange >= nextSilence {
            events.append(.silent(now - lastChange))
            nextSilence *= 2
        }
        // A response may omit the route's version if the route hasn't changed.
        let version = snapshot.routeVersion ?? lastSnapshot?.routeVersion
        lastSnapshot = snapshot
        lastSnapshot?.routeVersion = version
        return (events, snapshot.isOver ? .end : .sendRequest(after: pause(jitter: jitter)))
    }

    private mutating func decide(afterFailure reason: ReportedText, retryAfter: Duration?, jitter: Double) -> Decision {
        failures += 1
        let backoff = retry.delay(beforeRetry: failures, jitter: jitter, requestedDelay: retryAfter)
        return (failureEvents(for: reason), .sendRequest(after: max(pause(jitter: jitter), backoff)))
    }

    /// Returns the pause before the next request. It varies by ± 10 %, so that followers don't all send at the same
    /// time.
    private func pause(jitter: Double) -> Duration { Self.requestInterval * (0.9 + 0.2 * jitter) }

    private mutating func failureEvents(for reason: ReportedText) -> [FollowEvent] {
        defer { lastTrouble = reason }
        return lastTrouble == reason ? [] : [.trouble(reason.description)]
    }
}
