import GNSS
import Testing
import TimeAndChance
import WaypostTestSupport

@testable import Reporting

/// The cost of a policy, and the error of a follower that extrapolates the last update with its speed and heading.
@Suite(.enabled(if: !Sanitizer.isActive, "computes for a long time on one thread")) struct LiveErrors {
    struct Score {
        var updates = 0
        /// The maximum error in metres at a fix at least 5 s after the previous update, when another was allowed.
        var worst = 0.0
        /// The second of the drive at which this error occurs.
        var worstAt = 0.0

        init(_ drive: TestDrive, _ kind: ReportingPolicy.Kind) {
            var plausibility = Plausibility(earliest: nil)
            let policy = FilteredPolicy(kind)
            var reported: LocationUpdate?
            var last: Fix?
            for fix in drive.fixes where plausibility.judge(fix, latest: nil).isAccepted {
                if let update = policy.update(of: fix) {
                    reported = update
                    updates += 1
                }
                let isAfterGap = last.map { $0.timeOfFix.duration(to: fix.timeOfFix) > .seconds(30) } ?? true
                last = fix
                guard let reported, !isAfterGap else { continue }
                let error = Self.follower(reported, at: fix.timeOfFix).distance(to: fix)
                if reported.timeOfFix.duration(to: fix.timeOfFix) >= .seconds(5), error > worst {
                    worst = error
                    worstAt = drive.fixes[0].timeOfFix.duration(to: fix.timeOfFix) / .seconds(1)
                }
            }
        }

        /// Returns the position that a follower extrapolates from `update`.
        private static func follower(_ update: LocationUpdate, at time: UTCTime) -> Fix {
            var place = Fix(timeOfFix: update.timeOfFix, latitude: update.latitude, longitude: update.longitude)
            place.speedMetersPerSecond = update.speedMetersPerSecond
            place.headingDegrees = update.headingDegrees.map(Double.init)
            return place.extrapolated(to: time)
        }
    }

    /// The limits for a policy: its number of updates relative to an interval of ten seconds, on average and for each
    /// drive, and the error of a follower in metres.
    struct Bounds: Sendable {
        let policy: ReportingPolicy.Kind
        let meanShare: Double
        let share: Double
        let meters: Double
    }

    private static let allBounds = [
        Bounds(
            policy: .accuracy(liveToleranceMeters: 50, maximumInterval: .seconds(30)), meanShare: 0.55, share: 0.65,
            meters: 60),
        Bounds(
            policy: .accuracy(liveToleranceMeters: 100, maximumInterval: .seconds(60)), meanShare: 0.33, share: 0.4,
            meters: 120),
    ]

    private static func judge(_ drives: [TestDrive], _ bounds: Bounds) {
        let shares = drives.map { drive in
            let score = Score(drive, bounds.policy)
            let fixed = Score(drive, .interval(.seconds(10)))
            let share = Double(score.updates) / Double(fixed.updates)
            #expect(share <= bounds.share, "\(drive): \(score.updates) updates of \(fixed.updates)")
            #expect(score.worst <= bounds.meters, "\(drive): \(score.worst) m after \(score.worstAt) s")
            return share
        }
        #expect(
            shares.reduce(0, +) <= bounds.meanShare * Double(shares.count), "\(zip(drives.map(\.description), shares))"
        )
    }

    @Test(
        .enabled(if: Fixtures.recordedDrives != nil, "no recorded drives next to the checkout"), arguments: allBounds)
    func areBoundedOnRecordedDrives(bounds: Bounds) { Self.judge(TestDrive.recorded, bounds) }

    @Test(arguments: allBounds) func areBoundedOnGeneratedDrives(bounds: Bounds) {
        Self.judge((1...2).flatMap { TestDrive.generated(seed: $0) }, bounds)
    }

    /// The tolerance holds at any rate of fixes, with about the same number of updates.
    @Test func areBoundedAtAnyRate() {
        let ride = SimulatedRide.round(stops: 10, seed: 3)
        let scores = [0.1, 0.2, 1, 2].map { spacing in
            Score(
                TestDrive(description: "\(spacing) s", fixes: ride.fixes(every: spacing)),
                .accuracy(liveToleranceMeters: 50, maximumInterval: .seconds(30)))
        }
        #expect(scores.allSatisfy { $0.worst <= 60 })
        let counts = scores.map(\.updates)
        #expect((counts.max() ?? 0) * 10 <= (counts.min() ?? 0) * 11, "\(counts)")
    }
}

extension FixVerdict {
    fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }
}
