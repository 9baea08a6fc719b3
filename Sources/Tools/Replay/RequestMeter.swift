import GNSS
import LinuxPlatform
import Reporting
import TimeAndRandomness

/// A meter of a replay's requests: how long they take, and how many fail.
final class RequestMeter: ReportingObserver {
    private let systemTime: (@Sendable () -> UTCTime)?
    private let state = Locked(RequestFigures())

    /// Creates a meter. Pass `systemTime`, which returns the host's time, only if each fix carries the time at which it
    /// is due: the difference shows how late the fix is read. If `systemTime` is `nil`, the lateness isn't measured.
    init(systemTime: (@Sendable () -> UTCTime)? = nil) { self.systemTime = systemTime }

    var figures: RequestFigures { state.withLock { $0 } }

    func observe(_ event: ReportingEvent) {
        switch event {
        case .fix(let fix):
            guard let systemTime else { return }
            let lag = fix.timeOfFix.duration(to: systemTime())
            state.withLock { $0.maximumLag = max($0.maximumLag ?? .zero, lag) }
        case .delivered(_, _, let took): state.withLock { $0.countAnswer(after: took) }
        case .failed(let outcome, _, let took):
            guard let fault = outcome.fault else { return }
            state.withLock { figures in
                figures.countFailure(fault.failureName)
                if case .answered = fault, let took { figures.countAnswer(after: took) }
            }
        case .notPrepared: state.withLock { $0.countFailure("noToken") }
        default: break
        }
    }
}

extension DeliveryFault {
    /// The name under which failures of this kind are counted: the status of the response, or the reason why there was
    /// no response.
    fileprivate var failureName: String {
        switch self {
        case .noPermit: "noToken"
        case .answered(let answer): "\(answer.status)"
        case .unanswered(let lost), .aborted(_, let lost): lost.cause.failureName
        case .everythingRejected(let fault): fault.failureName
        case .invalidAddress: "invalidAddress"
        }
    }
}

extension LostExchange.Cause {
    fileprivate var failureName: String {
        switch self {
        case .untrustedCertificate: "untrustedCertificate"
        default: "\(self)"
        }
    }
}

/// The durations of requests, and the number of failures for each reason.
struct RequestFigures: Sendable, Hashable {
    /// The durations in seconds, with a precision of 5 %. They can't exceed the time limit for a request.
    private var seconds = Distribution(from: 0.0001, to: 600, step: 1.05)
    /// The number of failures by the status of the response, or by the reason why there was no response. The key
    /// `noToken` means that there was no token.
    private(set) var failures: [String: Int] = [:]
    /// The maximum delay between the time of a fix and its reading; `nil` if the delay isn't measured.
    fileprivate(set) var maximumLag: Duration?

    init() {}

    var answerCount: Int { seconds.count }
    var maximumAnswer: Duration { .seconds(seconds.maximum) }

    /// Counts a request whose response arrived after `duration`.
    mutating func countAnswer(after duration: Duration) { seconds.add(duration / .seconds(1)) }

    /// Counts a request that has failed for `reason`.
    mutating func countFailure(_ reason: String) { failures[reason, default: 0] += 1 }

    /// Returns the time within which the fraction `share` of all responses arrived, with a precision of 5 %; `nil`
    /// before the first response.
    func answerTime(atQuantile share: Double) -> Duration? { seconds.quantile(share).map { .seconds($0) } }

    /// The failures as text, the most frequent reason first, such as `12 x 503, 3 x timedOut`; `nil` if there are none.
    var failureList: String? { Self.list(of: failures) }

    static func list(of failures: [String: Int]) -> String? {
        let sorted = failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return sorted.isEmpty ? nil : sorted.map { "\($0.value) x \($0.key)" }.joined(separator: ", ")
    }
}
