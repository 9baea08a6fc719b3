import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import Reporting

@Suite struct ReportingPolicies {
    /// Returns the seconds at which a drive is reported. `speed` returns metres per second for each second.
    static func reportTimes(
        seconds: Double, every spacing: Double = 1, interval: Int = 10, heartbeat: Int = 60,
        speed: (Double) -> Double?
    ) -> [Double] {
        let policy = FilteredPolicy(.interval(.seconds(interval)), heartbeat: .seconds(heartbeat))
        var north = 0.0
        var result: [Double] = []
        for step in 0...Int(seconds / spacing) {
            let second = Double(step) * spacing
            let metersPerSecond = speed(second)
            north += (metersPerSecond ?? 0) * spacing
            if policy.isDue(.sample(second, north: north, speed: metersPerSecond, heading: 0)) { result.append(second) }
        }
        return result
    }

    @Test(arguments: [(5, 1.0), (10, 1), (10, 0.1), (10, 0.2), (7, 2), (60, 1)])
    func keepTheIntervalOfAMovingVehicle(interval: Int, spacing: Double) {
        let times = Self.reportTimes(seconds: 300, every: spacing, interval: interval) { _ in 15 }
        for (one, next) in zip(times, times.dropFirst()) {
            #expect(abs(next - one - Double(interval)) <= max(spacing / 2, 0.001) + (spacing > 1 ? 1 : 0))
        }
        #expect(times.count >= 300 / (interval + 1))
    }

    /// Intervals of fixes at which the nearest fix would be too early for Fleet Engine.
    @Test(arguments: [(5, 0.7), (5, 0.98), (6, 0.7)]) func neverGoBelowTheMinimumInterval(
        interval: Int, spacing: Double
    ) {
        for speed in [15.0, 0] {
            let times = Self.reportTimes(seconds: 300, every: spacing, interval: interval, heartbeat: 5) { _ in speed }
            #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 > 4.899 })
            #expect(times.count > 20)
        }
    }

    @Test func slowToTheHeartbeatForAParkedVehicle() {
        let times = Self.reportTimes(seconds: 600) { _ in 0 }
        #expect(
            times.filter { $0 <= 60 } == [0, 10, 20, 30, 40, 50, 60]
                || times.filter { $0 < 60 } == [0, 10, 20, 30, 40, 50])
        let parked = times.filter { $0 >= 110 }
        for (one, next) in zip(parked, parked.dropFirst()) { #expect(next - one <= 60 && next - one >= 55) }
    }

    /// A departure at any time since the last heartbeat.
    @Test(arguments: 300..<360) func reportADepartureBeforeTheInterval(second: Int) {
        let departure = Double(second)
        let times = Self.reportTimes(seconds: 460, interval: 30) { $0 < departure ? 0 : 10 }
        let first = times.first { $0 >= departure } ?? .infinity
        #expect(first < departure + 5)
    }

    @Test func keepTheIntervalAtATrafficLight() {
        let times = Self.reportTimes(seconds: 200) { (100..<140).contains($0) ? 0 : 12 }
        #expect(times == stride(from: 0, through: 200, by: 10).map { $0 })
    }

    @Test func detectMotionByPositionIfNoSpeedIsReported() {
        let policy = FilteredPolicy(.interval(.seconds(10)))
        var times: [Int] = []
        for second in 0..<200 where policy.isDue(.sample(Double(second), north: Double(second) * 15)) {
            times.append(second)
        }
        // The first update has no motion. The track shows the motion from the third fix on.
        #expect(times == [0] + Array(stride(from: 5, to: 200, by: 10)))
    }

    @Test func reportAtOnceAfterASilence() {
        let policy = FilteredPolicy(.interval(.seconds(10)))
        #expect(policy.isDue(.sample(0, speed: 10)))
        #expect(!policy.isDue(.sample(1, speed: 10)))
        #expect(policy.isDue(.sample(500, north: 4000, speed: 10)))
    }

