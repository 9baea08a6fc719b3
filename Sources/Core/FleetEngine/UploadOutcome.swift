package import ReportedText

/// What an answer means for the updates that were sent, and so what happens next.
package enum UploadOutcome: Sendable, Hashable {
    /// Fleet Engine has them.
    case delivered
    /// The token was refused: once more with a new one, then hold.
    case tokenRefused(reason: ReportedText)
    /// Will pass by itself: again after a backoff, and not before `after`.
    case retry(reason: ReportedText, after: Duration?)
    /// Too much for the server: again after a backoff, not before `after`, and seldomer from then on.
    case throttled(reason: ReportedText, after: Duration?)
    /// No answer came: the way to Fleet Engine is interrupted, and may be whole again at any moment.
    case unreachable(reason: ReportedText)
    /// Somebody in between answered in Fleet Engine's place, a captive portal or a proxy: again after a backoff, or
    /// when the network changes.
    case intercepted(reason: ReportedText)
    /// Only somebody else can mend it (the vehicle does not exist, the API is off): probe slowly, keep everything.
    case hold(reason: ReportedText)
    /// This request will never be accepted as it is.
    case rejected(reason: ReportedText)

    /// Whether it counts as an attempt that failed. What delivery is held for does not: only somebody else can mend it,
    /// and nothing about the update or the way to the server was wrong.
    package var isFailedAttempt: Bool {
        switch self {
        case .retry, .throttled, .unreachable, .intercepted, .rejected: true
        case .delivered, .tokenRefused, .hold: false
        }
    }

    /// Whether only somebody else can mend it.
    package var isHold: Bool {
        if case .hold = self { true } else { false }
    }

    /// The server's words, or what went wrong on the way; empty when delivered.
    package var reason: ReportedText {
        switch self {
        case .delivered: ""
        case .tokenRefused(let reason), .retry(let reason, _), .throttled(let reason, _), .unreachable(let reason),
            .intercepted(let reason), .hold(let reason), .rejected(let reason):
            reason
        }
    }
}
