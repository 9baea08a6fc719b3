import GNSS
import TimeAndChance

/// Decides whether a live receiver's fix follows the last request too soon. Requests thus stay five seconds apart even
/// if one was late, for example because it waited for a token. A position that is already queued never waits for this.
package struct RequestSpacing: Sendable {
    /// The tolerance for fixes that arrive earlier than their times suggest. A fix that arrives earlier still is from a
    /// drive that is played faster than real time, so the clock can't measure it.
    private static let liveTolerance = Duration.milliseconds(500)

    private let isLive: Bool
    /// The minimum age of a reported fix. Ages are relative: the monotonic clock minus the time of fix.
    private var minimumAge: Duration?

    /// The spacing for a recorded log: only times of fix decide, so that a log leads to the same updates at any speed.
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

    /// Judges a fix that is due.
    ///
    /// - Parameters:
    ///   - fix: the fix.
    ///   - now: when it arrived.
    ///   - elapsed: the time since the start of the request with the last reported position; `nil` if that request
    ///     failed.
    /// - Returns: whether the fix is too soon.
    func isTooSoon(_ fix: Fix, at now: Duration, sinceRequest elapsed: Duration?) -> Bool {
        guard isLive, let elapsed else { return false }
        return elapsed < ReportingPolicy.minimumSpacing && !isPlayedFaster(fix, at: now)
    }

    private func isPlayedFaster(_ fix: Fix, at now: Duration) -> Bool {
        minimumAge.map { Self.age(of: fix, at: now) < $0 - Self.liveTolerance } ?? false
    }

    private static func age(of fix: Fix, at now: Duration) -> Duration {
        now - .milliseconds(fix.timeOfFix.millisecondsSince1970)
    }
}
