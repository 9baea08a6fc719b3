import GNSS
import Testing
import WaypostTestSupport

@testable import Reporting

@Suite struct MotionFilters {
    private static func filtered(_ fixes: [Fix]) -> [Fix] {
        var filter = MotionFilter()
        return fixes.map { filter.filtered($0) }
    }

    /// The drift of a parked receiver in metres north of its place.
    private static let drift = [0, 3, -2, 6, 4, -5, 8, -7, 2, 9, -3, 1].map { Double($0) }

    /// The vehicle may be at a traffic light for the first minute, so its fixes are reported unchanged.
    @Test func keepAParkedVehicleInOnePlace() {
        let fixes = (0..<180).map { Fix.sample(Double($0), north: Self.drift[$0 % 12], speed: 0.1) }
        let filtered = Self.filtered(fixes)
        #expect(filtered.prefix(60) == fixes.prefix(60))
        #expect(Set(filtered.dropFirst(60).map(\.latitude)).count == 1)
        #expect(filtered.map(\.timeOfFix) == fixes.map(\.timeOfFix))
        #expect(filtered.dropFirst(61).allSatisfy { $0.speedMetersPerSecond == 0 })
    }

    /// Half a minute elsewhere may be drift; after a longer time, the vehicle is parked there.
    @Test func correctAWrongPlace() {
        let places = [(0..<90, 0.0), (90..<120, 8), (120..<150, 1), (150..<300, 8)]
        let fixes = places.flatMap { seconds, north in
            seconds.map { Fix.sample(Double($0), north: north, speed: 0.1) }
        }
        let filtered = Self.filtered(fixes)
        #expect(filtered[61...180].allSatisfy { $0.latitude == fixes[0].latitude })
        #expect(filtered[181...].allSatisfy { $0.latitude == fixes[299].latitude })
    }

    @Test func reportADepartureAtOnceWithAPlausibleSpeed() {
        var fixes = (0..<60).map { Fix.sample(Double($0), north: Self.drift[$0 % 12], speed: 0.1) }
        fixes.append(.sample(60, north: 12, speed: 2))
        #expect(Self.filtered(fixes).last == fixes.last)
    }

