import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import Reporting

@Suite struct TrackShape {
    private static func fix(_ second: Double, east: Double, north: Double = 0, speed: Double? = nil) -> Fix {
        var fix = Fix.sample(second, north: north, speed: speed)
        fix.longitude += east / (111_195 * 0.642_787_6)
        return fix
    }

    private static func drive(_ seconds: ClosedRange<Int>, along place: (Double) -> (Double, Double)) -> [Fix] {
        seconds.map { second in
            let (east, north) = place(Double(second))
            return fix(Double(second), east: east, north: north)
        }
    }

    /// Fixes, the last of which becomes an update, and the seconds of the update's shape points.
    static let cases: [(name: String, fixes: [Fix], points: [Double])] = [
        ("a straight road", drive(0...10) { ($0 * 14, 0) }, []),
        ("a standing vehicle", drive(0...60) { _ in (0, 0) }, []),
        ("a corner", drive(0...10) { (min($0, 5) * 14, max(0, $0 - 5) * 14) }, [5]),
        (
            "a stop, begun and ended", drive(0...30) { (min($0, 10) * 10 + max(0, $0 - 20) * 10, 0) },
            [10, 20]
        ),
        ("moving off", drive(0...10) { (max(0, $0 - 6) * 8, 0) }, [6]),
        ("braking from 14 m/s to a stand", drive(0...10) { (14 * $0 - 0.7 * $0 * $0, 0) }, [5]),
        (
            "a gap: the last fix before it and the first one after it",
            drive(0...5) { ($0 * 14, 0) } + drive(47...50) { ($0 * 14, 300) }, [5, 47]
        ),
        ("a gap that the update ends", drive(0...5) { ($0 * 14, 0) } + [fix(50, east: 900)], [5]),
        ("a gap after the update", [fix(0, east: 0)] + drive(40...45) { ($0 * 14, 0) }, [40]),
        (
            "a jump: both sides of it", drive(0...5) { ($0 * 14, 0) } + drive(6...10) { ($0 * 14, 9000) },
            [5, 6]
        ),
        (
            "every second fix lost", stride(from: 0.0, through: 10, by: 2).map { fix($0, east: $0 * 14) }, []
        ),
        (
            "a corner at 10 Hz, where later points would also be close enough",
            (0...100).map {
                fix(Double($0) / 10, east: min(Double($0), 50) * 1.4, north: max(0, Double($0) - 50) * 1.4)
            },
            [5]
        ),
        (
            "a corner in a tunnel, estimated",
            drive(0...10) { (min($0, 5) * 14, max(0, $0 - 5) * 14) }.map { fix in
                var fix = fix
                fix.quality = .estimated
                return fix
            }, [5]
        ),
    ]

    @Test(arguments: cases) func keepsTheTolerance(name: String, fixes: [Fix], points: [Double]) {
        var shape = ShapePoints(toleranceMeters: 5)
        shape.add(fixes[0])
        #expect(shape.takePoints().isEmpty)
        for fix in fixes.dropFirst() { shape.add(fix) }
        let start = Fix.sample(0).timeOfFix
        #expect(shape.takePoints().map { start.duration(to: $0.timeOfFix) / .seconds(1) } == points, "\(name)")
    }

    /// The receiver's distances from the parking place at intervals of a second, whether the vehicle is treated as
    /// parked, and the seconds of the shape points.
    static let parked: [(name: String, rows: [(east: Double, isParked: Bool)], points: [Double])] = [
        ("drift that returns", [3, 8, 12, 7, 2, 0].map { ($0, true) }, []),
        ("drift that stays", [3, 8, 12, 12, 12, 12].map { ($0, true) }, []),
        (
            "moving off before the speed shows it",
            [0, 0, 0, 4, 9].map { ($0, true) } + [16, 24, 33].map { ($0, false) }, [4]
        ),
        (
            "moving off from the drifted position", [8, 9, 9, 8].map { ($0, true) } + [14, 22].map { ($0, false) },
            [1, 4]
        ),
        ("moving off at once", [0, 1, 0, 1].map { ($0, true) } + [6, 14, 22].map { ($0, false) }, [4]),
    ]

    /// The drift of a parked vehicle isn't part of the track, but after a departure the fixes before it are.
    @Test(arguments: parked) func includesTheDeparture(
        name: String, rows: [(east: Double, isParked: Bool)], points: [Double]
    ) {
        var (shape, fixes) = (ShapePoints(toleranceMeters: 5), [Self.fix(0, east: 0)])
        shape.add(fixes[0])
        #expect(shape.takePoints().isEmpty)
        for (index, row) in rows.enumerated() {
            let second = Double(index + 1)
            fixes.append(Self.fix(second, east: row.east))
            shape.add(Self.fix(second, east: row.isParked ? 0 : row.east), rawFix: Self.fix(second, east: row.east))
        }
        let start = fixes[0].timeOfFix
        #expect(shape.takePoints().map { start.duration(to: $0.timeOfFix) / .seconds(1) } == points, "\(name)")
    }

    @Test func hasOnlyTimesAndPositions() throws {
        var shape = ShapePoints(toleranceMeters: 5)
        var fixes = Self.drive(0...10) { (min($0, 5) * 14, max(0, $0 - 5) * 14) }
        fixes[5].headingDegrees = 45
        fixes[5].speedMetersPerSecond = 14
        fixes[5].horizontalAccuracyMeters = 3
        (fixes[5].altitudeMeters, fixes[5].geoidSeparationMeters) = (20, 40)
        for fix in fixes {
            shape.add(fix)
            if fix == fixes[0] { _ = shape.takePoints() }
        }
        #expect(shape.takePoints() == [LocationUpdate(placeOf: fixes[5])])
    }

    /// After a wrong clock is recognised, none of its fixes become shape points.
    @Test func isForgottenIfTheClockWasWrong() {
        var shape = ShapePoints(toleranceMeters: 5)
        for fix in Self.drive(100...110, along: { (min($0, 105) * 14, max(0, $0 - 105) * 14) }) { shape.add(fix) }
        shape.reset()
        shape.add(Self.fix(1, east: 0))
        #expect(shape.takePoints().isEmpty)
    }

    @Test func dependsOnTheConfiguredTolerance() {
        let corner = Self.drive(0...10) { (min($0, 5) * 14, max(0, $0 - 5) * 14) }
        func pointCount(tolerance meters: Double?) -> Int {
            var shape = ShapePoints(toleranceMeters: meters)
            for fix in corner {
                shape.add(fix)
                if fix == corner[0] { _ = shape.takePoints() }
            }
            return shape.takePoints().count
        }
        #expect([nil, 5, 100].map(pointCount) == [0, 1, 0])
    }
}
