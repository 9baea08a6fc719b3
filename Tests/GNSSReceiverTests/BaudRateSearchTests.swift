import Reporting
import Testing

@testable import GNSSReceiver

@Suite struct BaudRateSearches {
    private typealias Evidence = BaudRateEvidence
    private static let all = [9600, 115_200, 38_400, 4800, 57_600, 230_400, 460_800]

    /// The rates that are opened when each trial brings `evidence`.
    private func rates(_ search: inout BaudRateSearch, trials: Int, _ evidence: Evidence = .noise) -> [Int] {
        (0..<trials).map { _ in
            defer { _ = search.lineClosed(after: evidence) }
            return search.rate
        }
    }

    @Test(arguments: [Evidence.silence, .noise, .binaryFrames])
    func goesRoundForEverInTheOrderOfWhatIsUsual(evidence: BaudRateEvidence) {
        var search = BaudRateSearch()
        #expect(rates(&search, trials: 21, evidence) == Self.all + Self.all + Self.all)
    }

    @Test func staysLongerThanTwoSecondsOnEach() {
        var search = BaudRateSearch()
        for _ in 0..<8 {
            #expect(search.trial > .seconds(2) && search.trial < .seconds(3))
            _ = search.lineClosed(after: .silence)
        }
    }

    @Test(arguments: 0..<7)
    func beginsWithTheRateThatWasRight(place: Int) {
        var search = BaudRateSearch()
        _ = rates(&search, trials: place)
        search.sentenceArrived()
        let good = Self.all[place]
        #expect(search.rate == good)
        // Nothing usable for long: once more at the same rate, which has time to start, then the others.
        #expect(search.lineClosed(after: .sentences) == .open(at: good))
        #expect(search.trial == .seconds(5))
        #expect(rates(&search, trials: 7) == [good] + Self.all.filter { $0 != good })
        #expect(search.rate == good)
    }

    /// A lost line is opened at the same rate; so is one that is missing, whatever was tried before.
    @Test func beginsAnewWhenTheLineIsMissing() {
        var search = BaudRateSearch()
        _ = rates(&search, trials: 3)
        search.lineIsMissing()
        #expect(search.rate == 9600)
        #expect(search.start == .searching(baudRate: 9600, tried: []))
        _ = rates(&search, trials: 1)
        search.sentenceArrived()
        search.lineIsMissing()
        #expect(search.rate == 115_200)
        #expect(search.start == .openedAt(baudRate: 115_200))
    }

    @Test func saysWhatIsTriedAndWhatWasInVain() {
        var search = BaudRateSearch()
        let starts = (0..<4).map { _ in
            defer { _ = search.lineClosed(after: .noise) }
            #expect(search.isOpeningNews)
            return search.start
        }
        #expect(
            starts == [
                .searching(baudRate: 9600, tried: []), .searching(baudRate: 115_200, tried: [9600]),
                .searching(baudRate: 38_400, tried: [9600, 115_200]),
                .searching(baudRate: 4800, tried: [9600, 115_200, 38_400]),
            ])
    }

    /// What comes at 4800 and everywhere else, and the best of it, at which rate.
    @Test(arguments: [
        (BaudRateEvidence.silence, BaudRateEvidence.silence, BaudRateEvidence.silence, 460_800),
        (.noise, .silence, .noise, 4800), (.noise, .noise, .noise, 9600), (.text, .noise, .text, 4800),
        (.binaryFrames, .noise, .binaryFrames, 4800), (.withoutChecksum, .binaryFrames, .withoutChecksum, 4800),
    ])
    func reportsAfterARoundAndThenGoesOnQuietly(
        at4800: BaudRateEvidence, elsewhere: BaudRateEvidence, best: BaudRateEvidence, baudRate: Int
    ) {
        var search = BaudRateSearch()
        for round in 1...2 {
            for place in Self.all.indices {
                #expect(search.isOpeningNews == (round == 1))
                switch search.lineClosed(after: search.rate == 4800 ? at4800 : elsewhere) {
                case .open(let rate):
                    #expect(place < 6)
                    #expect(rate == search.rate)
                case .report(let fault, let rate):
                    #expect(place == 6)
                    #expect(rate == 9600 && search.rate == 9600)
                    #expect(fault == .noBaudRate(best, baudRate: baudRate, tried: Self.all))
                }
            }
        }
    }

    /// The complaint about a line that was good stands until something is found, or the whole round was in vain.
    @Test func isQuietOnALineThatWasGood() {
        var search = BaudRateSearch()
        search.sentenceArrived()
        #expect(search.isOpeningNews)
        _ = search.lineClosed(after: .sentences)
        #expect(!search.isOpeningNews)
        _ = search.lineClosed(after: .noise)
        #expect(!search.isOpeningNews)
        search.sentenceArrived()
        #expect(search.isOpeningNews)
    }
}
