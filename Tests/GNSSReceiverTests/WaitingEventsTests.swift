import GNSS
import ReportedText
import Reporting
import Testing
import TimeAndRandomness

@testable import GNSSReceiver

@Suite struct WaitingEvents {
    private static func fix(_ second: Int64) -> Fix {
        Fix(timeOfFix: UTCTime(millisecondsSince1970: second * 1000), latitude: 48, longitude: 11)
    }
    private static let receiving = ReceiverState.receiving(source: "x")
    private static let waiting = ReceiverState.waiting(source: "x", .deviceMissing)

    @Test func keepOnlyTheNewestFix() {
        var events = LatestEvents()
        for second in 1...3 { events.add(.fix(Self.fix(Int64(second)))) }
        #expect(events.takeEvents() == [.fix(Self.fix(3))])
        #expect(events.takeEvents() == [])
    }

    @Test func keepTheirOrder() {
        var events = LatestEvents()
        events.add(.state(Self.receiving))
        events.add(.fix(Self.fix(1)))
        #expect(events.takeEvents() == [.state(Self.receiving), .fix(Self.fix(1))])
        events.add(.fix(Self.fix(2)))
        events.add(.state(Self.waiting))
        #expect(events.takeEvents() == [.fix(Self.fix(2)), .state(Self.waiting)])
    }

    @Test func keepEachKindOfWarningOnce() {
        var events = LatestEvents()
        for warning in [ReceiverWarning.antennaOpen, .foreignDatum, .antennaOpen] { events.add(.warning(warning)) }
        events.add(.fix(Self.fix(1)))
        #expect(events.takeEvents() == [.warning(.antennaOpen), .warning(.foreignDatum), .fix(Self.fix(1))])
        #expect(events.takeEvents() == [])
    }

    @Test func keepTheNewestSkyAndTheNewestFix() {
        var events = LatestEvents()
        for number in 1...3 { events.add(.sky(Sky([Satellite(.gps, number)]))) }
        events.add(.fix(Self.fix(1)))
        #expect(events.takeEvents() == [.fix(Self.fix(1)), .sky(Sky([Satellite(.gps, 3)]))])
        #expect(events.takeEvents() == [])
    }

    @Test func neverReplaceAStateByAFix() {
        var events = LatestEvents()
        events.add(.state(Self.waiting))
        for second in 1...3 { events.add(.fix(Self.fix(Int64(second)))) }
        #expect(events.takeEvents() == [.state(Self.waiting), .fix(Self.fix(3))])
    }
}
