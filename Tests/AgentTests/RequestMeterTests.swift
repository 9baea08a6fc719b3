import HTTPMessages
import Testing
import Waypost

@Suite struct RequestMeters {
    @Test func knowTheShareThatCameInTime() throws {
        var figures = RequestFigures()
        #expect(figures.time(of: 0.5) == nil && figures.failuresInWords == nil)
        for milliseconds in 1...1000 { figures.answered(200, after: .milliseconds(milliseconds)) }
        for (share, milliseconds) in [(0.5, 500.0), (0.99, 990), (1, 1000), (0.001, 1)] {
            let time = try #require(figures.time(of: share)) / .milliseconds(1)
            #expect((milliseconds * 0.999...milliseconds * 1.06).contains(time), "\(share): \(time)")
        }
        #expect(figures.longestAnswer == .seconds(1) && figures.answers == 1000)
    }

    @Test(arguments: [Duration.zero, .microseconds(1), .seconds(10_000), .seconds(-1)])
    func takeAnyTime(duration: Duration) {
        var figures = RequestFigures()
        figures.answered(200, after: duration)
        #expect(figures.answers == 1 && figures.time(of: 0.99) != nil)
    }

    @Test func countFailuresByAnswer() {
        var figures = RequestFigures()
        for status in [200, 503, 429, 503] { figures.answered(status, after: .milliseconds(3)) }
        figures.failed("timedOut")
        #expect(figures.failures == ["503": 2, "429": 1, "timedOut": 1])
        #expect(figures.failuresInWords == "2 x 503, 1 x 429, 1 x timedOut")
    }
}
