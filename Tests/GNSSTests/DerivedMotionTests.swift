import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

@Suite struct DerivedMotions {
    private static func withDerivedMotion(_ fixes: [Fix]) -> [Fix] {
        var motion = DerivedMotion()
        return fixes.map { motion.complete($0) }
    }

    /// Returns fixes one second apart that go north at `speed` metres per second.
    private static func drive(seconds: Int, speed: Double, from start: Double = 0, at second: Int = 0) -> [Fix] {
        (0..<seconds).map { .sample(Double(second + $0), north: start + speed * Double($0)) }
    }

    private static func isNear(_ value: Double?, to expected: Double, within tolerance: Double = 0.02) -> Bool {
        value.map { abs($0 - expected) <= tolerance } ?? false
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fixes: [Fix]
        /// The derived speed of the last fix; `nil` if none may be derived.
        let speed: Double?
        /// The derived heading of the last fix; `nil` if none may be derived.
        let heading: Double?
    }

    private static let drives: [Row] = [
        Row(testDescription: "a single fix", fixes: [.sample(0)], speed: nil, heading: nil),
        Row(testDescription: "two fixes, far apart", fixes: drive(seconds: 2, speed: 20), speed: nil, heading: nil),
        Row(testDescription: "three fixes that agree", fixes: drive(seconds: 3, speed: 20), speed: 20, heading: 0),
        Row(
            testDescription: "two fixes, closer than their errors", fixes: drive(seconds: 2, speed: 10), speed: nil,
            heading: nil
        ),
        Row(
            testDescription: "three fixes, farther apart than their errors", fixes: drive(seconds: 3, speed: 10),
            speed: 10,
            heading: 0),
        Row(testDescription: "on foot", fixes: drive(seconds: 20, speed: 1.5), speed: 1.5, heading: 0),
        Row(testDescription: "south", fixes: drive(seconds: 5, speed: -10), speed: 10, heading: 180),
        Row(
            testDescription: "ten fixes per second",
            fixes: (0..<40).map { .sample(Double($0) / 10, north: Double($0) * 1.5) }, speed: 15, heading: 0),
        Row(
            testDescription: "a fix every ten seconds",
            fixes: (0..<4).map { .sample(Double($0) * 10, north: Double($0) * 100) },
            speed: 10, heading: 0),
        Row(
            testDescription: "a fix every thirty seconds",
            fixes: (0..<4).map { .sample(Double($0) * 30, north: Double($0) * 300) },
            speed: nil, heading: nil),
        Row(testDescription: "standing", fixes: drive(seconds: 15, speed: 0), speed: 0, heading: nil),
        Row(
            testDescription: "standing, but not for long enough", fixes: drive(seconds: 5, speed: 0), speed: nil,
            heading: nil),
        Row(
            testDescription: "standing, with errors that hide a drive",
            fixes: (0..<15).map { .sample(Double($0), accuracy: 30) }, speed: nil, heading: nil),
        Row(
            testDescription: "after a gap", fixes: drive(seconds: 10, speed: 10) + [.sample(40, north: 400)],
            speed: nil,
            heading: nil),
        Row(
            testDescription: "after a jump", fixes: drive(seconds: 10, speed: 0) + [.sample(10, north: 2000)],
            speed: nil,
            heading: nil),
        Row(
            testDescription: "after a jump no longer than a car can drive",
            fixes: drive(seconds: 10, speed: 0) + [.sample(10, north: 40)], speed: nil, heading: nil),
        Row(
            testDescription: "after a single wrong fix",
            fixes: drive(seconds: 10, speed: 0) + [.sample(10, north: 40), .sample(11)], speed: nil, heading: nil),
        Row(
            testDescription: "a clock set back",
            fixes: drive(seconds: 10, speed: 10, at: 100) + [.sample(0, north: 100)],
            speed: nil, heading: nil),
        Row(
            testDescription: "stopped a moment ago",
            fixes: drive(seconds: 5, speed: 10) + drive(seconds: 4, speed: 0, from: 40, at: 5), speed: nil, heading: nil
        ),
        Row(
            testDescription: "stopped for long enough",
            fixes: drive(seconds: 5, speed: 10) + drive(seconds: 15, speed: 0, from: 40, at: 5), speed: 0,
            heading: nil),
        Row(
            testDescription: "just driven off",
            fixes: drive(seconds: 60, speed: 0) + drive(seconds: 3, speed: 12, from: 12, at: 60),
            speed: 12,
            heading: 0),
    ]

    @Test(arguments: drives) func haveSpeedAndCourse(row: Row) {
        let last = Self.withDerivedMotion(row.fixes).last
        #expect(last?.speedMetersPerSecond == nil && last?.headingDegrees == nil)
        if let speed = row.speed {
            #expect(Self.isNear(last?.derived.speedMetersPerSecond, to: speed))
        } else {
            #expect(last?.derived.speedMetersPerSecond == nil)
        }
        if let heading = row.heading {
            #expect(Self.isNear(last?.derived.headingDegrees, to: heading, within: 0.1))
        } else {
            #expect(last?.derived.headingDegrees == nil)
        }
    }

    @Test func keepReportedValues() {
        let fixes = Self.drive(seconds: 20, speed: 10).map { fix in
            var fix = fix
            fix.speedMetersPerSecond = 10
            fix.headingDegrees = 0
            return fix
        }
        #expect(Self.withDerivedMotion(fixes) == fixes)
    }

    /// Reported speeds, and whether a course is derived.
    @Test(arguments: [(20.0, true), (1.4, false), (0, false)]) func addACourseIfTheReportedSpeedShowsMotion(
        speed: Double, isDerived: Bool
    ) {
        let fixes = (0..<6).map { Fix.sample(Double($0), north: Double($0) * 20, speed: speed) }
        let last = Self.withDerivedMotion(fixes).last
        #expect(last?.derived.speedMetersPerSecond == nil)
        #expect((last?.derived.headingDegrees != nil) == isDerived)
    }

    /// The error of a parked receiver's positions, in sevenths of the reported error.
    @Test(arguments: [1.0, 3, 5, 7]) func deriveAlmostNoCourseFromTheNoiseOfAParkedReceiver(sevenths: Double) {
        var chance = SplitMix64(seed: 7)
        func error() -> Double { (0..<12).reduce(-6) { sum, _ in sum + chance.unit() } * 4.5 / 1.51 * sevenths / 7 }
        let fixes = (0..<4000).map { second in
            var fix = Fix.sample(Double(second), north: error(), accuracy: 4.5)
            fix.longitude += error() / 71_474
            return fix
        }
        let courses = Self.withDerivedMotion(fixes).count { $0.derived.headingDegrees != nil }
        #expect(courses <= (sevenths < 5 ? 0 : 4000 / 50), "\(courses) courses")
    }

    @Test func areCorrectAcrossTheDateLine() {
        let fixes = (0..<5).map { second in
            var fix = Fix.sample(Double(second))
            fix.longitude = 179.9995 + Double(second) * 0.0003
            if fix.longitude > 180 { fix.longitude -= 360 }
            return fix
        }
        let last = Self.withDerivedMotion(fixes).last
        #expect(Self.isNear(last?.derived.headingDegrees, to: 90, within: 0.1))
        #expect(Self.isNear(last?.derived.speedMetersPerSecond, to: 21.44, within: 0.1))
    }
}
