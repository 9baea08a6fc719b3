import GNSS
import Testing
import TimeAndRandomness

/// Fixes of a track, given as seconds after and metres north of the track's start.
enum Track {
    static func fix(_ seconds: Double, meters: Double = 0, speed: Double? = nil, accuracy: Double? = 5) -> Fix {
        let start = UTCTime(year: 2026, month: 3, day: 31)
        var fix = Fix(
            timeOfFix: start.advanced(by: .seconds(seconds)), latitude: 50 + meters / 111_195, longitude: 179.999)
        fix.speedMetersPerSecond = speed
        fix.horizontalAccuracyMeters = accuracy
        return fix
    }

    /// Returns fixes of a standing vehicle at `meters`, one per second.
    static func standing(_ seconds: ClosedRange<Int>, at meters: Double = 0, speed: Double? = 0.2) -> [Fix] {
        seconds.map { fix(Double($0), meters: meters + Double($0 % 3), speed: speed) }
    }

    /// Returns fixes of a vehicle that drives at 10 m/s from `meters`, one per second.
    static func driving(_ seconds: ClosedRange<Int>, from meters: Double) -> [Fix] {
        seconds.map { fix(Double($0), meters: meters + Double($0 - seconds.lowerBound) * 10, speed: 10) }
    }
}

@Suite struct TrackContinuation {
    static let rows: [(times: [Double], meters: Double, causes: [TrackBreak.Cause])] = [
        ([0, 1, 2, 3], 3, []), ([0, 1, 11], 1, []), ([0, 1, 11.1], 1, [.gap]), ([0, 30, 60, 90], 1, [.gap]),
        ([0, 30, 60, 300], 1, [.gap, .gap]), ([0, 1, 1, 2], 1, [.backward]), ([0, 5, 2, 3], 1, [.backward]),
        ([0, 1, 2], 10_000, [.jump, .jump]), ([0, 1, 100], 9_000, [.jump, .gap]), ([0, 1, 2], 70, []),
        // Three fixes that agree show how fast the vehicle is.
        ([0, 1, 2, 3], 100, [.jump]), ([0, 1, 2, 3], 600, [.jump, .jump, .jump]),
    ]

    @Test(arguments: rows)
    func breaksAtGapsJumpsAndBackwardTimes(times: [Double], meters: Double, causes: [TrackBreak.Cause]) {
        var track = TrackStatistics()
        for (index, time) in times.enumerated() { track.add(Track.fix(time, meters: Double(index) * meters)) }
        #expect(track.breaks.elements().map(\.cause) == causes)
        #expect(track.gapCount == causes.count { $0 == .gap })
        #expect(track.jumpCount == causes.count { $0 == .jump })
        #expect(track.backwardSteps == causes.count { $0 == .backward })
        let onward = Double(times.count - 1 - causes.count) * meters
        #expect(abs(track.distanceMeters - onward) < 0.01)
    }

    @Test func keepsTheLongestBreaksInOrder() {
        var few = LongestElements<Int>(capacity: 3)
        for number in [5, 1, 9, 2, 7, 3, 8, 1, 1, 1] { few.add(number, length: .seconds(number)) }
        #expect(few.count == 10)
        #expect(few.elements() == [9, 7, 8])
        #expect(few.elements(atMost: 1) == [9])
        #expect(LongestElements<Int>(capacity: 3).elements().isEmpty)
    }
}

@Suite struct Stops {
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let fixes: [Fix]
        /// The start and end of each stop in seconds.
        let stops: [ClosedRange<Double>]
        /// The seconds without fixes within the stops.
        var unseen: Double = 0
    }

    static let cases = [
        Case(testDescription: "a minute", fixes: Track.standing(0...60), stops: [0...60]),
        Case(testDescription: "less than a minute", fixes: Track.standing(0...59), stops: []),
        Case(testDescription: "no speed reported", fixes: Track.standing(0...60, speed: nil), stops: [0...60]),
        Case(testDescription: "driving", fixes: Track.driving(0...200, from: 0), stops: []),
        Case(
            testDescription: "crawling in a queue",
            fixes: (0...200).map { Track.fix(Double($0), meters: Double($0) * 0.9, speed: 0.9) },
            stops: []),
        Case(
            testDescription: "manoeuvring in a yard",
            fixes: (0...200).map { Track.fix(Double($0), meters: Double($0 % 20), speed: 1.5) }, stops: []),
        Case(
            testDescription: "between two drives",
            fixes: Track.driving(0...100, from: 0) + Track.standing(101...300, at: 1010)
                + Track.driving(301...400, from: 1020), stops: [101...300]),
        Case(
            testDescription: "two places",
            fixes: Track.standing(0...100) + Track.driving(101...110, from: 10) + Track.standing(111...200, at: 110),
            stops: [0...100, 111...200]),
        Case(
            testDescription: "one wrong fix",
            fixes: Track.standing(0...100) + [Track.fix(101, meters: 300)] + Track.standing(102...200),
            stops: [0...200]),
        Case(
            testDescription: "one wrong speed",
            fixes: Track.standing(0...30) + [Track.fix(31, meters: 5, speed: 9)] + Track.standing(32...60),
            stops: [0...60]),
        Case(
            testDescription: "receiver off while parked", fixes: Track.standing(0...5) + Track.standing(3605...3610),
            stops: [0...3610], unseen: 3600),
        Case(
            testDescription: "towed while the receiver was off",
            fixes: Track.standing(0...5) + Track.standing(3605...3610, at: 500), stops: []),
        Case(
            testDescription: "time goes back", fixes: Track.standing(1000...1100) + Track.standing(0...100),
            stops: [1000...1100, 0...100]),
        Case(testDescription: "no fixes", fixes: [], stops: []),
    ]

    @Test(arguments: cases) func areFound(row: Case) {
        var continuity = TrackContinuity()
        var finder = StopFinder()
        for fix in row.fixes { finder.add(fix, step: continuity.step(to: fix)) }
        let found = finder.found
        let start = Track.fix(0).timeOfFix
        #expect(found.longest.map { start.duration(to: $0.from) } == row.stops.map { .seconds($0.lowerBound) })
        #expect(found.longest.map { start.duration(to: $0.to) } == row.stops.map { .seconds($0.upperBound) })
        #expect(found.count == row.stops.count)
        #expect(found.time == .seconds(row.stops.reduce(0) { $0 + $1.upperBound - $1.lowerBound }))
        #expect(found.longest.reduce(.zero) { $0 + $1.unseenTime } == .seconds(row.unseen))
    }

    @Test func haveTheirMeanPositionAcrossTheDateLine() throws {
        var continuity = TrackContinuity()
        var finder = StopFinder()
        for second in 0...100 {
            var fix = Track.fix(Double(second), speed: 0)
            fix.longitude = second % 2 == 0 ? 179.99999 : -179.99999
            finder.add(fix, step: continuity.step(to: fix))
        }
        let stop = try #require(finder.found.longest.first)
        #expect(abs(abs(stop.longitude) - 180) < 1e-5)
    }
}
