import Testing

@testable import Reporting

@Suite struct UploadPaces {
    /// The rate, the number of past locations of a batch sent at second 10, and the time until the next batch may be
    /// sent, in milliseconds.
    @Test(
        arguments: [(100.0, 50, 500), (10, 50, 5000), (100, 0, 0), (2000, 50, 25), (nil, 50, 0)]
            as [(Double?, Int, Int)])
    func limitABacklogToItsRate(rate: Double?, past: Int, milliseconds: Int) {
        var pace = UploadPace(backlogUpdatesPerSecond: rate)
        pace.willSend(past: past, at: .seconds(10))
        #expect(pace.timeUntilBacklog(at: .seconds(10)) == .milliseconds(milliseconds))
        #expect(pace.timeUntilBacklog(at: .seconds(16)) == .zero)
        // The live position doesn't wait for the backlog.
        #expect(pace.timeUntilUpload(at: .seconds(10)) == .zero)
    }

    /// While the backlog waits, a live position with its shape points is sent.
    @Test func sendShapePointsWithTheirUpdate() {
        var pace = UploadPace(backlogUpdatesPerSecond: 1)
        pace.willSend(past: 50, at: .zero)
        pace.willSend(past: 5, at: .seconds(10))
        #expect(pace.timeUntilBacklog(at: .seconds(10)) == .seconds(40))
        #expect(!pace.delaysPastLocations(at: .seconds(10)))
        pace.delayPastLocations(for: .seconds(60), at: .seconds(10))
        #expect(pace.delaysPastLocations(at: .seconds(69)) && !pace.delaysPastLocations(at: .seconds(70)))
        #expect(pace.timeUntilBacklog(at: .seconds(10)) == .seconds(60))
    }

    @Test func widenTheIntervalAfterA429AndHalveItAfterADelivery() {
        var pace = UploadPace(backlogUpdatesPerSecond: nil)
        let widened = (1...6).map { _ in
            pace.didThrottle(at: .zero)
            return pace.interval
        }
        #expect(widened == [5, 10, 20, 30, 30, 30].map { .seconds($0) })
        pace.willSend(past: 0, at: .seconds(100))
        #expect(pace.timeUntilUpload(at: .seconds(120)) == .seconds(10))
        let narrowed = (1...5).map { _ in
            pace.didDeliver()
            return (pace.interval, pace.timeUntilUpload(at: .seconds(101)))
        }
        #expect(narrowed.map(\.0) == [15_000, 7500, 3750, 1875, 0].map { .milliseconds($0) })
        // The rest of the pause is counted from the last upload.
        #expect(narrowed.map(\.1) == [14_000, 6500, 2750, 875, 0].map { .milliseconds($0) })
    }
}
