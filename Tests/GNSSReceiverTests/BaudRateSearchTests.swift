import Testing

@testable import GNSSReceiver

@Suite struct BaudRateSearches {
    private typealias Evidence = BaudRateSearch.Evidence
    private static let all = [9600, 115_200, 38_400, 4800, 57_600, 230_400, 460_800]

    /// The rates that are opened when each trial brings `evidence`.
    private func rates(_ search: inout BaudRateSearch, trials: Int, _ evidence: Evidence = .noise) -> [Int] {
        (0..<trials).map { _ in
            defer { _ = search.lineClosed(after: evidence) }
            return search.rate
        }
    }

    @Test(arguments: [Evidence.silence, .noise, .binaryFrames])
    func goesRoundForEverInTheOrderOfWhatIsUsual(evidence: BaudRateSearch.Evidence) {
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
        #expect(search.greeting == "looking for the baud rate, now 9600")
        _ = rates(&search, trials: 1)
        search.sentenceArrived()
        search.lineIsMissing()
        #expect(search.rate == 115_200)
        #expect(search.greeting == "open at 115200 baud, waiting for the first sentence")
    }

    @Test func saysWhatIsTriedAndWhatWasInVain() {
        var search = BaudRateSearch()
        let greetings = (0..<4).map { _ in
            defer { _ = search.lineClosed(after: .noise) }
            #expect(search.isOpeningNews)
            return search.greeting
        }
        #expect(
            greetings == [
                "looking for the baud rate, now 9600", "looking for the baud rate, now 115200 (no NMEA at 9600)",
                "looking for the baud rate, now 38400 (no NMEA at 9600 and 115200)",
                "looking for the baud rate, now 4800 (no NMEA at 9600, 115200 and 38400)",
            ])
    }

    /// What comes at 4800 and everywhere else, and the beginning of what the operator is told after a round.
    @Test(arguments: [
        (Evidence.silence, Evidence.silence, "silent at every usual baud rate; check power and cable"),
        (
            .noise, .silence,
            "bytes arrive but no NMEA sentence at 9600, 115200, 38400, 4800, 57600, 230400 or 460800 baud"
        ),
        (.noise, .noise, "bytes arrive but no NMEA sentence at 9600, 115200, 38400"),
        (.text, .noise, "readable text arrives at 4800 baud, but no NMEA sentence; this is a modem's or a console's"),
        (.binaryFrames, .noise, "binary frames (UBX or RTCM) but no NMEA sentence at 4800 baud; switch"),
        (
            .withoutChecksum, .binaryFrames,
            "sentences arrive at 4800 baud, but without a checksum; if the receiver has none, set receiver.acceptMissing"
        ),
    ])
    func complainsAfterARoundAndThenGoesOnQuietly(
        at4800: BaudRateSearch.Evidence, elsewhere: BaudRateSearch.Evidence, words: String
    ) {
        var search = BaudRateSearch()
        for round in 1...2 {
            for place in Self.all.indices {
                #expect(search.isOpeningNews == (round == 1))
                switch search.lineClosed(after: search.rate == 4800 ? at4800 : elsewhere) {
                case .open(let rate):
                    #expect(place < 6)
                    #expect(rate == search.rate)
                case .tell(let complaint, let rate):
                    #expect(place == 6)
                    #expect(rate == 9600 && search.rate == 9600)
                    #expect(complaint.hasPrefix(words), "\(complaint)")
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
