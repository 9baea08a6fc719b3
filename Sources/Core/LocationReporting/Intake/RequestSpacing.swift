import GNSS
package import TimeAndChance

/// Keeps the requests with a live receiver's positions five seconds apart, also after one that had to wait, as for its
/// token: it says which fix comes too soon to be reported. What is reported never waits for this. Pure.
package struct RequestSpacing: Sendable {
    private enum Kind: Sendable {
        case recordedLog
        case live
        case reenactment(tooSoon: Set<UTCTime>)
    }

    /// A fix that comes so much sooner than its own time lets expect is of a drive that is played faster than it was
    /// driven: the clock says nothing about it.
    private static let liveliness = Duration.milliseconds(500)

    private let kind: Kind
    /// The least age at which a fix was reported, on a scale of its own.
    private var leastAge: Duration?

    /// Of a recorded log, whose times of fix alone decide, so that it gives the same updates at any speed.
    package static let recordedLog = Self(kind: .recordedLog)
    /// Of a live receiver.
    package static let live = Self(kind: .live)
    /// Of a recorded run: what was too soon then is so again.
    package static func reenactment(tooSoon: Set<UTCTime>) -> Self { Self(kind: .reenactment(tooSoon: tooSoon)) }

    private init(kind: Kind) { self.kind = kind }

    /// Whether it matters to `isTooSoon` how long ago the last request began.
    var needsRequestTimes: Bool { if case .live = kind { true } else { false } }

    /// Takes note that `fix`, which came at `now`, is reported.
    mutating func didReport(_ fix: Fix, at now: Duration) {
        let age = Self.age(of: fix, at: now)
        leastAge = leastAge.map { min($0, age) } ?? age
    }

    /// Whether `fix`, which came at `now`, is not to be reported, although it is due; `elapsed` since the request with
    /// the last one that was, if that counts.
    func isTooSoon(_ fix: Fix, at now: Duration, sinceRequest elapsed: Duration?) -> Bool {
        switch kind {
        case .recordedLog: false
        case .reenactment(let tooSoon): tooSoon.contains(fix.timeOfFix)
        case .live: elapsed.map { $0 < ReportingPolicy.leastSpacing } ?? false && !isPlayedFaster(fix, at: now)
        }
    }

    private func isPlayedFaster(_ fix: Fix, at now: Duration) -> Bool {
        leastAge.map { Self.age(of: fix, at: now) < $0 - Self.liveliness } ?? false
    }

    private static func age(of fix: Fix, at now: Duration) -> Duration {
        now - .milliseconds(fix.timeOfFix.millisecondsSince1970)
    }
}
