import ReportedText
import Testing

@testable import Reporting

@Suite struct NewerPositionTimeouts {
    enum Event: Sendable { case aborted, delivered(Int), startedAgain }

    /// The limit for an answer in seconds, the events, and the timeout in seconds after each.
    @Test(
        arguments: [
            (60, [.aborted, .aborted, .aborted, .aborted, .aborted, .aborted], [6, 12, 24, 48, 60, 60]),
            (15, [.aborted, .aborted, .aborted], [6, 12, 15]), (2, [.aborted], [2]),
            // A connection to a server that is always slow isn't abandoned each time.
            (60, [.aborted, .aborted, .aborted, .delivered(12), .delivered(12)], [6, 12, 24, 24, 24]),
            (15, [.delivered(12)], [15]),
            // A connection to a fast server is abandoned.
            (60, [.aborted, .aborted, .delivered(1)], [6, 12, 3]), (60, [.delivered(2), .delivered(1)], [4, 3]),
            (60, [.aborted, .aborted, .startedAgain], [6, 12, 3]),
        ] as [(Int, [Event], [Int])])
    func followTheResponseTimesOfTheServer(limit: Int, events: [Event], seconds: [Int]) {
        var newerPositionTimeout = NewerPositionTimeout(maximum: .seconds(limit))
        #expect(newerPositionTimeout.duration == .seconds(min(3, limit)))
        let seen = events.map { event in
            switch event {
            case .aborted: newerPositionTimeout.didAbort()
            case .delivered(let time): newerPositionTimeout.didDeliver(after: .seconds(time))
            case .startedAgain: newerPositionTimeout.reset()
            }
            return newerPositionTimeout.duration
        }
        #expect(seen == seconds.map { .seconds($0) })
    }

    /// The time limit for an exchange is also the maximum of the timeout.
    @Test func applyToTheExchangesOfAnUpload() {
        let upload = UploadStateDriver(timeLimit: .seconds(20))
        func nextTimeout() -> Duration? {
            upload.send(.sample(past: 0))
            upload.handle(.updateStored(nil))
            return upload.dueIn
        }
        for seconds in [3, 6, 12, 20, 20] {
            #expect(nextTimeout() == .seconds(seconds))
            upload.now += .seconds(seconds)
            #expect(upload.handle(.timeReached).action == .abortExchange)
            upload.handle(.lost(.cancelled, "no answer"))
        }
        #expect(nextTimeout() == .seconds(20))
        upload.now += .seconds(1)
        upload.handle(.answered(DeliveryResult(.delivered)))
        #expect(nextTimeout() == .seconds(3))
    }
}
