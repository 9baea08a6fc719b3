import FleetEngine
import GNSS
import HTTPMessages
import ReportedText
import Reporting
import Testing
import TimeAndRandomness
import TrackDrawing
import VehicleAuthorization
@testable import Operations
import WaypostTestSupport

@Suite struct RecentHistories {
    static let update = LocationUpdate(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 50, longitude: 10)

    static func delivered(_ count: Int) -> ReportingEvent {
        let stored = (0..<count).map { StoredUpdate(sequence: Int64($0), update: update) }
        let last = stored.last ?? StoredUpdate(sequence: 0, update: update)
        let batch = UploadBatch(last: last, lastIsPending: count > 0, past: Array(stored.dropLast()))
        return .delivered(batch, traffic: Traffic(), took: .zero)
    }

    static let failed = ReportingEvent.failed(.unanswered(.sample("no network")), traffic: Traffic())
    static let noToken = ReportingEvent.notPrepared(.noPermit(MissingPermit(.unavailable, "no answer")))

    @Test func countTheEventsOfEachMinuteOfTheLastHour() {
        var history = RecentHistory()
        history.note(Self.delivered(3), at: .seconds(10))
        history.note(Self.delivered(1), at: .seconds(59))
        history.note(Self.failed, at: .seconds(61))
        history.note(Self.noToken, at: .seconds(119))
        history.note(pending: 7, at: .seconds(110))
        history.note(pending: 9, at: .seconds(119))
        var minutes = history.minutes(at: .seconds(130))
        #expect(minutes.count == 60)
        #expect(minutes.prefix(57).allSatisfy { $0 == nil }, "there is nothing before the start")
        #expect(minutes[57] == RecentHistory.Minute(delivered: 4))
        #expect(minutes[58] == RecentHistory.Minute(failed: 2, pending: 9))
        #expect(minutes[59] == RecentHistory.Minute())

        history.note(Self.delivered(1), at: .seconds(3600))
        minutes = history.minutes(at: .seconds(3659))
        #expect(minutes[0] == RecentHistory.Minute(failed: 2, pending: 9), "the first minute has been dropped")
        #expect(minutes[59] == RecentHistory.Minute(delivered: 1))
        #expect(history.minutes(at: .seconds(20_000)).allSatisfy { $0 == RecentHistory.Minute() })
    }

