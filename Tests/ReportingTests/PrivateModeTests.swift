import GNSS
import Testing
import WaypostTestSupport

@testable import Reporting

@Suite struct PrivateModes {
    /// A hundred metres around the place of the samples.
    private static let zones = [PrivateZone(latitude: 50, longitude: 10, radiusMeters: 100)]

    /// Metres north of the centre, and whether that is told.
    @Test(
        arguments: [
            ([150, 110, 95, 60, 105, 109, 111, 105], [true, true, false, false, false, false, true, true]),
            ([0, 108, 112], [false, false, true]),
        ] as [([Double], [Bool])])
    func leavesAZoneOnlyBeyondItsBorder(meters: [Double], told: [Bool]) {
        var mode = PrivateMode(zones: Self.zones)
        var seen: [Bool] = []
        for meters in meters { seen.append(mode.mayDisclose(.sample(0, north: meters, accuracy: 5))) }
        #expect(seen == told)
    }

    /// How much a fix errs, and where the zone is left then.
    @Test(arguments: [(1, 112), (40, 142), (5000, 202), (nil, 127)] as [(Double?, Double)])
    func takesTheErrorOfAFixIntoAccount(accuracy: Double?, meters: Double) {
        var mode = PrivateMode(zones: Self.zones)
        _ = mode.mayDisclose(.sample(0, accuracy: accuracy))
        let isToldAtTheBorder = mode.mayDisclose(.sample(0, north: meters - 4, accuracy: accuracy))
        #expect(!isToldAtTheBorder)
        let isToldBeyond = mode.mayDisclose(.sample(0, north: meters, accuracy: accuracy))
        #expect(isToldBeyond)
    }

    /// The first fix after it was switched off may be of before.
    @Test func followsItsSwitch() {
        var mode = PrivateMode(zones: [])
        var told: [Bool] = []
        for isOn in [false, true, true, false, false, true] {
            mode.observe(isSwitchedOn: isOn)
            #expect(mode.isPrivate == isOn)
            told.append(mode.mayDisclose(.sample(0)))
        }
        #expect(told == [true, false, false, false, true, false])
    }

    /// The process was frozen for so long after its last look: what the receiver has buffered is not told, whether the
    /// switch was on meanwhile or not.
    @Test(
        arguments: [
            (2000, [true, true, true]), (2001, [false, false, true]), (3_600_000, [false, false, true]),
        ] as [(Int, [Bool])])
    func takesATimeInWhichNobodyLookedForPrivate(milliseconds: Int, expected: [Bool]) {
        var mode = PrivateMode(zones: [])
        mode.observe(isSwitchedOn: false, at: .seconds(10), isPolled: true)
        var told: [Bool] = []
        for after in [0, 999, 1000] {
            let now = Duration.seconds(10) + .milliseconds(milliseconds + after)
            mode.observe(isSwitchedOn: false, at: now)
            told.append(mode.mayDisclose(.sample(0), at: now))
        }
        #expect(told == expected)
        #expect(!mode.isPrivate)
    }

    /// Where only fixes look at it, as in a replay, a pause of the receiver says nothing.
    @Test func doubtsNothingOfASwitchThatIsNotWatched() {
        var mode = PrivateMode(zones: [])
        for second in [0, 10, 100] {
            mode.observe(isSwitchedOn: false, at: .seconds(second))
            let isTold = mode.mayDisclose(.sample(0), at: .seconds(second))
            #expect(isTold)
        }
    }

    /// A glitch neither makes it private nor ends that, and tells nothing of a zone.
    @Test func learnsNothingOfAFixThatIsNotAccepted() {
        var mode = PrivateMode(zones: Self.zones)
        var told = [mode.mayDisclose(.sample(0), isAccepted: false)]
        #expect(!mode.isPrivate)
        told.append(mode.mayDisclose(.sample(0)))
        told.append(mode.mayDisclose(.sample(0, north: 5000), isAccepted: false))
        #expect(mode.isPrivate)
        #expect(told == [false, false, false])
    }

    @Test func staysPrivateInAZoneWhenItIsSwitchedOff() {
        var mode = PrivateMode(zones: Self.zones)
        mode.observe(isSwitchedOn: true)
        _ = mode.mayDisclose(.sample(0))
        mode.observe(isSwitchedOn: false)
        #expect(mode.isPrivate, "until a fix says where it is")
        let told = [mode.mayDisclose(.sample(1, north: 9000)), mode.mayDisclose(.sample(2, north: 9000))]
        #expect(told == [false, true])
    }

    /// Where it is, an accepted fix says.
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