    /// A parked van moves forward and is reported as moving, or a parked receiver's speed is wrong for a second. The
    /// next update limits the error of a follower.
    @Test(
        arguments: [
            .interval(.seconds(10)), .interval(.seconds(30)),
            .accuracy(liveToleranceMeters: 100, maximumInterval: .seconds(60)),
        ]
            as [ReportingPolicy.Kind])
    func correctAWrongUpdateAtOnce(kind: ReportingPolicy.Kind) {
        let parked = (0..<200).map { Fix.sample(Double($0), speed: 0, accuracy: 5) }
        for second in 65..<125 {
            var nudge = parked
            var spike = parked
            for step in 0..<3 { nudge[second + step].speedMetersPerSecond = 2 }
            for index in second..<200 { nudge[index].latitude += min(4, Double(index - second + 1) * 1.5) / 111_195 }
            spike[second].speedMetersPerSecond = 9
            for index in second..<(second + 3) { nudge[index].headingDegrees = 0 }
            spike[second].headingDegrees = 0
            #expect(
                ReplayedIntake(nudge, policy: kind).liveErrors(against: nudge).allSatisfy { $0.meters <= 15 },
                "\(second)")
            // The next update can follow after five seconds.
            #expect(
                ReplayedIntake(spike, policy: kind).liveErrors(against: spike).allSatisfy { $0.meters <= 9 * 5 },
                "\(second)")
        }
    }

    @Test func reportAStartWithoutMotionValuesAtOnce() {
        let fixes = (0..<40).map { Fix.sample(Double($0), north: Double($0) * 20) }
        let intake = ReplayedIntake(fixes, policy: .interval(.seconds(30)))
        let times = intake.reports.map { fixes[0].timeOfFix.duration(to: $0.update.timeOfFix) / .seconds(1) }
        #expect(times == [0, 5, 35])
    }

    /// A vehicle whose receiver reports only positions departs. An update without speed and heading would soon be
    /// wrong.
    @Test(
        arguments: [.interval(.seconds(10)), .accuracy(liveToleranceMeters: 50, maximumInterval: .seconds(30))]
            as [ReportingPolicy.Kind])
    func reportADepartureWithItsMotion(kind: ReportingPolicy.Kind) throws {
        for acceleration in [0.5, 1, 1.6, 2.5] {
            let fixes = (0..<240).map { second in
                let time = max(0, Double(second - 200))
                return Fix.sample(Double(second), north: acceleration * time * time / 2, accuracy: 4)
            }
            let updates = ReplayedIntake(fixes, policy: kind).reports.map(\.update)
            let first = try #require(updates.first { $0.latitude > updates[0].latitude + 1e-5 })
            #expect(first.speedMetersPerSecond != nil && first.headingDegrees != nil, "\(acceleration)")
        }
    }

    /// If the motion is never known, another update would not be better.
    @Test func keepTheIntervalIfMotionIsNeverKnown() {
        var policy = ReportingPolicy(.interval(.seconds(30)), heartbeat: .seconds(60))
        let times = (0..<100).filter { second in
            let fix = Fix.sample(Double(second), north: Double(second) * 20)
            policy.observe(fix, motion: nil)
            guard policy.isDue(fix) else { return false }
            policy.didReport(fix)
            return true
        }
        #expect(times == [0, 30, 60, 90])
    }

    /// Returns the seconds at which a ride is reported with a tolerance of 50 m and 30 s.
    private static func accuracyReportTimes(on ride: SimulatedRide, every spacing: Double = 1) -> [Double] {
        let policy = FilteredPolicy(.accuracy(liveToleranceMeters: 50, maximumInterval: .seconds(30)))
        let fixes = ride.fixes(every: spacing, wander: 0, speedNoise: 0)
        return fixes.enumerated().filter { policy.isDue($0.element) }.map { Double($0.offset) * spacing }
    }

    @Test(arguments: [0.1, 1, 2]) func theAccuracyPolicyReportsRarelyOnAStraightRoad(spacing: Double) {
        var ride = SimulatedRide()
        ride.move(for: 20, acceleration: 1.5)
        let start = Self.accuracyReportTimes(on: ride, every: spacing).count
        ride.move(for: 300)
        let times = Self.accuracyReportTimes(on: ride, every: spacing).dropFirst(start)
        #expect(times.count <= 12)
        for (one, next) in zip(times, times.dropFirst()).dropFirst(2) { #expect(abs(next - one - 30) <= 0.5) }
    }

    /// A change after a minute's drive at 15 m/s, and the maximum time until it is reported.
    @Test(
        arguments: [
            ("it turns off", 5, 0, 18, 8.0), ("it brakes for a light", 7.5, -2, 0, 9), ("it speeds up", 10, 1.5, 0, 10),
            ("it drives on", 10, 0, 0, 30),
        ] as [(String, Double, Double, Double, Double)])
    func theAccuracyPolicyReportsAChange(
        name: String, seconds: Double, acceleration: Double, turning: Double, within: Double
    ) {
        var ride = SimulatedRide()
        ride.move(for: 10, acceleration: 1.5)
        ride.move(for: 50)
        ride.move(for: seconds, acceleration: acceleration, turning: turning)
        ride.move(for: 60)
        let times = Self.accuracyReportTimes(on: ride)
        let next = times.first { $0 > 60 } ?? .infinity
        #expect(next <= 60 + within, "\(name): \(times)")
    }

    @Test func theAccuracyPolicyKeepsTheMaximumError() {
        let times = Self.accuracyReportTimes(on: SimulatedRide.deliveryRound(stops: 20, seed: 5), every: 0.2)
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { (4.899...60.001).contains($0) })
        #expect(gaps.contains { $0 < 10 } && gaps.contains { $0 > 29 })
    }

    @Test func theAccuracyPolicySlowsToTheHeartbeatForAParkedVehicle() {
        var ride = SimulatedRide()
        ride.stand(for: 600)
        #expect(Self.accuracyReportTimes(on: ride).filter { $0 > 120 }.count == 8)
    }

    @Test func theAccuracyPolicyNeedsNoSpeed() {
        let policy = FilteredPolicy(.accuracy(liveToleranceMeters: 50, maximumInterval: .seconds(30)))
        let times = (0..<100).filter { policy.isDue(.sample(Double($0), north: Double($0) * 15)) }
        // The track shows speed and heading from the third fix on.
        #expect(times.count <= 6 && zip(times, times.dropFirst()).allSatisfy { $1 - $0 <= 30 })
    }

    @Test func continueAfterAClockIsSetBack() {
        let policy = FilteredPolicy(.interval(.seconds(10)))
        #expect(policy.isDue(.sample(5000, speed: 10)))
        #expect(policy.isDue(.sample(0, speed: 10)))
        #expect(!policy.isDue(.sample(1, speed: 10)))
        #expect(policy.isDue(.sample(10, speed: 10)))
    }

    /// Fixes that arrived before the clock was set back don't count towards a manoeuvre.
    @Test func theAccuracyPolicyContinuesAfterAClockIsSetBack() {
        let ride = SimulatedRide.deliveryRound(stops: 5, seed: 3).fixes(every: 1, wander: 0, speedNoise: 0)
        let policies = (0..<2).map { _ in
            FilteredPolicy(.accuracy(liveToleranceMeters: 50, maximumInterval: .seconds(30)))
        }
        for second in 0..<3 {
            _ = policies[0].isDue(.sample(100_000 + Double(second), north: Double(second) * 10, speed: 10))
        }
        let times = policies.map { policy in ride.filter { policy.isDue($0) }.map(\.timeOfFix) }
        #expect(times[0] == times[1] && times[0].count > 20)
    }
}

