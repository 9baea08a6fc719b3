import GNSS
import Testing
import TimeAndChance
import WaypostTestSupport

@testable import LocationReporting

/// What a policy costs, and how far off it leaves a follower who knows only what was told, and lets the last of it drive
/// on with its speed and heading.
@Suite struct LiveErrors {
    /// One drive under one policy.
    struct Score {
        var updates = 0
        /// Metres, at every fix that was accepted.
        var errors: [Double] = []
        /// Of those, where the update before was 5 s old, so that another could have gone out.
        var worst = 0.0
        var worstAt = 0.0

        init(_ drive: TestDrive, _ kind: ReportingPolicy.Kind) {
            var plausibility = Plausibility(earliest: nil)
            let policy = JudgedDrive(kind)
            var told: LocationUpdate?
            var last: Fix?
            for fix in drive.fixes where plausibility.judge(fix, latest: nil).isAccepted {
                if let update = policy.told(fix) { (told, updates) = (update, updates + 1) }
                let isAfterGap = last.map { $0.timeOfFix.duration(to: fix.timeOfFix) > .seconds(30) } ?? true
                last = fix
                guard let told, !isAfterGap else { continue }
                let error = Self.follower(told, at: fix.timeOfFix).distance(to: fix)
                errors.append(error)
                if told.timeOfFix.duration(to: fix.timeOfFix) >= .seconds(5), error > worst {
                    (worst, worstAt) = (error, drive.fixes[0].timeOfFix.duration(to: fix.timeOfFix) / .seconds(1))
                }
            }
        }

        /// Half a metre a second without a heading is standstill.
        private static func follower(_ update: LocationUpdate, at time: UTCTime) -> Fix {
            var place = Fix(timeOfFix: update.timeOfFix, latitude: update.latitude, longitude: update.longitude)
            place.speedMetersPerSecond = update.speedMetersPerSecond
            place.headingDegrees = update.headingDegrees.map(Double.init)
            return place.drivenOn(to: time)
        }
    }

    private static let interval = ReportingPolicy.Kind.interval(.seconds(10))

    @Test func table() {
        var shares: [Int: [Double]] = [:]
        for drive in TestDrive.recorded + TestDrive.generated(seed: 1) {
            let today = Score(drive, Self.interval)
            var line = "\(drive.description): \(today.updates) worst \(Int(today.worst))"
            for (meters, longest) in [(50, 30), (100, 60)] {
                let score = Score(drive, .accuracy(liveMeters: meters, longestInterval: .seconds(longest)))
                let share = Double(score.updates) / Double(today.updates)
                shares[meters, default: []].append(share)
                line += " | \(meters): \(Int(share * 1000)) worst \(Int(score.worst)) at \(Int(score.worstAt))"
            }
            print(line)
        }
        for (meters, all) in shares { print(meters, all.reduce(0, +) / Double(all.count), all.max() ?? 0) }
    }
}

extension FixVerdict {
    fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }
}
