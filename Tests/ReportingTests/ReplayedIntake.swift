import GNSS
import TimeAndChance
import WaypostTestSupport

@testable import Reporting

/// What an intake makes of the fixes of a drive, and what a follower sees of it; the same steps as `ReportingState`.
struct ReplayedIntake {
    /// One update with its shape points, which come before it.
    struct Report {
        let places: [LocationUpdate]
        var update: LocationUpdate { places[places.count - 1] }
    }

    private(set) var reports: [Report] = []
    private(set) var accepted: [Fix] = []
    private(set) var rejected: [(fix: Fix, rejection: FixRejection)] = []
    /// The fixes at which the receiver's own motion was known to be wrong.
    private(set) var contradictions = 0

    init(
        _ fixes: [Fix], _ kind: ReportingPolicy.Kind = .interval(.seconds(10)), trackToleranceMeters: Double? = 5,
        newest: LocationUpdate? = nil
    ) {
        var plausibility = Plausibility(earliest: nil, newest: newest)
        var motion = MotionFilter()
        var shape = ShapePoints(meters: trackToleranceMeters)
        var policy = ReportingPolicy(kind, heartbeat: .seconds(60))
        for fix in fixes {
            switch plausibility.judge(fix, latest: nil, after: motion.measured) {
            case .rejected(let rejection):
                rejected.append((fix, rejection))
                continue
            case .accepted(let overrulesEarlier): if overrulesEarlier { shape.forget() }
            }
            accepted.append(fix)
            let filtered = motion.filtered(fix)
            if motion.contradictsStated { contradictions += 1 }
            policy.observe(filtered, motion.motion)
            shape.add(filtered, seenAt: fix)
            guard policy.isDue(filtered) || shape.isFull && policy.mayReport(filtered) else { continue }
            reports.append(Report(places: shape.take() + [LocationUpdate(filtered)]))
            policy.didReport(filtered)
        }
    }

    /// The distinct places that are reported from `second` of the drive on.
    func places(from start: UTCTime) -> Int {
        Set(reports.flatMap(\.places).filter { $0.timeOfFix >= start }.map { [$0.latitude, $0.longitude] }).count
    }

    /// Metres by which a follower of the live position is off at each of these places, with their times.
    func liveErrors(_ truth: [Fix]) -> [(meters: Double, time: UTCTime)] {
        truth.compactMap { place in
            guard let told = reports.last(where: { $0.update.timeOfFix <= place.timeOfFix })?.update else { return nil }
            return (Fix(told).extrapolated(to: place.timeOfFix).distance(to: place), place.timeOfFix)
        }
    }

    /// The most metres by which the line through all that is reported is off these places.
    func worstTrackError(_ truth: [Fix]) -> Double {
        let told = reports.flatMap(\.places).map { Fix($0) }
        return truth.reduce(0) { worst, place in
            guard let next = told.firstIndex(where: { $0.timeOfFix >= place.timeOfFix }), next > 0 else { return worst }
            return max(worst, told[next - 1].interpolated(to: told[next], at: place.timeOfFix).distance(to: place))
        }
    }
}
