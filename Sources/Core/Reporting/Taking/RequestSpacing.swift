import GNSS
import TimeAndRandomness

/// The rule for whether a live receiver's fix follows the last request too soon. Requests thus stay five seconds apart
/// even if a request was late, for example because it waited for a token. A position that is already queued is never
/// held back.
package struct RequestSpacing: Sendable {
    /// The tolerance for fixes that arrive earlier than their times suggest. A fix that arrives even earlier is from a
    /// drive that is replayed faster than real time. The clock then says nothing about the time between its fixes.
    private static let liveTolerance = Duration.milliseconds(500)

    private let isLive: Bool
    /// The minimum age of any reported fix; `nil` before the first one. An age is the monotonic clock's reading minus
    /// the time of the fix, so only differences between ages mean anything.
    private var minimumAge: Duration?

    /// The spacing for a recorded log. Only the times of fixes decide, so that a log leads to the same updates at any
    /// replay speed.
    package static let recordedLog = Self(isLive: false)
    /// The spacing for a live receiver.
    package static let live = Self(isLive: true)

    private init(isLive: Bool) { self.isLive = isLive }

    /// Whether `isTooSoon` needs the time since the last request.
    var needsRequestTimes: Bool { isLive }

    /// Records that `fix`, which arrived at `now`, has been reported.
    mutating func didReport(_ fix: Fix, at now: Duration) {
        let age = Self.age(of: fix, at: now)
        minimumAge = minimumAge.map { min($0, age) } ?? age
    }

    /// Decides whether a fix that is due follows the last request too soon.
    ///
    /// - Parameters:
    ///   - fix: the fix.
    ///   - now: the time when the fix arrived.
    ///   - elapsed: the time since the start of the request with the last reported position; `nil` if that request
    ///     failed.
    /// - Returns: whether it is too soon to report the fix.
    func isTooSoon(_ fix: Fix, at now: Duration, sinceRequest elapsed: Duration?) -> Bool {
        guard isLive, let elapsed else { return false }
        return elapsed < ReportingPolicy.minimumSpacing && !isFasterThanRealTime(fix, at: now)
    }

    private func isFasterThanRealTime(_ fix: Fix, at now: Duration) -> Bool {
        minimumAge.map { Self.age(of: fix, at: now) < $0 - Self.liveTolerance } ?? false
    }

    private static func age(of fix: Fix, at now: Duration) -> Duration {
        now - .milliseconds(fix.timeOfFix.millisecondsSince1970)
    }
}
