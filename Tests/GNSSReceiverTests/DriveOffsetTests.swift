import GNSS
import Testing
import TimeAndRandomness

@testable import GNSSReceiver

@Suite struct DriveOffsets {
    private static let time = UTCTime(year: 2030, month: 6, day: 1)

    @Test func haveNoEffectIfZero() {
        let fix = Fix(timeOfFix: Self.time, latitude: 52.5, longitude: 13.4)
        #expect(DriveOffset.none.moved(fix) == fix)
        #expect(DriveOffset(delay: .seconds(3), withinMeters: 0, forVehicle: 7).moved(fix) == fix)
    }

    /// The fixes include some at the date line and at a pole.
    @Test(arguments: [(52.5, 13.4), (0, 179.99), (0, -179.99), (-33, 151), (89.9, 0), (-90, 0)])
    func stayWithinValidCoordinates(latitude: Double, longitude: Double) {
        let fix = Fix(timeOfFix: Self.time, latitude: latitude, longitude: longitude)
        for number in 0..<200 {
            let moved = DriveOffset(delay: .zero, withinMeters: 5000, forVehicle: number).moved(fix)
            #expect((-90.0...90).contains(moved.latitude) && (-180.0...180).contains(moved.longitude))
            if abs(latitude) < 80 { #expect(moved.distance(to: fix) < 5100) }
        }
    }

    @Test func keepTheShapeOfTheTrack() {
        let offset = DriveOffset(delay: .zero, withinMeters: 20_000, forVehicle: 42)
        let track = (0..<10).map {
            Fix(timeOfFix: Self.time, latitude: 48 + Double($0) * 0.001, longitude: 11 + Double($0) * 0.002)
        }
        let moved = track.map(offset.moved)
        for index in 1..<10 {
            let length = track[index - 1].distance(to: track[index])
            #expect(abs(moved[index - 1].distance(to: moved[index]) - length) < 0.01 * length)
        }
    }
}
