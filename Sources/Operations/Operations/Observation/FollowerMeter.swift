package import GNSS
import LinuxPlatform
package import Reporting
import TimeAndChance

/// Measures what a follower sees of one vehicle's drive: by the fixes and the updates that are made of them.
package final class FollowerMeter: ReportingObserver {
    private let state = Locked(FollowerErrors())

    package init() {}

    package var errors: FollowerErrors { state.withLock { $0 } }

    package func observe(_ event: ReportingEvent) {
        switch event {
        case .fix(let fix): state.withLock { $0.see(fix) }
        case .accepted(let stored): state.withLock { $0.hear(stored.update) }
        case .uploading(let batch) where batch.stored == nil: state.withLock { $0.hear(batch.last) }
        case .privateModeBegan, .privateModeEnded: state.withLock { $0.breakOff() }
        default: break
        }
    }
}

/// How far a follower is off who hears of each update at once: live, and afterwards along the told track. Pure.
///
/// The first fix after a gap or a jump, and the told track across one, are not judged: nothing is promised there. Nor
/// is the track from the last update before a private time to the first after it.
package struct FollowerErrors: Sendable {
    /// So many fixes wait for the update that tells the way to them; without one they are not judged.
    private static let longestWait = 4096

    /// In metres, at each fix, after the update that is made of it.
    package private(set) var live = Distribution(from: 0.01, to: 1e7, step: 1.01)
    /// In metres, at each fix.
    package private(set) var track = Distribution(from: 0.01, to: 1e7, step: 1.01)

    private struct Moment {
        let fix: Fix
        /// Whether the track breaks between the fix before and this one.
        let isAfterBreak: Bool
    }

    /// What was told last.
    private var told: Fix?
    /// The last fix: an update may still be made of it.
    private var latest: Moment?
    /// Since what was told last.
    private var waiting: [Moment] = []
    private var continuity = TrackContinuity()

    package init() {}

    /// Takes the next fix that is accepted.
    package mutating func see(_ fix: Fix) {
        if let latest, let told, !latest.isAfterBreak {
            live.add(told.drivenOn(to: latest.fix.timeOfFix).distance(to: latest.fix))
        }
        var isAfterBreak = false
        if case .broken = continuity.step(to: fix) { isAfterBreak = true }
        let moment = Moment(fix: fix, isAfterBreak: isAfterBreak)
        latest = moment
        if waiting.count == Self.longestWait { waiting.removeAll(keepingCapacity: true) }
        waiting.append(moment)
    }

    /// Takes note that nothing is told from now on: the vehicle is private.
    package mutating func breakOff() { (told, latest, waiting, continuity) = (nil, nil, [], TrackContinuity()) }

    /// Takes the next position that is told, live or a shape point. One that was sent from memory, or is older than
    /// that, tells nothing new when it is stored later.
    package mutating func hear(_ update: LocationUpdate) {
        let next = Fix(update)
        let isPassed = waiting.first.map { next.timeOfFix < $0.fix.timeOfFix } ?? true
        if let told, next.timeOfFix <= told.timeOfFix, isPassed { return }
        let passed = waiting.prefix { $0.fix.timeOfFix <= next.timeOfFix }
        if let told, !passed.contains(where: \.isAfterBreak) {
            for fix in passed.map(\.fix) { track.add(told.onTheWay(to: next, at: fix.timeOfFix).distance(to: fix)) }
        }
        waiting.removeFirst(passed.count)
        told = next
    }
}
