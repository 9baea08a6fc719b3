import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

@Suite struct Epochs {
    /// The sentences of one epoch in the orders of receivers.
    static let orders: [[String]] = [
        ["RMC", "VTG", "GGA", "GSA", "GSV", "GLL"], ["GGA", "GSA", "GSV", "RMC"],
        ["GGA", "GLL", "GSA", "GSV", "RMC", "VTG"],
        ["RMC", "GGA"], ["GNS", "RMC", "GST"], ["ZDA", "GGA", "RMC"], ["RMC", "GGA", "ZDA"],
        ["GLL", "RMC", "GGA", "GSA", "GSA"],
        ["RMC"], ["GGA", "GGA", "RMC"],
    ]

    /// Returns a sentence of `type` for the epoch at `tick` intervals of `milliseconds` after 10:00:00.
    static func sentence(_ type: String, tick: Int, milliseconds: Int) -> String {
        let total = tick * milliseconds
        let minute = total / 60_000
        let second = total / 1000 % 60
        let time = "10\(twoDigits(minute))\(twoDigits(second)).\(twoDigits(total % 1000 / 10))"
        let position = "5231.\(10_000 + tick),N,01324.\(20_000 + tick),E"
        let body =
            switch type {
            case "RMC": "GNRMC,\(time),A,\(position),10.0,90.0,050126,,,A"
            case "GGA": "GNGGA,\(time),\(position),1,08,0.9,34.5,M,46.9,M,,"
            case "GNS": "GNGNS,\(time),\(position),AA,08,0.9,34.5,46.9,,"
            case "GLL": "GNGLL,\(position),\(time),A,A"
            case "GST": "GNGST,\(time),5,,,,3.0,4.0,5.0"
            case "ZDA": "GNZDA,\(time),05,01,2026,00,00"
            case "VTG": "GNVTG,90.0,T,,M,10.0,N,18.5,K,A"
            case "GSA": "GNGSA,A,3,01,02,03,04,,,,,,,,,1.7,0.9,1.3"
            default: "GPGSV,1,1,01,01,40,083,46"
            }
        return WaypostTestSupport.sentence(body)
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    @Test(arguments: orders, [1000, 200, 100])
    func produceOneFixEach(order: [String], milliseconds: Int) {
        let count = 40
        let text = (0..<count).map { tick in
            order.map { Self.sentence($0, tick: tick, milliseconds: milliseconds) }.joined()
        }
        let fixes = Decoding.fixes(of: text.joined())
        #expect(fixes.count == count)
        #expect(Set(fixes.map(\.timeOfFix)).count == count)
        #expect(
            zip(fixes, fixes.dropFirst()).allSatisfy {
                $0.timeOfFix.duration(to: $1.timeOfFix) == .milliseconds(milliseconds)
            })
    }

    @Test(arguments: orders)
    func endWithTheLearnedSentence(order: [String]) {
        var decoder = NMEADecoder()
        var counts: [Int] = []
        for tick in 0..<6 {
            var fixes = 0
            for type in order {
                decoder.decode(Array(Self.sentence(type, tick: tick, milliseconds: 1000).utf8).span, receivedAt: .zero)
                { _ in
                    fixes += 1
                }
            }
            counts.append(fixes)
        }
        // The second epoch's fix comes when the third begins; then the last sentence is learned and completes the
        // third.
        #expect(counts == [0, 1, 2, 1, 1, 1])
    }

    /// Orders of sentences, and the number of sentences that a fix needs. A fix doesn't wait for sentences that add
    /// nothing.
    static let neededSentences: [([String], Int)] = [
        (["RMC", "VTG", "GGA", "GSA", "GSV", "GSV", "GLL", "ZDA"], 4), (["RMC", "VTG", "GGA", "GSA", "GSA", "GSA"], 4),
        (["GGA", "GSA", "GSV", "RMC", "VTG"], 4), (["GGA", "GLL", "VTG"], 3), (["GLL", "GSA", "VTG", "ZDA"], 3),
        (["RMC", "GGA", "GST", "GSV"], 3), (["GGA", "GGA", "RMC", "GLL"], 3),
    ]