    @Test func reportASlowDepartureOnceThePlaceIsLeft() {
        // 0.25 m/s is standstill by the speed field, but the distance adds up.
        let fixes = (0..<200).map { Fix.sample(Double($0), north: Double($0) * 0.25, speed: 0.25) }
        for (filtered, fix) in zip(Self.filtered(fixes), fixes) { #expect(filtered.distance(to: fix) <= 15.5) }
    }

    @Test func doNotHoldAShortStop() {
        let speeds = [8.0, 4, 0.1, 0.1, 0.1, 4, 8]
        let fixes = speeds.indices.map { Fix.sample(Double($0), north: Double($0) * 3, speed: speeds[$0]) }
        let filtered = Self.filtered(fixes)
        #expect(filtered.map(\.latitude) == fixes.map(\.latitude))
        #expect(filtered.map(\.speedMetersPerSecond) == speeds)
    }

    @Test func acceptAMuchBetterPlace() {
        let rough = (0..<70).map { Fix.sample(Double($0), speed: 0, accuracy: 40) }
        let good = (70..<80).map { Fix.sample(Double($0), north: 20, speed: 0, accuracy: 4) }
        #expect(Self.filtered(rough + good).last?.latitude == good.last?.latitude)
    }

    @Test func holdAParkedVehicleWhoseReceiverReportsNoSpeed() {
        let fixes = (0..<120).map { Fix.sample(Double($0), north: Self.drift[$0 % 12] / 4) }
        let filtered = Self.filtered(fixes)
        #expect(Set(filtered.dropFirst(60).map(\.latitude)).count == 1)
        #expect(filtered.dropFirst(61).allSatisfy { $0.speedMetersPerSecond == 0 && $0.headingDegrees == nil })
    }

    /// A vehicle that has been standing for a while moves on by ten metres at these speeds, with or without reported
    /// speeds.
    @Test(arguments: [1.0, 1.5, 2], [true, false])
    func followAParkedVehicleThatIsShunted(metersPerSecond: Double, statesSpeed: Bool) {
        for seconds in stride(from: 64.0, to: 124, by: 6) {
            var ride = SimulatedRide()
            ride.drive(for: 20, at: 10)
            ride.stand(for: seconds)
            ride.drive(for: 10 / metersPerSecond, at: metersPerSecond, acceleration: 2)
            ride.stand(for: 150)
            let exact = ride.fixes(wander: 0, speedNoise: 0)
            let fixes = ride.fixes(wander: 0.3, memory: 20, speedNoise: 0.05, statesSpeed: statesSpeed)
            let worst = ReplayedIntake(fixes).maximumTrackError(against: exact)
            #expect(worst <= 6, "after \(seconds) s")
        }
    }

    /// A parked receiver's positions in town wander by many metres per minute.
    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func keepADriftingVehicleWithoutASpeedInItsPlace(seed: UInt64) {
        var ride = SimulatedRide()
        ride.stand(for: 1800)
        let fixes = ride.fixes(wander: 3, memory: 150, statesSpeed: false, accuracy: 10, seed: seed)
        let intake = ReplayedIntake(fixes)
        #expect(intake.placeCount(from: fixes[0].timeOfFix) <= 12)
    }

    @Test func ignoreReportedMotionThatTheTrackContradicts() {
        let fixes = (0..<60).map { Fix.sample(Double($0), north: Double($0) * 12, speed: 0, heading: 90) }
        var filter = MotionFilter()
        let filtered = fixes.map { filter.filtered($0) }.dropFirst(12)
        #expect(filter.contradictsReportedMotion)
        #expect(filtered.allSatisfy { abs(($0.speedMetersPerSecond ?? 0) - 12) < 0.1 && $0.headingDegrees == 0 })
    }

    @Test func reportTheMotionOfTheTrackIfTheReceiverReportsNone() {
        let fixes = (0..<30).map { Fix.sample(Double($0), north: Double($0) * -12) }
        let filtered = Self.filtered(fixes)
        #expect(filtered.dropFirst(2).allSatisfy { abs(($0.speedMetersPerSecond ?? 0) - 12) < 0.1 })
        #expect(filtered.dropFirst(2).allSatisfy { $0.headingDegrees == 180 })
        // The filter has moved the derived speed and heading into the fix's main fields, so `derived` is empty.
        #expect(filtered.allSatisfy { $0.derived.speedMetersPerSecond == nil && $0.derived.headingDegrees == nil })
        #expect(filtered.last.map { LocationUpdate($0).headingDegrees } == 180)
    }

    @Test func reportNoMotionWithoutATrack() {
        let fixes = (0..<10).map { Fix.sample(Double($0) * 30, north: Double($0) * 300) }
        #expect(Self.filtered(fixes) == fixes)
    }

    @Test func acceptAClockThatWasSetBack() {
        var fixes = (100..<160).map { Fix.sample(Double($0), speed: 0.1) }
        fixes += (0..<60).map { Fix.sample(Double($0), north: 500, speed: 0.1) }
        #expect(Self.filtered(fixes).last?.latitude == fixes.last?.latitude)
    }

    /// Speeds at intervals of a second with a course of 90 degrees, and the reported headings.
    static let headings: [([Double], [Double?])] = [
        ([2, 1.2, 0.8, 0.6], [90, 90, 90, 90]),  // creeping keeps the earlier course
        ([1.2, 1.2], [nil, nil]),  // never fast enough for a course
        ([2, 0.4, 0.2], [90, nil, nil]),
        ([2, 0.4, 1.2, 1.6], [90, nil, 90, 90]),
    ]

    @Test(arguments: headings) func steadyTheHeading(speeds: [Double], headings: [Double?]) {
        let fixes = speeds.indices.map { index in
            var fix = Fix.sample(Double(index), speed: speeds[index])
            // At these speeds the course is noise.
            fix.headingDegrees = speeds[index] >= 1.5 ? 90 : index == 1 && speeds[0] == 2 && speeds[1] == 1.2 ? 90 : 271
            return fix
        }
        #expect(Self.filtered(fixes).map(\.headingDegrees) == headings)
    }

    @Test func keepACourseForAtMostAMinute() {
        var moving = Fix.sample(0, speed: 3)
        moving.headingDegrees = 45
        let filtered = Self.filtered([moving, .sample(60, speed: 0.8), .sample(61, speed: 0.8)])
        #expect(filtered.map(\.headingDegrees) == [45, 45, nil])
    }

    @Test func useTheBodyHeadingIfReported() {
        var (standing, moving) = (Fix.sample(0, speed: 0), Fix.sample(1, speed: 5))
        (standing.bodyHeadingDegrees, moving.bodyHeadingDegrees) = (120, 300)
        (standing.headingDegrees, moving.headingDegrees) = (7, 120)  // driving backwards
        #expect(Self.filtered([standing, moving]).map(\.headingDegrees) == [120, 120])
    }

    @Test func keepACourseWithoutASpeed() {
        var fix = Fix.sample(0)
        fix.headingDegrees = 12
        #expect(Self.filtered([fix]) == [fix])
    }

    private static func filteredRadii(of fixes: [Fix]) -> [Double?] {
        filtered(fixes).map { $0.horizontalAccuracyMeters.map { ($0 * 1000).rounded() / 1000 } }
    }

    @Test func growTheAccuracyRadiusOfDeadReckoning() {
        var fixes = (0..<5).map { Fix.sample(Double($0 * 30), north: Double($0) * 300, speed: 10, accuracy: 4) }
        for index in 1..<4 { fixes[index].quality = .estimated }
        fixes[3].horizontalAccuracyMeters = 500
        #expect(Self.filteredRadii(of: fixes) == [4, 34, 64, 500, 4])
    }

    /// If an odometer errs by 10 %, the reported radius equals the position's error.
    @Test func growTheAccuracyRadiusOfDeadReckoningWithTheDistance() throws {
        let fixes = (0...115).map { second in
            var fix = Fix.sample(Double(second), north: Double(second) * 25, speed: 25, accuracy: 10)
            if second > 0 { fix.quality = .estimated }
            return fix
        }
        let radii = Self.filtered(fixes).compactMap(\.horizontalAccuracyMeters)
        #expect(radii.count == fixes.count && radii.first == 10)
        #expect(abs(try #require(radii.last) - 297.5) < 1)
    }

    @Test func growTheAccuracyRadiusOfDeadReckoningWithoutAnySatelliteFix() {
        let fixes = (0..<3).map { index in
            var fix = Fix.sample(Double(index), north: Double(index) * 10, speed: 10, accuracy: nil)
            fix.quality = .estimated
            return fix
        }
        #expect(Self.filteredRadii(of: fixes) == [10, 11, 12])
    }
}
