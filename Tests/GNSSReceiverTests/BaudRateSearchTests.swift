import Reporting
import Testing

@testable import GNSSReceiver

@Suite struct BaudRateSearches {
    private typealias Evidence = BaudRateEvidence
    private static let allRates = [9600, 115_200, 38_400, 4800, 57_600, 230_400, 460_800]

    /// Returns the rates that are tried if each trial yields `evidence`.
    private func triedRates(
        by search: inout BaudRateSearch, trials: Int, evidence: Evidence = .noise
    ) -> [Int] {
        (0..<trials).map { _ in
            defer { _ = search.recordClosing(after: evidence) }
            return search.rate
        }
    }

    @Test(arguments: [Evidence.silence, .noise, .binaryFrames])
    func tryAllRatesInOrderForever(evidence: BaudRateEvidence) {
        var search = BaudRateSearch()
        #expect(
            triedRates(by: &search, trials: 21, evidence: evidence) == Self.allRates + Self.allRates + Self.allRates)
    }

    @Test func tryEachRateForMoreThanTwoSeconds() {
        var search = BaudRateSearch()
        for _ in 0..<8 {
            #expect(search.trial > .seconds(2) && search.trial < .seconds(3))
            _ = search.recordClosing(after: .silence)
        }
    }

    @Test(arguments: 0..<7)
    func startWithTheLastGoodRate(index: Int) {
        var search = BaudRateSearch()
        _ = triedRates(by: &search, trials: index)
        search.recordSentence()
        let good = Self.allRates[index]
        #expect(search.rate == good)
        // After a long time without sentences, the same rate is tried again, with time for the receiver to start, and
        // then the other rates.
        #expect(search.recordClosing(after: .sentences) == nil)
        #expect(search.trial == .seconds(5))
        #expect(triedRates(by: &search, trials: 7) == [good] + Self.allRates.filter { $0 != good })
        #expect(search.rate == good)
    }

    /// A line that was lost or missing is opened at the last good rate, or else at the first rate of the search.
    @Test func startOverWhenTheLineIsMissing() {
        var search = BaudRateSearch()
        _ = triedRates(by: &search, trials: 3)
        search.startOver()
        #expect(search.rate == 9600)
        #expect(search.start == .searching(baudRate: 9600, tried: []))
        _ = triedRates(by: &search, trials: 1)
        search.recordSentence()
        search.startOver()
        #expect(search.rate == 115_200)
        #expect(search.start == .openedAt(baudRate: 115_200))
    }

    @Test func reportTheTriedRates() {
        var search = BaudRateSearch()
        let starts = (0..<4).map { _ in
            defer { _ = search.recordClosing(after: .noise) }
            #expect(search.isOpeningReported)
            return search.start
        }
        #expect(
            starts == [
                .searching(baudRate: 9600, tried: []), .searching(baudRate: 115_200, tried: [9600]),
                .searching(baudRate: 38_400, tried: [9600, 115_200]),
                .searching(baudRate: 4800, tried: [9600, 115_200, 38_400]),
            ])
    }

    /// The evidence at 4800 and at all other rates, then the best evidence and its rate.
    @Test(arguments: [
        (BaudRateEvidence.silence, BaudRateEvidence.silence, BaudRateEvidence.silence, 460_800),
        (.noise, .silence, .noise, 4800), (.noise, .noise, .noise, 9600), (.text, .noise, .text, 4800),
        (.binaryFrames, .noise, .binaryFrames, 4800), (.withoutChecksum, .binaryFrames, .withoutChecksum, 4800),
    ])
    func reportTheFaultAfterEachRound(
        at4800: BaudRateEvidence, elsewhere: BaudRateEvidence, best: BaudRateEvidence, baudRate: Int
    ) {
        var search = BaudRateSearch()
        for round in 1...2 {
            for index in Self.allRates.indices {
                #expect(search.isOpeningReported == (round == 1))
                let fault = search.recordClosing(after: search.rate == 4800 ? at4800 : elsewhere)
                #expect(fault == (index == 6 ? .noBaudRate(best, baudRate: baudRate, tried: Self.allRates) : nil))
            }
            #expect(search.rate == 9600)
        }
    }

    /// If a line worked before, its fault is kept until a rate is found or a whole round has failed.
    @Test func reportNoTrialsOnALineThatWorkedBefore() {
        var search = BaudRateSearch()
        search.recordSentence()
        #expect(search.isOpeningReported)
        _ = search.recordClosing(after: .sentences)
        #expect(!search.isOpeningReported)
        _ = search.recordClosing(after: .noise)
        #expect(!search.isOpeningReported)
        search.recordSentence()
        #expect(search.isOpeningReported)
    }
}