@Suite struct UpdateOfAFix {
    @Test(
        arguments: [
            (359.6, 0), (359.4, 359), (0, 0), (90.5, 91), (nil, nil),
        ] as [(Double?, Int?)])
    func carriesTheHeadingInWholeDegrees(heading: Double?, expected: Int?) {
        var fix = Fix.sample(0)
        fix.headingDegrees = heading
        #expect(LocationUpdate(fix).headingDegrees == expected)
    }

    @Test(arguments: [(100.0, 47.5, 147.5), (100, nil, nil), (nil, 47.5, nil)] as [(Double?, Double?, Double?)])
    func hasItsAltitudeAboveTheEllipsoid(altitude: Double?, separation: Double?, expected: Double?) {
        var fix = Fix.sample(0)
        (fix.altitudeMeters, fix.geoidSeparationMeters) = (altitude, separation)
        #expect(LocationUpdate(fix).altitudeMeters == expected)
    }

    /// The update is rounded once, so that the stored and the sent update are equal.
    @Test func isRoundedToTheCentimetre() {
        var fix = Fix.sample(0)
        fix.latitude = 48.117_333_349_9
        fix.longitude = -11.516_666_666_666_667
        fix.altitudeMeters = 545.404
        fix.geoidSeparationMeters = 46.905
        fix.speedMetersPerSecond = 12.345_1
        fix.horizontalAccuracyMeters = 2.504_999
        let update = LocationUpdate(fix)
        #expect(update.latitude == 48.1173333 && update.longitude == -11.5166667)
        #expect(update.altitudeMeters == 592.31 && update.speedMetersPerSecond == 12.35)
        #expect(update.horizontalAccuracyMeters == 2.5)
    }

    @Test func isRoundedOnlyOnce() {
        var chance = SplitMix64(seed: 1)
        for _ in 0..<10_000 {
            var fix = Fix.sample(0)
            fix.latitude = .random(in: -90...90, using: &chance)
            fix.longitude = .random(in: -180...180, using: &chance)
            fix.speedMetersPerSecond = .random(in: 0...200, using: &chance)
            fix.horizontalAccuracyMeters = .random(in: 0...10_000, using: &chance)
            let update = LocationUpdate(fix)
            #expect(LocationUpdate(Fix(update)) == update)
        }
    }
}

/// A reporting policy whose fixes pass the motion filter first.
final class FilteredPolicy {
    private var policy: ReportingPolicy
    private var filter = MotionFilter()

    init(_ kind: ReportingPolicy.Kind, heartbeat: Duration = .seconds(60)) {
        policy = ReportingPolicy(kind, heartbeat: heartbeat)
    }

    func update(of fix: Fix) -> LocationUpdate? {
        let filtered = filter.filtered(fix)
        policy.observe(filtered, motion: filter.motion)
        guard policy.isDue(filtered) else { return nil }
        policy.didReport(filtered)
        return LocationUpdate(filtered)
    }

    func isDue(_ fix: Fix) -> Bool { update(of: fix) != nil }
}
