import GNSS
import TimeAndChance

/// Keeps the requests with a live receiver's positions five seconds apart, also after one that had to wait, as for its
/// token: it says which fix comes too soon to be reported. What is reported never waits for this. Pure.
package struct RequestSpacing: Sendable {
    /// A fix that comes so much sooner than its own time lets expect is of a drive that is played faster than it was
    /// driven: the clock says nothing about it.
    private static let liveliness = Duration.milliseconds(500)

    private let isLive: Bool
    /// The least age at which a fix was reported, on a scale of its own.
    private var leastAge: Duration?

    /// Of a recorded log, whose times of fix alone decide, so that it gives the same updates at any speed.
    package static let recordedLog = Self(isLive: false)
    /// Of a live receiver.
    package static let live = Self(isLive: true)

    private init(isLive: Bool) { self.isLive = isLive }

    /// Whether it matters to `isTooSoon` how long ago the last request began.
    var needsRequestTimes: Bool { isLive }

    /// Takes note that `fix`, which came at `now`, is reported.
    mutating func didReport(_ fix: Fix, at now: Duration) {
        let age = Self.age(of: fix, at: now)
        leastAge = leastAge.map { min($0, age) } ?? age
    }

    /// Whether `fix`, which came at `now`, is not to be reported, although it is due; `elapsed` since the request with
    /// the last one that was, if that counts.
    func isTooSoon(_ fix: Fix, at now: Duration, sinceRequest elapsed: Duration?) -> Bool {
        guard isLive, let elapsed else { return false }
        return elapsed < ReportingPolicy.leastSpacing && !isPlayedFaster(fix, at: now)
    }

    private func isPlayedFaster(_ fix: Fix, at now: Duration) -> Bool {
        leastAge.map { Self.age(of: fix, at: now) < $0 - Self.liveliness } ?? false
    }

    private static func age(of fix: Fix, at now: Duration) -> Duration {
        now - .milliseconds(fix.timeOfFix.millisecondsSince1970)
    }
}
