import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

/// Receivers whose reported speed or course isn't that of their track.
@Suite struct StatedMotions {
    /// Returns a repeated drive of a minute north, a minute east and a stop of half a minute; one fix per second,
    /// errors of 1 m.
    private static func drive(
        metersPerSecond: Double, minutes: Int = 6,
        states: (_ speed: Double, _ course: Double?) -> (speed: Double?, course: Double?)
    ) -> [Fix] {
        var chance = SplitMix64(seed: 11)
        var east = 0.0
        var north = 0.0
        return (0..<(minutes * 60)).map { second in
            let phase = second % 150
            let course = phase < 60 ? 0.0 : phase < 120 ? 90 : nil
            let speed = course == nil ? 0 : metersPerSecond
            if course == 0 { north += speed } else { east += speed }
            var fix = Fix.sample(Double(second), north: north + chance.uniform(-0.7...0.7), accuracy: 4.5)
            fix.longitude += (east + chance.uniform(-0.7...0.7)) / 71_474
            let stated = states(speed, course)
            fix.speedMetersPerSecond = stated.speed
            fix.headingDegrees = stated.course
            return fix
        }
    }

    /// Returns for each fix whether the track up to it contradicts the stated motion.
    private static func contradictions(in fixes: [Fix]) -> [Bool] {
        var motion = DerivedMotion()
        return fixes.map { fix in
            _ = motion.complete(fix)
            return motion.contradictsReportedMotion
        }
    }

    /// The speed of a drive in metres per second, the factor and offset of the reported speeds, and the second by which
    /// the receiver is found to be wrong.
    @Test(
        arguments: [
            ("always 0", 12.0, 0.0, 0.0, 12), ("always 0, in town", 6, 0, 0, 15), ("km/h as knots", 12, 1.852, 0, 20),
            ("km/h as knots, slowly", 6, 1.852, 0, 30), ("m/s as knots", 12, 0.514, 0, 20), ("stuck", 12, 0, 25, 20),
        ] as [(String, Double, Double, Double, Int)])
    func areNotUsedIfTheTrackContradictsThem(
        name: String, metersPerSecond: Double, factor: Double, offset: Double, second: Int
    ) {
        let fixes = Self.drive(metersPerSecond: metersPerSecond) { ($0 * factor + offset, $1) }
        #expect(Self.contradictions(in: fixes).dropFirst(second).allSatisfy { $0 }, "\(name)")
    }

    @Test func areNotUsedIfTheCourseIsAlwaysZero() {
        let isContradicted = Self.contradictions(in: Self.drive(metersPerSecond: 12) { speed, _ in (speed, 0) })
        #expect(!isContradicted[..<60].contains(true) && isContradicted[75..<150].allSatisfy { $0 })
    }

    /// Derived values have their own fields; reported values don't change.
    @Test func areSupplementedByDerivedValues() {
        var motion = DerivedMotion()
        let fixes = Self.drive(metersPerSecond: 12) { _, _ in (0, 0) }
        let completed = fixes.map { motion.complete($0) }
        #expect(completed.map(\.speedMetersPerSecond) == fixes.map(\.speedMetersPerSecond))
        #expect(completed[20..<60].allSatisfy { abs(($0.derived.speedMetersPerSecond ?? 0) - 12) < 1 })
        #expect(
            completed[20..<60].allSatisfy {
                min($0.derived.headingDegrees ?? 180, 360 - ($0.derived.headingDegrees ?? 180)) < 5
            })
    }

    @Test(arguments: [1.5, 6, 12, 35]) func areUsedIfTheTrackAgrees(metersPerSecond: Double) {
        #expect(!Self.contradictions(in: Self.drive(metersPerSecond: metersPerSecond) { ($0, $1) }).contains(true))
    }

    @Test func areUsedAgainAfterThirtySecondsOfAgreement() {
        let fixes = Self.drive(metersPerSecond: 12, minutes: 10) { ($0, $1) }
        let broken = fixes.enumerated().map { second, fix in
            var fix = fix
            if second < 100 { fix.speedMetersPerSecond = 0 }
            return fix
        }
        let isContradicted = Self.contradictions(in: broken)
        #expect(isContradicted[12..<100].allSatisfy { $0 })
        #expect(isContradicted[100..<125].allSatisfy { $0 })
        #expect(!isContradicted[240...].contains(true))
    }

    /// A single wrong speed, hard braking and turning don't discredit the receiver.
    @Test func areUsedAfterOneWrongSpeed() {
        let fixes = Self.drive(metersPerSecond: 12) { ($0, $1) }.enumerated().map { second, fix in
            var fix = fix
            if second % 40 == 20 { fix.speedMetersPerSecond = 60 }
            return fix
        }
        #expect(!Self.contradictions(in: fixes).contains(true))
    }
}
