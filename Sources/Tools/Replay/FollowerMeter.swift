import GNSS
import LinuxPlatform
import Reporting
import TimeAndRandomness

/// A meter of how far a follower's view of one vehicle is from the vehicle's fixes. The follower's view is calculated
/// from the updates.
final class FollowerMeter: ReportingObserver {
    private let state = Locked(FollowerErrors())

    init() {}

    var errors: FollowerErrors { state.withLock { $0 } }

    func observe(_ event: ReportingEvent) {
        switch event {
        case .fix(let fix): state.withLock { $0.addFix(fix) }
        case .accepted(let stored): state.withLock { $0.addUpdate(stored.update) }
        case .uploading(let batch) where batch.stored == nil: state.withLock { $0.addUpdate(batch.last) }
        case .privateModeBegan, .privateModeEnded: state.withLock { $0.startOver() }
        default: break
        }
    }
}

/// The position errors of a follower that receives each update at once: the error of the live position, and the error
/// of the reported track.
///
/// Waypost doesn't limit the error across a gap or a jump. Therefore, neither the first fix after it nor the track
/// across it is measured. The track across a private period isn't measured either.
struct FollowerErrors: Sendable {
    /// The maximum number of fixes that wait for an update that reports their track. If there are more, the waiting
    /// fixes are discarded without being measured.
    private static let maximumWaitingFixes = 4096

    /// The errors of the live position in metres, one for each fix. If an update is made from a fix, the error is
    /// measured after it.
    private(set) var live = Distribution(from: 0.01, to: 1e7, step: 1.01)
    /// The errors of the reported track in metres, one for each fix.
    private(set) var track = Distribution(from: 0.01, to: 1e7, step: 1.01)

    private struct MeasuredFix {
        let fix: Fix
        /// Whether there is a gap or a jump between the previous fix and this one.
        let isAfterBreak: Bool
    }

    /// The last reported position; `nil` before the first one.
    private var reported: Fix?
    /// The latest fix; `nil` if there is none. The follower's error at this fix hasn't been added yet, because an
    /// update may still be made from the fix.
    private var latest: MeasuredFix?
    /// The fixes since the last reported position, whose track hasn't been reported yet.
    private var waitingFixes: [MeasuredFix] = []
    private var continuity = TrackContinuity()

    init() {}

    /// Adds the next accepted fix.
    mutating func addFix(_ fix: Fix) {
        if let latest, let reported, !latest.isAfterBreak {
            live.add(reported.extrapolated(to: latest.fix.timeOfFix).distance(to: latest.fix))
        }
        var isAfterBreak = false
        if case .broken = continuity.step(to: fix) { isAfterBreak = true }
        let measured = MeasuredFix(fix: fix, isAfterBreak: isAfterBreak)
        latest = measured
        if waitingFixes.count == Self.maximumWaitingFixes { waitingFixes.removeAll(keepingCapacity: true) }
        waitingFixes.append(measured)
    }

    /// Begins a new track, because private mode has begun or ended. The errors measured so far are kept.
    mutating func startOver() {
        reported = nil
        latest = nil
        waitingFixes = []
        continuity = TrackContinuity()
    }

    /// Adds the next reported position, which is live or a shape point. A position that has already been added is
    /// ignored, because a position is first sent from memory and then stored. Older positions are ignored too.
    mutating func addUpdate(_ update: LocationUpdate) {
        let next = Fix(update)
        let isPassed = waitingFixes.first.map { next.timeOfFix < $0.fix.timeOfFix } ?? true
        if let reported, next.timeOfFix <= reported.timeOfFix, isPassed { return }
        let passed = waitingFixes.prefix { $0.fix.timeOfFix <= next.timeOfFix }
        if let reported, !passed.contains(where: \.isAfterBreak) {
            for fix in passed.map(\.fix) {
                track.add(reported.interpolated(to: next, at: fix.timeOfFix).distance(to: fix))
            }
        }
        waitingFixes.removeFirst(passed.count)
        reported = next
    }
}
