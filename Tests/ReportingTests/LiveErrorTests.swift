import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import Reporting

/// The cost of a policy, and the error of a follower that extrapolates the last update with its speed and heading.
@Suite(.enabled(if: !Sanitizer.isActive, "computes for a long time on one thread")) struct LiveErrors {
    struct Score {
        var updates = 0
        /// The maximum error in metres at a fix at least 5 s after the last update, when another update was allowed.
        var maximumError = 0.0
        /// The second of the drive at which this error occurs.
        var secondOfMaximumError = 0.0

        init(of drive: TestDrive, policy kind: ReportingPolicy.Kind) {
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
                let error = Self.extrapolatedPosition(of: reported, at: fix.timeOfFix).distance(to: fix)
                if reported.timeOfFix.duration(to: fix.timeOfFix) >= .seconds(5), error > maximumError {
                    maximumError = error
                    secondOfMaximumError = drive.fixes[0].timeOfFix.duration(to: fix.timeOfFix) / .seconds(1)
                }
            }
        }

        /// Returns the position that a follower extrapolates from `update`.
        private static func extrapolatedPosition(of update: LocationUpdate, at time: UTCTime) -> Fix {
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
        let maximumMeanShare: Double
        let maximumShare: Double
        let maximumMeters: Double
    }

    private static let allBounds = [
        Bounds(
            policy: .accuracy(liveToleranceMeters: 50, maximumInterval: .seconds(30)), maximumMeanShare: 0.55,
            maximumShare: 0.65,
            maximumMeters: 60),
        Bounds(
            policy: .accuracy(liveToleranceMeters: 100, maximumInterval: .seconds(60)), maximumMeanShare: 0.33,
            maximumShare: 0.4,
            maximumMeters: 120),
    ]

    private static func check(_ drives: [TestDrive], against bounds: Bounds) {
        let shares = drives.map { drive in
            let score = Score(of: drive, policy: bounds.policy)
            let fixed = Score(of: drive, policy: .interval(.seconds(10)))
            let share = Double(score.updates) / Double(fixed.updates)
            #expect(share <= bounds.maximumShare, "\(drive): \(score.updates) updates of \(fixed.updates)")
            #expect(
                score.maximumError <= bounds.maximumMeters,
                "\(drive): \(score.maximumError) m after \(score.secondOfMaximumError) s")
            return share
        }
        #expect(
            shares.reduce(0, +) <= bounds.maximumMeanShare * Double(shares.count),
            "\(zip(drives.map(\.description), shares))"
        )
    }

    @Test(
        .enabled(if: Fixtures.recordedDrives != nil, "no recorded drives next to the checkout"), arguments: allBounds)
    func areBoundedOnRecordedDrives(bounds: Bounds) { Self.check(TestDrive.recorded, against: bounds) }

    @Test(arguments: allBounds) func areBoundedOnGeneratedDrives(bounds: Bounds) {
        Self.check((1...2).flatMap { TestDrive.generated(seed: $0) }, against: bounds)
    }

    /// The tolerance holds at any rate of fixes, with about the same number of updates.
    @Test func areBoundedAtAnyRate() {
        let ride = SimulatedRide.deliveryRound(stops: 10, seed: 3)
        let scores = [0.1, 0.2, 1, 2].map { spacing in
            Score(
                of: TestDrive(description: "\(spacing) s", fixes: ride.fixes(every: spacing)),
                policy: .accuracy(liveToleranceMeters: 50, maximumInterval: .seconds(30)))
        }
        #expect(scores.allSatisfy { $0.maximumError <= 60 })
        let counts = scores.map(\.updates)
        #expect((counts.max() ?? 0) * 10 <= (counts.min() ?? 0) * 11, "\(counts)")
    }
}

extension FixVerdict {
    fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }
}
