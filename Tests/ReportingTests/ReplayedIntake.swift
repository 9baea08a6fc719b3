import GNSS
import TimeAndRandomness
import WaypostTestSupport

@testable import Reporting

/// The updates of a drive, produced by the same steps as in `ReportingState`, and a follower's view of them.
struct ReplayedIntake {
    /// An update, preceded by its shape points.
    struct Report {
        let places: [LocationUpdate]
        var update: LocationUpdate { places[places.count - 1] }
    }

    private(set) var reports: [Report] = []
    private(set) var accepted: [Fix] = []
    private(set) var rejected: [(fix: Fix, rejection: FixRejection)] = []
    /// The number of fixes at which the track contradicted the receiver's motion.
    private(set) var contradictions = 0

    init(
        _ fixes: [Fix], policy kind: ReportingPolicy.Kind = .interval(.seconds(10)), trackToleranceMeters: Double? = 5,
        newest: LocationUpdate? = nil
    ) {
        var plausibility = Plausibility(earliest: nil, newest: newest)
        var motion = MotionFilter()
        var shape = ShapePoints(toleranceMeters: trackToleranceMeters)
        var policy = ReportingPolicy(kind, heartbeat: .seconds(60))
        for fix in fixes {
            switch plausibility.judge(fix, latest: nil, after: motion.measured) {
            case .rejected(let rejection):
                rejected.append((fix, rejection))
                continue
            case .accepted(let overrulesEarlier): if overrulesEarlier { shape.reset() }
            }
            accepted.append(fix)
            let filtered = motion.filtered(fix)
            if motion.contradictsReportedMotion { contradictions += 1 }
            policy.observe(filtered, motion: motion.motion)
            shape.add(filtered, rawFix: fix)
            guard policy.isDue(filtered) || shape.makesUpdateDue && policy.mayReport(filtered) else { continue }
            reports.append(Report(places: shape.takePoints() + [LocationUpdate(filtered)]))
            policy.didReport(filtered)
        }
    }

    /// Returns the number of distinct places that are reported from `start` on.
    func placeCount(from start: UTCTime) -> Int {
        Set(reports.flatMap(\.places).filter { $0.timeOfFix >= start }.map { [$0.latitude, $0.longitude] }).count
    }

    /// Returns the error of a follower of the live position in metres at each true place, with its time.
    func liveErrors(against truth: [Fix]) -> [(meters: Double, time: UTCTime)] {
        truth.compactMap { place in
            guard let update = reports.last(where: { $0.update.timeOfFix <= place.timeOfFix })?.update else {
                return nil
            }
            return (Fix(update).extrapolated(to: place.timeOfFix).distance(to: place), place.timeOfFix)
        }
    }

    /// Returns the maximum distance in metres of the true places from the reported track.
    func maximumTrackError(against truth: [Fix]) -> Double {
        let track = reports.flatMap(\.places).map { Fix($0) }
        return truth.reduce(0) { maximum, place in
            guard let next = track.firstIndex(where: { $0.timeOfFix >= place.timeOfFix }), next > 0 else {
                return maximum
            }
            return max(maximum, track[next - 1].interpolated(to: track[next], at: place.timeOfFix).distance(to: place))
        }
    }
}
