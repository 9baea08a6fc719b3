import GNSS
import Testing
import WaypostTestSupport

@testable import Reporting

@Suite struct PrivateModes {
    /// A zone with a radius of 100 m around the place of the samples.
    private static let zones = [PrivateZone(latitude: 50, longitude: 10, radiusMeters: 100)]

    /// Distances north of the centre in metres, and whether each fix may be disclosed.
    @Test(
        arguments: [
            ([150, 110, 95, 60, 105, 109, 111, 105], [true, true, false, false, false, false, true, true]),
            ([0, 108, 112], [false, false, true]),
        ] as [([Double], [Bool])])
    func endOnlyBeyondTheBorderOfAZone(meters: [Double], disclosed: [Bool]) {
        var mode = PrivateMode(zones: Self.zones)
        var seen: [Bool] = []
        for meters in meters { seen.append(mode.mayDisclose(.sample(0, north: meters, accuracy: 5))) }
        #expect(seen == disclosed)
    }

    /// The accuracy of a fix, and the distance from the centre at which the vehicle leaves the zone.
    @Test(arguments: [(1, 112), (40, 142), (5000, 202), (nil, 127)] as [(Double?, Double)])
    func considerTheErrorOfEachFix(accuracy: Double?, meters: Double) {
        var mode = PrivateMode(zones: Self.zones)
        _ = mode.mayDisclose(.sample(0, accuracy: accuracy))
        let isDisclosedAtTheBorder = mode.mayDisclose(.sample(0, north: meters - 4, accuracy: accuracy))
        #expect(!isDisclosedAtTheBorder)
        let isDisclosedBeyond = mode.mayDisclose(.sample(0, north: meters, accuracy: accuracy))
        #expect(isDisclosedBeyond)
    }

    /// The first fix after the switch is turned off may belong to the private period.
    @Test func followTheirSwitch() {
        var mode = PrivateMode(zones: [])
        var disclosed: [Bool] = []
        for isOn in [false, true, true, false, false, true] {
            mode.observe(isSwitchedOn: isOn)
            #expect(mode.isPrivate == isOn)
            disclosed.append(mode.mayDisclose(.sample(0)))
        }
        #expect(disclosed == [true, false, false, false, true, false])
    }

    /// The time in milliseconds for which the process was frozen after its last reading of the switch. Fixes that the
    /// receiver has buffered aren't disclosed, because the switch may have been on.
    @Test(
        arguments: [
            (2000, [true, true, true]), (2001, [false, false, true]), (3_600_000, [false, false, true]),
        ] as [(Int, [Bool])])
    func withholdBufferedFixesAfterAGapBetweenReadings(milliseconds: Int, expected: [Bool]) {
        var mode = PrivateMode(zones: [])
        mode.observe(isSwitchedOn: false, at: .seconds(10), isPolled: true)
        var disclosed: [Bool] = []
        for after in [0, 999, 1000] {
            let now = Duration.seconds(10) + .milliseconds(milliseconds + after)
            mode.observe(isSwitchedOn: false, at: now)
            disclosed.append(mode.mayDisclose(.sample(0), at: now))
        }
        #expect(disclosed == expected)
        #expect(!mode.isPrivate)
    }

    /// If the switch is only read at each fix, as in a replay, a pause of the receiver means nothing.
    @Test func ignoreGapsOfASwitchThatIsNotPolled() {
        var mode = PrivateMode(zones: [])
        for second in [0, 10, 100] {
            mode.observe(isSwitchedOn: false, at: .seconds(second))
            let isDisclosed = mode.mayDisclose(.sample(0), at: .seconds(second))
            #expect(isDisclosed)
        }
    }

    /// A rejected fix neither begins nor ends private mode, and isn't disclosed.
    @Test func ignoreRejectedFixes() {
        var mode = PrivateMode(zones: Self.zones)
        var disclosed = [mode.mayDisclose(.sample(0), isAccepted: false)]
        #expect(!mode.isPrivate)
        disclosed.append(mode.mayDisclose(.sample(0)))
        disclosed.append(mode.mayDisclose(.sample(0, north: 5000), isAccepted: false))
        #expect(mode.isPrivate)
        #expect(disclosed == [false, false, false])
    }

    @Test func stayOnInAZoneWhenTheSwitchIsTurnedOff() {
        var mode = PrivateMode(zones: Self.zones)
        mode.observe(isSwitchedOn: true)
        _ = mode.mayDisclose(.sample(0))
        mode.observe(isSwitchedOn: false)
        #expect(mode.isPrivate, "until a fix states where the vehicle is")
        let disclosed = [mode.mayDisclose(.sample(1, north: 9000)), mode.mayDisclose(.sample(2, north: 9000))]
        #expect(disclosed == [false, true])
    }

    @Test func mayBeInAZoneUntilAFixIsAccepted() {
        var mode = PrivateMode(zones: Self.zones)
        var may = [mode.mayBeInZone]
        _ = mode.mayDisclose(.sample(0), isAccepted: false)
        may.append(mode.mayBeInZone)
        _ = mode.mayDisclose(.sample(0, north: 9000))
        may.append(mode.mayBeInZone)
        #expect(may == [true, true, false])
        #expect(!PrivateMode(zones: []).mayBeInZone)
    }
}