    @Test func recordWhenNothingWasDelivered() {
        var history = RecentHistory()
        history.note(Self.failed, at: .seconds(100))
        #expect(history.outages(at: .seconds(104)).isEmpty, "the next attempt may still deliver")
        #expect(history.outages(at: .seconds(105)) == [.seconds(100) ... .seconds(105)])
        history.note(Self.noToken, at: .seconds(150))
        history.note(Self.delivered(0), at: .seconds(200))
        history.note(Self.failed, at: .seconds(300))
        history.note(Self.delivered(1), at: .seconds(302))
        #expect(history.outages(at: .seconds(3700)) == [.seconds(100) ... .seconds(200)])
        #expect(
            history.outages(at: .seconds(3750)) == [.seconds(150) ... .seconds(200)],
            "only the part within the last hour")
        #expect(history.outages(at: .seconds(3801)).isEmpty)
    }

    /// The remedy comes last in a line, so it must not be cut off.
    @Test func keepLinesOfUsualLengthWhole() {
        var history = RecentHistory()
        let line = String(repeating: "x", count: 1500)
        history.note(.error, line, nil, at: .zero)
        history.note(.error, line + "y", nil, at: .zero)
        #expect(history.lines.map(\.text) == [line, line.dropLast(3) + "…"])
    }

    /// A continuing outage extends to the end of the current minute's bar.
    @Test func extendAContinuingOutageToTheEndOfTheMinute() {
        var history = RecentHistory()
        history.note(Self.failed, at: .seconds(60))
        #expect(history.outageMinutes(at: .seconds(90)).map { [$0.lowerBound, $0.upperBound] } == [[59, 60]])
        history.note(Self.delivered(1), at: .seconds(90))
        #expect(history.outageMinutes(at: .seconds(105)).map { [$0.lowerBound, $0.upperBound] } == [[59, 59.5]])
    }

    /// The page draws the bars of the minutes and the bands of the outages on one grid.
    @Test(arguments: [
        (0, 0, 59.0), (45, 45, 59.75), (60, 60, 59.0), (60, 119, 59.0), (60, 120, 58.0), (90, 3659, 0.5),
    ])
    func placeAMomentOnTheGridOfMinutes(moment: Int, now: Int, minute: Double) {
        let found = RecentHistory.minutePosition(of: .seconds(moment), at: .seconds(now))
        #expect(abs(found - minute) < 1e-9)
        var history = RecentHistory()
        history.note(Self.failed, at: .seconds(moment))
        #expect(history.minutes(at: .seconds(now))[Int(found)]?.failed == 1)
    }

    @Test func keepTheTrackOfTheLastHour() throws {
        var history = RecentHistory()
        for second in 0..<7200 {
            let fix = Fix.sample(Double(second), north: Double(second) * 10, speed: 10)
            history.note(.fix(fix), at: .seconds(second))
        }
        let track = history.track(at: .seconds(7199))
        #expect(track.count == 900)
        let last = try #require(track.last)
        #expect(last.distance(to: .sample(7196, north: 71_960)) < 0.02)
        #expect(last.timeOfFix == Fix.sample(7196).timeOfFix && last.speedMetersPerSecond == 10)
        #expect(history.newestFix?.fix == .sample(7199, north: 71_990, speed: 10), "the newest is exact")
        #expect(history.map(at: .seconds(7199)).text.contains("class=\"vehicle\""))
        #expect(history.map(at: .seconds(7199)).text.contains("class=\"scale\""))
        #expect(
            history.survey(at: .seconds(7199)).summary.statistics.lastTime == Fix.sample(7199).timeOfFix,
            "the line leads to where the vehicle is")
        #expect(history.isCurrent(at: .seconds(7229)) && !history.isCurrent(at: .seconds(7230)))
        #expect(history.map(at: .seconds(20_000)).text.contains("no position in the last hour"))
    }

    @Test func showNoPositionInPrivateMode() {
        var history = RecentHistory()
        history.note(.fix(.sample(0)), at: .zero)
        history.note(.privateModeBegan, at: .seconds(1))
        #expect(history.newestFix == nil && history.track(at: .seconds(2)).isEmpty)
        #expect(history.map(at: .seconds(2)).text.contains("<p>The position is private.</p>"))
        history.note(.privateModeEnded, at: .seconds(3))
        #expect(history.map(at: .seconds(4)).text.contains("no position since the service started"))
    }

    /// Five hours with ten fixes per second, an outage every ten seconds and a log line every second.
    @Test func stayWithinTheirLimits() {
        var history = RecentHistory()
        let long = String(repeating: "x", count: 10_000)
        for second in stride(from: 0, to: 20_000, by: 1) {
            let now = Duration.seconds(second)
            for tenth in 0..<10 { history.note(.fix(.sample(Double(second) + Double(tenth) / 10)), at: now) }
            history.note(second % 20 < 10 ? Self.failed : Self.delivered(2), at: now)
            history.note(.warning, "\(second) \(long)", nil, at: now)
        }
        let now = Duration.seconds(20_000)
        #expect(history.track(at: now).count <= 900)
        #expect(history.outages(at: now).count <= 101)
        #expect(history.lines.count == 50)
        #expect(history.lines.allSatisfy { $0.text.utf8.count <= 1500 })
        #expect(history.lines.last?.text.hasPrefix("19999 ") == true)
    }

    @Test(arguments: [Double.nan, .infinity, 1e300])
    func omitInvalidPositions(latitude: Double) {
        var history = RecentHistory()
        var fix = Fix.sample(0)
        fix.latitude = latitude
        history.note(.fix(fix), at: .zero)
        #expect(history.track(at: .zero).isEmpty)
    }
}
