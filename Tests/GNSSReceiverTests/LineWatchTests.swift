import Testing

@testable import GNSSReceiver

@Suite struct LineWatches {
    private func watch(after arrivals: [(at: Double, sentences: Int)]) -> LineWatch {
        var watch = LineWatch(openedAt: .zero)
        for arrival in arrivals { watch.recordBytes(sentences: arrival.sentences, at: .seconds(arrival.at)) }
        return watch
    }

    @Test(
        arguments: [
            ([], 4.9, LineWatch.Condition.opened), ([], 5, .silent),
            ([(1, 1)], 5.9, .receiving), ([(1, 1)], 6, .silent),
            ([(1, 0)], 4.9, .opened), ([(1, 0)], 5, .noise), ([(1, 0)], 6, .silent), ([(1, 0), (9, 0)], 10, .noise),
            ([(1, 1), (3, 0), (5.5, 0)], 6, .noise), ([(1, 1), (9, 0), (9.5, 1)], 10, .receiving),
        ] as [([(at: Double, sentences: Int)], Double, LineWatch.Condition)])
    func judgeTheLineByArrivalsOfBytesAndSentences(
        arrivals: [(at: Double, sentences: Int)], now: Double, condition: LineWatch.Condition
    ) {
        #expect(watch(after: arrivals).condition(at: .seconds(now)) == condition)
    }

    @Test(
        arguments: [
            ([(0.5, 1)], 5), ([(0, 1), (1, 1), (2, 1)], 5), ([(0, 1), (2, 1), (4, 1)], 10),
            ([(0, 1), (2, 1), (2.1, 1)], 9), ([(0, 1), (300, 1)], 300),
        ] as [([(at: Double, sentences: Int)], Double)])
    func allowFiveIntervalsBetweenSentences(arrivals: [(at: Double, sentences: Int)], limit: Double) {
        #expect(watch(after: arrivals).limit == .seconds(limit))
    }

    @Test func forgetALongIntervalWhenTheReceiverBecomesFast() {
        var watch = LineWatch(openedAt: .zero, interval: .seconds(60))
        for tick in 1...60 { watch.recordBytes(sentences: 1, at: .milliseconds(100 * tick)) }
        #expect(watch.limit == .seconds(5))
    }

    @Test(
        arguments: [
            ([], 14.9, false), ([], 15, true), ([(2, 1), (16, 0)], 16.9, false), ([(2, 1), (16, 0)], 17, true),
        ]
            as [([(at: Double, sentences: Int)], Double, Bool)])
    func reportTheLineAsOverdueAfterThreeLimitsWithoutASentence(
        arrivals: [(at: Double, sentences: Int)], now: Double, isOverdue: Bool
    ) {
        #expect(watch(after: arrivals).isOverdue(at: .seconds(now)) == isOverdue)
    }

    @Test(
        arguments: [
            ([], 0, 5), ([], 5, 15), ([(1, 1)], 1, 6), ([(1, 1), (3, 0)], 6, 8), ([(1, 1), (3, 0)], 8, 16),
            // On an overdue line that can't be reopened, the next change is never immediate.
            ([], 15, 20), ([], 99, 104), ([(1, 1)], 16, 21), ([(1, 1), (20, 0)], 21, 25),
        ] as [([(at: Double, sentences: Int)], Double, Double)])
    func knowTheTimeOfTheNextChange(arrivals: [(at: Double, sentences: Int)], now: Double, next: Double) {
        #expect(watch(after: arrivals).nextChange(after: .seconds(now)) == .seconds(next))
    }

    /// A line that can be opened in another way is overdue after its trial, unless a sentence has arrived.
    @Test(
        arguments: [
            ([], 2.4, false), ([], 2.5, true), ([(1, 0)], 2.5, true), ([(1, 1)], 15.9, false), ([(1, 1)], 16, true),
        ]
            as [([(at: Double, sentences: Int)], Double, Bool)])
    func reportTheLineAsOverdueAfterItsTrial(arrivals: [(at: Double, sentences: Int)], now: Double, isOverdue: Bool) {
        var watch = LineWatch(openedAt: .zero, trial: .seconds(2.5))
        #expect(watch.nextChange(after: .zero) == .seconds(2.5))
        for arrival in arrivals { watch.recordBytes(sentences: arrival.sentences, at: .seconds(arrival.at)) }
        #expect(watch.isOverdue(at: .seconds(now)) == isOverdue)
    }
}
