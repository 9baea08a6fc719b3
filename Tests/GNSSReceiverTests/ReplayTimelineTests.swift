import GNSS
import Testing
import TimeAndRandomness

@testable import GNSSReceiver

@Suite struct ReplayTimelines {
    private static func time(_ seconds: Double) -> UTCTime {
        UTCTime(millisecondsSince1970: 1_700_000_000_000 + Int64((seconds * 1000).rounded()))
    }

    /// The times in a log, the speed, the time at which each fix is due, and its age then; all in seconds.
    @Test(
        arguments: [
            ([0, 1, 3], ReplaySpeed.times(1), [0, 1, 3], [0, 0, 0]),
            ([0, 10, 30], .times(10), [0, 1, 3], [27, 18, 0]),
            ([0, 10, 30], .maximum, [0, 0, 0], [30, 20, 0]),
            ([0, 1, 2], .times(0.5), [0, 2, 4], [0, 0, 0]),
            ([0, 300, 301], .times(1), [0, 300, 301], [0, 0, 0]),
            ([0, 300.001, 301.001], .times(1), [0, 10, 11], [0, 0, 0]),
            ([0, 1, 604_800, 604_801], .maximum, [0, 0, 0, 0], [12, 11, 1, 0]),
            ([100, 101, 0, 1], .times(1), [0, 1, 1.001, 2.001], [0, 0, 0, 0]),
            ([5, 5], .times(1), [0, 0.001], [0, 0]),
            ([7], .maximum, [0], [0]),
        ] as [([Double], ReplaySpeed, [Double], [Double])])
    func followTheLog(times: [Double], speed: ReplaySpeed, due: [Double], ages: [Double]) {
        var survey = LogSurvey()
        for seconds in times { survey.add(Self.time(seconds)) }
        var timeline = ReplayTimeline(speed: speed, survey: survey)
        for (index, seconds) in times.enumerated() {
            timeline.advance(to: Self.time(seconds))
            #expect(timeline.due == .milliseconds(Int((due[index] * 1000).rounded())), "due, fix \(index)")
            let planned = due[index] - ages[index]
            #expect(timeline.carriedTime == .milliseconds(Int((planned * 1000).rounded())), "planned, fix \(index)")
        }
    }

    @Test(arguments: [ReplaySpeed.times(1), .times(0.5), .times(60), .maximum])
    func neverDecreaseAndAreNeverInTheFuture(speed: ReplaySpeed) throws {
        let times: [Double] = [0, 1, 2, 900, 901, 100, 101]
        var survey = LogSurvey()
        for seconds in times { survey.add(Self.time(seconds)) }
        var timeline = ReplayTimeline(speed: speed, survey: survey)
        var stamps: [Duration] = []
        for _ in 1...3 {
            for seconds in times {
                timeline.advance(to: Self.time(seconds))
                let planned = try #require(timeline.carriedTime)
                #expect(planned <= timeline.due)
                stamps.append(planned)
            }
            timeline.beginNextPass(at: timeline.due)
        }
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    }

    /// The times between fixes are kept to the millisecond at every speed.
    @Test(arguments: [ReplaySpeed.times(1), .times(1.7), .times(3), .times(17), .times(99_999), .maximum])
    func keepTheTimesBetweenFixes(speed: ReplaySpeed) throws {
        let times = (0..<1000).map { Double($0) * 0.333 }
        var survey = LogSurvey()
        for seconds in times { survey.add(Self.time(seconds)) }
        var timeline = ReplayTimeline(speed: speed, survey: survey)
        let start = UTCTime(millisecondsSince1970: 1_800_000_000_000)
        var dates: [UTCTime] = []
        for seconds in times {
            timeline.advance(to: Self.time(seconds))
            dates.append(start.advanced(by: try #require(timeline.carriedTime)))
            #expect(dates.last ?? start <= start.advanced(by: timeline.due))
        }
        let first = try #require(dates.first)
        #expect(dates.map { first.duration(to: $0) } == times.map { Self.time(0).duration(to: Self.time($0)) })
    }

    @Test func planOnlySurveyedFixes() {
        var survey = LogSurvey()
        for seconds: Double in [0, 10] { survey.add(Self.time(seconds)) }
        var timeline = ReplayTimeline(speed: .maximum, survey: survey)
        var planned: [Duration?] = []
        for seconds: Double in [0, 10, 20] {
            timeline.advance(to: Self.time(seconds))
            planned.append(timeline.carriedTime)
        }
        #expect(planned == [.seconds(-10), .zero, nil])
    }

    @Test func startOverNoEarlierThanTheEndOfReading() {
        var survey = LogSurvey()
        for seconds: Double in [0, 10] { survey.add(Self.time(seconds)) }
        var timeline = ReplayTimeline(speed: .maximum, survey: survey)
        for seconds: Double in [0, 10] { timeline.advance(to: Self.time(seconds)) }
        timeline.beginNextPass(at: .seconds(3))
        timeline.advance(to: Self.time(0))
        #expect(timeline.carriedTime == .milliseconds(3001))
    }

    /// A gap of more than five minutes counts as ten seconds, and a step back as a millisecond.
    @Test func haveALengthWithoutLongGaps() {
        var survey = LogSurvey()
        for seconds: Double in [50, 51, 10_000, 40] { survey.add(Self.time(seconds)) }
        #expect(survey.fixes == 4)
        #expect(survey.span == .seconds(9960))
        #expect(survey.length == .milliseconds(11_001))
    }
}
