import FleetEngine
import ReportedText
package import Reporting
package import VehicleAuthorization

/// The follower's decisions: from an answer to what is reported and when to ask again. Pure; times are monotonic.
package struct FollowDecisions: Sendable {
    /// What the follower does next.
    package enum Step: Sendable, Hashable {
        /// Ask again after a pause.
        case read(after: Duration)
        /// Drop the token and ask again at once with a new one.
        case renewToken
        /// The trip has come to its end.
        case end
    }

    /// What is reported, and what comes next.
    package typealias Decision = (tell: [FollowEvent], next: Step)

    /// Between two questions: what the consumer SDKs ask for.
    private static let interval = Duration.seconds(5)
    /// An active vehicle reports at least once a minute (Fleet Engine guide).
    private static let longestSilence = Duration.seconds(60)

    private let retry: RetryPolicy
    private var failures = 0
    private var hasRenewedToken = false
    private var last: FollowedSnapshot?
    private var lastChange: Duration = .zero
    /// Told again only after twice the time.
    private var nextSilence = longestSilence
    private var trouble: ReportedText?

    package init(retry: RetryPolicy) { self.retry = retry }

    /// The route that the last answer carried; the next one need not repeat it.
    package var routeVersion: String? { last?.routeVersion }

    /// Decides after an answer; `jitter` is drawn from 0...1.
    package mutating func receive(_ outcome: ReadOutcome, at now: Duration, jitter: Double) -> Decision {
        switch outcome {
        case .seen(let snapshot): return see(snapshot, at: now, jitter: jitter)
        case .tokenRejected(let reason):
            failures += 1
            guard hasRenewedToken else {
                hasRenewedToken = true
                return ([], .renewToken)
            }
            // The next question begins with a new token as well: what was wrong may have been corrected there.
            hasRenewedToken = false
            return (complain(reason), .read(after: retry.holdDelay(jitter: jitter)))
        case .hold(let reason):
            failures += 1
            return (complain(reason), .read(after: retry.holdDelay(jitter: jitter)))
        case .retry(let reason, let after): return fail(reason, after: after, jitter: jitter)
        }
    }

    /// Decides when there is no token to ask with.
    package mutating func receive(noToken error: AuthorizationError, jitter: Double) -> Decision {
        fail("\(error)", after: error.retryAfter, jitter: jitter)
    }

    private mutating func see(_ snapshot: FollowedSnapshot, at now: Duration, jitter: Double) -> Decision {
        var events: [FollowEvent] = trouble == nil ? [] : [.recovered]
        failures = 0
        hasRenewedToken = false
        trouble = nil
        if last.map(snapshot.differs) ?? true {
            lastChange = now
            nextSilence = Self.longestSilence
            events.append(.changed(snapshot))
        } else if now - lastChange >= nextSilence {
            events.append(.silent(now - lastChange))
            nextSilence *= 2
        }
        // An unchanged route may come without its version.
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

    /// A tenth either way, so that many followers do not ask in step.
    private func pause(_ jitter: Double) -> Duration { Self.interval * (0.9 + 0.2 * jitter) }

    private mutating func complain(_ reason: ReportedText) -> [FollowEvent] {
        defer { trouble = reason }
        return trouble == reason ? [] : [.trouble(reason.description)]
    }
}
