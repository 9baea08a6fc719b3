import GNSS
import LinuxPlatform
package import Reporting
package import TimeAndChance

/// Measures the requests of a replay's vehicles: their durations and their failures.
package final class RequestMeter: ReportingObserver {
    private let systemTime: (@Sendable () -> UTCTime)?
    private let state = Locked(RequestFigures())

    /// Creates a meter. Pass `systemTime`, which returns the host's time, only if each fix carries the time at which it
    /// is due; with `nil`, no lag is measured.
    package init(systemTime: (@Sendable () -> UTCTime)? = nil) { self.systemTime = systemTime }

    package var figures: RequestFigures { state.withLock { $0 } }

    package func observe(_ event: ReportingEvent) {
        switch event {
        case .fix(let fix):
            guard let systemTime else { return }
            let lag = fix.timeOfFix.duration(to: systemTime())
            state.withLock { $0.longestLag = max($0.longestLag ?? .zero, lag) }
        case .delivered(_, _, let took): state.withLock { $0.countAnswer(after: took) }
        case .failed(let outcome, _, let took):
            guard let fault = outcome.fault else { return }
            state.withLock { figures in
                figures.countFailure(fault.key)
                if case .answered = fault, let took { figures.countAnswer(after: took) }
            }
        case .notPrepared: state.withLock { $0.countFailure("noToken") }
        default: break
        }
    }
}

extension DeliveryFault {
    /// The key under which a replay counts the fault: the status of an answer, or the reason for a missing answer.
    fileprivate var key: String {
        switch self {
        case .noPermit: "noToken"
        case .answered(let answer): "\(answer.status)"
        case .unanswered(let lost), .aborted(_, let lost): lost.cause.key
        case .everythingRejected(let fault): fault.key
        case .invalidAddress: "invalidAddress"
        }
    }
}

extension LostExchange.Cause {
    fileprivate var key: String {
        switch self {
        case .untrustedCertificate: "untrustedCertificate"
        default: "\(self)"
        }
    }
}

/// The durations of requests, and the counts of failures by reason.
package struct RequestFigures: Sendable, Hashable {
    /// The durations in seconds, to within 5 %; the requests' time limits bound them.
    private var seconds = Distribution(from: 0.0001, to: 600, step: 1.05)
    /// Failures by status, or by the reason why there was no answer; `noToken` if there was no token.
    package private(set) var failures: [String: Int] = [:]
    /// The maximum delay in reading a fix; `nil` if it isn't measured.
    package fileprivate(set) var longestLag: Duration?

    package init() {}

    package var answers: Int { seconds.count }
    package var longestAnswer: Duration { .seconds(seconds.maximum) }

    /// Counts an answer that arrived after `duration`.
    package mutating func countAnswer(after duration: Duration) { seconds.add(duration / .seconds(1)) }

    /// Counts a request that failed for `reason`.
    package mutating func countFailure(_ reason: String) { failures[reason, default: 0] += 1 }

    /// Returns the time within which `share` of all answers arrived, to within 5 %; `nil` before the first answer.
    package func time(of share: Double) -> Duration? { seconds.quantile(share).map { .seconds($0) } }

    /// A list of failures, the most frequent first, such as `12 x 503, 3 x timedOut`; `nil` if there are none.
    package var failureList: String? { Self.list(of: failures) }

    package static func list(of failures: [String: Int]) -> String? {
        let sorted = failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return sorted.isEmpty ? nil : sorted.map { "\($0.value) x \($0.key)" }.joined(separator: ", ")
    }
}