    @Test(arguments: neededSentences)
    func endWithTheLastSentenceThatAddsSomething(order: [String], count: Int) {
        var decoder = NMEADecoder()
        decoder.decode(Array(Decoding.dateSentence(at: "100000.00").utf8).span, receivedAt: .zero) { _ in }
        var places: [Int] = []
        for tick in 0..<6 {
            for (index, type) in order.enumerated() {
                let sentence = Array(Self.sentence(type, tick: tick, milliseconds: 1000).utf8)
                decoder.decode(sentence.span, receivedAt: .zero) { _ in places.append(index + 1) }
            }
        }
        #expect(places.suffix(3) == [count, count, count])
    }

    @Test func learnAnotherLastSentenceIfTheOrderChanges() {
        let early = (0..<5).map {
            Self.sentence("GGA", tick: $0, milliseconds: 1000) + Self.sentence("RMC", tick: $0, milliseconds: 1000)
        }
        let late = (5..<12).map {
            Self.sentence("RMC", tick: $0, milliseconds: 1000) + Self.sentence("GGA", tick: $0, milliseconds: 1000)
        }
        let fixes = Decoding.fixes(of: (early + late).joined())
        #expect(fixes.count == 12)
        // The first epoch in the new order ends too early, with the old last sentence; all others are complete.
        #expect(fixes.filter { $0.altitudeMeters == nil }.count == 1)
    }

    /// A pause within an epoch cuts only that epoch short; later epochs end as before.
    @Test func keepTheirLastSentenceAfterAPause() throws {
        var decoder = NMEADecoder()
        var places: [Int] = []
        var now = Duration.zero
        decoder.decode(Array(Decoding.dateSentence(at: "100000.00").utf8).span, receivedAt: now) { _ in }
        for tick in 0..<8 {
            for (index, type) in ["RMC", "GGA", "GSA"].enumerated() {
                let sentence = Array(Self.sentence(type, tick: tick, milliseconds: 1000).utf8)
                if tick == 5, index == 2 {
                    now += .milliseconds(400)
                    decoder.handleIdleLine(at: now) { _ in places.append(0) }
                }
                decoder.decode(sentence.span, receivedAt: now) { _ in places.append(index + 1) }
            }
            now += .milliseconds(100)
        }
        #expect(places.suffix(4) == [3, 0, 3, 3])
    }

    @Test func endWhenTheLineGoesQuiet() throws {
        var decoder = NMEADecoder()
        var fixes: [Fix] = []
        let epoch =
            Self.sentence("GGA", tick: 0, milliseconds: 1000) + Self.sentence("RMC", tick: 0, milliseconds: 1000)
        #expect(decoder.idleDeadline == nil)
        decoder.decode(Array(epoch.utf8).span, receivedAt: .seconds(5)) { fixes.append($0) }
        #expect(decoder.idleDeadline == .milliseconds(5250))
        decoder.handleIdleLine(at: .milliseconds(5249)) { fixes.append($0) }
        #expect(fixes.isEmpty)
        decoder.handleIdleLine(at: .milliseconds(5250)) { fixes.append($0) }
        #expect(fixes.count == 1)
        #expect(decoder.idleDeadline == nil)
        decoder.finish { fixes.append($0) }
        #expect(fixes.count == 1)
    }

    @Test func areNotEndedByAPauseBeforeThePosition() {
        var decoder = NMEADecoder()
        var fixes: [Fix] = []
        let date =
            Self.sentence("ZDA", tick: 0, milliseconds: 1000)
            + WaypostTestSupport.sentence("GPGST,100000.00,5,,,,3.0,4.0,5.0")
        decoder.decode(Array(date.utf8).span, receivedAt: .zero) { fixes.append($0) }
        decoder.decode(Array(Self.sentence("RMC", tick: 0, milliseconds: 1000).utf8).span, receivedAt: .seconds(1)) {
            fixes.append($0)
        }
        decoder.finish { fixes.append($0) }
        #expect(fixes.map(\.horizontalAccuracyMeters) == [5])
    }

