import GNSS
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import Replay

/// A vehicle that drives east at 10 m/s and turns north after a minute.
@Suite struct FollowerMeters {
    private static let metersPerDegree = 111_195.0

    private static func fix(at second: Int, east: Double, north: Double = 0, heading: Double = 90) -> Fix {
        var fix = Fix(
            timeOfFix: UTCTime(millisecondsSince1970: 1_767_600_000_000 + Int64(second) * 1000),
            latitude: north / metersPerDegree, longitude: 11 + east / metersPerDegree)
        (fix.speedMetersPerSecond, fix.headingDegrees) = (10, heading)
        return fix
    }

    private static let corner =
        (0...60).map { fix(at: $0, east: Double($0) * 10) }
        + (61...120).map { fix(at: $0, east: 600, north: Double($0 - 60) * 10, heading: 0) }

    /// Returns the errors at the corner if these fixes become updates and shape points.
    private static func errors(updates: [Int], points: [Int] = [], drive: [Fix] = corner) -> FollowerErrors {
        var errors = FollowerErrors()
        for (index, fix) in drive.enumerated() {
            errors.addFix(fix)
            guard updates.contains(index) else { continue }
            let before = updates.last { $0 < index } ?? -1
            for point in points where point > before && point < index {
                errors.addUpdate(LocationUpdate(placeOf: drive[point]))
            }
            errors.addUpdate(LocationUpdate(fix))
        }
        return errors
    }

    @Test func measureTheErrorFromACornerToTheNextUpdate() {
        let errors = Self.errors(updates: [0, 50, 75, 120])
        #expect(abs(errors.live.maximum - 140 * 2.0.squareRoot()) < 1, "fourteen seconds on each leg")
        #expect(errors.live.count == 120)
        #expect(errors.track.maximum > 50)
    }

    @Test func measureNoTrackErrorIfTheCornerIsReported() {
        let errors = Self.errors(updates: [0, 50, 75, 120], points: [60])
        #expect(errors.track.maximum < 0.1 && errors.track.count == 120)
        #expect(abs(errors.live.maximum - 140 * 2.0.squareRoot()) < 1, "the live error is unchanged")
    }

    /// A gap of one minute, after which the vehicle is elsewhere.
    @Test func ignoreGaps() {
        let drive =
            (0...20).map { Self.fix(at: $0, east: Double($0) * 10) }
            + (80...100).map { Self.fix(at: $0, east: 3000 + Double($0) * 10) }
        let errors = Self.errors(updates: [0, 10, 25, 41], drive: drive)
        #expect(errors.track.maximum < 0.1 && errors.track.count == 10 + 16)
        #expect(errors.live.count == 40, "without the first fix after the gap and the latest one")
    }

    /// Neither the positions of a private period nor the updates that were pending at its start are reported.
    @Test func ignorePrivatePeriods() {
        let meter = FollowerMeter()
        func drive(_ seconds: ClosedRange<Int>, updates: [Int]) {
            for second in seconds {
                meter.observe(.fix(Self.corner[second]))
                guard updates.contains(second) else { continue }
                let update = LocationUpdate(Self.corner[second])
                meter.observe(.accepted(StoredUpdate(sequence: Int64(second), update: update)))
            }
        }
        drive(0...58, updates: [0, 40])
        meter.observe(.privateModeBegan)
        drive(64...120, updates: [64, 74, 120])
        #expect(meter.errors.track.maximum < 0.1 && meter.errors.track.count == 40 + 56)
        #expect(meter.errors.live.maximum < 0.1 && meter.errors.live.count == 58 + 56)
    }

    @Test func measureAcrossTheDateLine() {
        var drive = Self.corner
        for index in drive.indices {
            drive[index].longitude += 168.997
            if drive[index].longitude > 180 { drive[index].longitude -= 360 }
        }
        let errors = Self.errors(updates: [0, 60, 120], drive: drive)
        #expect(errors.track.maximum < 0.1 && errors.track.count == 120)
    }

    @Test func measureObservedEvents() {
        let meter = FollowerMeter()
        for fix in Self.corner.prefix(30) {
            meter.observe(.fix(fix))
            meter.observe(.accepted(StoredUpdate(sequence: 1, update: LocationUpdate(fix))))
        }
        #expect(meter.errors.live.count == 29 && meter.errors.live.maximum < 0.01)
    }
}
