package import GNSS
import LinuxPlatform
package import Reporting
import TimeAndChance

/// Measures the errors of a follower of one vehicle by comparing the vehicle's fixes with the updates made from them.
package final class FollowerMeter: ReportingObserver {
    private let state = Locked(FollowerErrors())

    package init() {}

    package var errors: FollowerErrors { state.withLock { $0 } }

    package func observe(_ event: ReportingEvent) {
        switch event {
        case .fix(let fix): state.withLock { $0.addFix(fix) }
        case .accepted(let stored): state.withLock { $0.addUpdate(stored.update) }
        case .uploading(let batch) where batch.stored == nil: state.withLock { $0.addUpdate(batch.last) }
        case .privateModeBegan, .privateModeEnded: state.withLock { $0.startOver() }
        default: break
        }
    }
}

/// The errors of a follower that receives each update at once: those of the live position and of the reported track.
///
/// The first fix after a gap or a jump isn't measured, nor is the reported track across the gap, because Waypost
/// doesn't limit the error there. The track from the last update before private mode to the first one after it isn't
/// measured either.
package struct FollowerErrors: Sendable {
    /// The maximum number of fixes that wait for the update that reports their track. If there are more, the waiting
    /// fixes aren't measured.
    private static let maximumWaiting = 4096

    /// The live error in metres at each fix, after the update that is made from the fix, if any.
    package private(set) var live = Distribution(from: 0.01, to: 1e7, step: 1.01)
    /// The error of the reported track in metres at each fix.
    package private(set) var track = Distribution(from: 0.01, to: 1e7, step: 1.01)

    private struct Moment {
        let fix: Fix
        /// Whether the track breaks between the previous fix and this one.
        let isAfterBreak: Bool
    }

    /// The last position that was reported.
    private var reported: Fix?
    /// The last fix, from which an update may still be made.
    private var latest: Moment?
    /// The fixes since the last position that was reported.
    private var waiting: [Moment] = []
    private var continuity = TrackContinuity()

    package init() {}

    /// Adds the next fix that was accepted.
    package mutating func addFix(_ fix: Fix) {
        if let latest, let reported, !latest.isAfterBreak {
            live.add(reported.extrapolated(to: latest.fix.timeOfFix).distance(to: latest.fix))
        }
        var isAfterBreak = false
        if case .broken = continuity.step(to: fix) { isAfterBreak = true }
        let moment = Moment(fix: fix, isAfterBreak: isAfterBreak)
        latest = moment
        if waiting.count == Self.maximumWaiting { waiting.removeAll(keepingCapacity: true) }
        waiting.append(moment)
    }

    /// Starts over with a new track when private mode begins or ends. Measured errors are kept.
    package mutating func startOver() {
        reported = nil
        latest = nil
        waiting = []
        continuity = TrackContinuity()
    }

    /// Adds the next reported position, which is live or a shape point. A position that was sent from memory adds
    /// nothing when it is stored later, nor does an older position.
    package mutating func addUpdate(_ update: LocationUpdate) {
        let next = Fix(update)
        let isPassed = waiting.first.map { next.timeOfFix < $0.fix.timeOfFix } ?? true
        if let reported, next.timeOfFix <= reported.timeOfFix, isPassed { return }
        let passed = waiting.prefix { $0.fix.timeOfFix <= next.timeOfFix }
        if let reported, !passed.contains(where: \.isAfterBreak) {
            for fix in passed.map(\.fix) {
                track.add(reported.interpolated(to: next, at: fix.timeOfFix).distance(to: fix))
            }
        }
        waiting.removeFirst(passed.count)
        reported = next
    }
}