    @Test func waitForLessTimeAtTenHertz() {
        var decoder = NMEADecoder()
        for tick in 0..<5 {
            let epoch = Self.sentence("RMC", tick: tick, milliseconds: 100)
            decoder.decode(Array(epoch.utf8).span, receivedAt: .milliseconds(tick * 20)) { _ in }
        }
        decoder.decode(
            Array(Self.sentence("GGA", tick: 5, milliseconds: 100).utf8).span, receivedAt: .milliseconds(100)
        ) { _ in }
        #expect(decoder.idleDeadline == .milliseconds(130))
    }

    @Test func beginWithTheFirstSentenceAfterAPause() {
        var decoder = NMEADecoder()
        var fixes: [Fix] = []
        for tick in 0..<4 {
            let motion = WaypostTestSupport.sentence("GNVTG,,T,,M,\(tick).0,N,,K,A")
            let position = Self.sentence("GGA", tick: tick, milliseconds: 1000)
            let date = Self.sentence("ZDA", tick: tick, milliseconds: 1000)
            decoder.decode(Array((motion + date + position).utf8).span, receivedAt: .seconds(tick)) { fixes.append($0) }
        }
        decoder.finish { fixes.append($0) }
        #expect(fixes.map { ($0.speedMetersPerSecond ?? -1) * 3600 / 1852 }.map { $0.rounded() } == [0, 1, 2, 3])
    }

    @Test func useTheBestSentenceForEachValue() throws {
        let time = "101530.00"
        let bodies = [
            "GPGLL,5231.1,N,01324.1,E,\(time),A,A", "GPVTG,91.0,T,,M,11.0,N,20.4,K,A",
            "GPRMC,\(time),A,5231.2,N,01324.2,E,10.0,90.0,050126,,,A", "GPGSA,A,3,01,02,03,04,,,,,,,,,1.7,1.1,1.3",
            "GPGGA,\(time),5231.3,N,01324.3,E,2,09,0.9,34.5,M,46.9,M,,", "GPGST,\(time),5,,,,3.0,4.0,5.0",
        ]
        for order in [bodies, bodies.reversed()] {
            let fixes = Decoding.fixes(of: order.map { WaypostTestSupport.sentence($0) }.joined())
            try #require(fixes.count == 1)
            let fix = fixes[0]
            #expect(abs(fix.latitude - (52 + 31.3 / 60)) < 1e-9)
            #expect(fix.speedMetersPerSecond == 10.0 * 1852 / 3600)
            #expect(fix.headingDegrees == 90)
            #expect(fix.altitudeMeters == 34.5)
            #expect(fix.geoidSeparationMeters == 46.9)
            #expect(fix.horizontalAccuracyMeters == 5)
            #expect(fix.hdop == 0.9)
            #expect(fix.satellitesUsed == 9)
            #expect(fix.quality == .dgps)
            #expect(fix.mode == .threeDimensional)
        }
    }

    /// Sentences that void a valid RMC.
    @Test(arguments: [
        "GPGGA,101530.00,5231.3,N,01324.3,E,0,00,99.9,,M,,M,,",
        "GPGGA,101530.00,5231.3,N,01324.3,E,8,09,0.9,34.5,M,46.9,M,,",
        "GPGLL,5231.1,N,01324.1,E,101530.00,V,N", "GNGNS,101530.00,5231.3,N,01324.3,E,NN,08,0.9,34.5,46.9,,",
    ])
    func areVoidIfTheyContradictThemselves(body: String) {
        let valid = WaypostTestSupport.sentence("GPRMC,101530.00,A,5231.2,N,01324.2,E,10.0,90.0,050126,,,A")
        for text in [valid + WaypostTestSupport.sentence(body), WaypostTestSupport.sentence(body) + valid] {
            let outcome = Decoding.outcome(of: Array(text.utf8))
            #expect(outcome.fixes.isEmpty)
            #expect(outcome.statistics.epochs.void == 1)
        }
    }

    @Test func produceNoFixIfTheClockIsFrozen() {
        let text = (0..<20).map { _ in Self.sentence("GGA", tick: 1, milliseconds: 1000) }
        #expect(Decoding.fixes(of: Self.sentence("RMC", tick: 0, milliseconds: 1000) + text.joined()).count == 2)
    }
}
