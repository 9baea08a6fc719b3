import ReportedText
import Reporting
import Testing
import WaypostTestSupport

@testable import Replay

@Suite struct RequestMeters {
    @Test func giveTheTimeInWhichAShareWasAnswered() throws {
        var figures = RequestFigures()
        #expect(figures.answerTime(atQuantile: 0.5) == nil && figures.failureList == nil)
        for milliseconds in 1...1000 { figures.countAnswer(after: .milliseconds(milliseconds)) }
        for (share, milliseconds) in [(0.5, 500.0), (0.99, 990), (1, 1000), (0.001, 1)] {
            let time = try #require(figures.answerTime(atQuantile: share)) / .milliseconds(1)
            #expect((milliseconds * 0.999...milliseconds * 1.06).contains(time), "\(share): \(time)")
        }
        #expect(figures.maximumAnswer == .seconds(1) && figures.answerCount == 1000)
    }

    @Test(arguments: [Duration.zero, .microseconds(1), .seconds(10_000), .seconds(-1)])
    func acceptAnyDuration(duration: Duration) {
        var figures = RequestFigures()
        figures.countAnswer(after: duration)
        #expect(figures.answerCount == 1 && figures.answerTime(atQuantile: 0.99) != nil)
    }

    @Test func countFailuresByAnswer() {
        let meter = RequestMeter()
        let busy = DeliveryFault.answered(ServiceAnswer(status: 503, body: .empty, account: "p"))
        let lost = DeliveryFault.unanswered(LostExchange(.connectionFailed, "no answer"))
        for outcome in [DeliveryOutcome.retry(busy, after: nil), .retry(busy, after: nil), .unanswered(lost)] {
            meter.observe(.failed(outcome, traffic: Traffic(), took: .milliseconds(3)))
        }
        meter.observe(.delivered(Status.batch, traffic: Traffic(), took: .milliseconds(3)))
        meter.observe(.notPrepared(.noPermit(MissingPermit(.unavailable, "no issuer"))))
        #expect(meter.figures.failures == ["503": 2, "connectionFailed": 1, "noToken": 1])
        #expect(meter.figures.answerCount == 3)
        #expect(RequestFigures.list(of: ["503": 2, "429": 1, "timedOut": 1]) == "2 x 503, 1 x 429, 1 x timedOut")
    }
}
