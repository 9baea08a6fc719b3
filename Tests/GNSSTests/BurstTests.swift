import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

/// Sentences of one burst with different talkers or times.
@Suite struct Bursts {
    private static let place = "5231.50000,N,01324.25000,E"

    private static func gga(_ time: String, at place: String = place, talker: String = "GP") -> String {
        sentence("\(talker)GGA,\(time),\(place),1,08,0.9,34.5,M,46.9,M,,")
    }
    private static func rmc(_ time: String, at place: String = place, status: String = "A", talker: String = "GP")
        -> String
    {
        sentence("\(talker)RMC,\(time),\(status),\(place),10.0,90.0,050126,,,\(status == "A" ? "A" : "N")")
    }
    private static func gll(_ time: String, at place: String = place, status: String = "A", talker: String = "GP")
        -> String
    {
        sentence("\(talker)GLL,\(place),\(time),\(status)")
    }
    private static func utcTime(at text: String) -> String { "2026-01-05T\(text)Z" }
    private static func timesOfFixes(in text: String) -> [String] {
        Decoding.fixes(of: text).map(\.timeOfFix.description)
    }

    /// The talker of a position, the talker of void sentences, and whether there is a fix.
    @Test(arguments: [
        ("GP", "AI", true), ("GN", "II", true), ("II", "AI", true), ("AI", "GP", true), ("GP", "GP", false),
        ("GN", "GP", false), ("GL", "GN", false), ("BD", "GP", false), ("II", "II", false), ("II", "IN", false),
    ])
    func areVoidedOnlyByTheirOwnTalkers(positionTalker: String, voidTalker: String, hasFix: Bool) {
        let burst = [
            Self.rmc("101530", talker: positionTalker),
            sentence("\(voidTalker)GLL,,,,,101530,V"), sentence("\(voidTalker)GGA,101530,,,,,0,00,99.9,,,,,,"),
        ]
        #expect(Decoding.fixes(of: burst.joined()).count == (hasFix ? 1 : 0))
        #expect(Decoding.fixes(of: burst.reversed().joined()).count == (hasFix ? 1 : 0))
    }

    /// Bursts with GLL in local time, as converters order them. RMC has the date; GGA has a better clock than GLL.
    @Test(arguments: [
        [gga("101530"), gll("121530.020"), rmc("101530")], [gll("121530.020"), gga("101530"), rmc("101530")],
        [rmc("101530"), gll("121530"), gga("101530")], [rmc("101530"), gga("101530"), gll("121530")],
        [rmc("101530"), gll("154530")], [gll("061530"), rmc("101530")],
        [Decoding.dateSentence(), gga("101530"), gll("121530")],
        [Decoding.dateSentence(), gll("121530"), gga("101530")],
    ])
    func useTheTimeOfTheDatedSentence(burst: [String]) {
        let outcome = Decoding.outcome(of: Array(burst.joined().utf8))
        #expect(outcome.fixes.map(\.timeOfFix.description) == [Self.utcTime(at: "10:15:30.000")])
        #expect(outcome.statistics.warnings(.localTime).count == 1)
    }

    /// RMC contains the time at which it was sent. The earlier time, in GGA, is that of the solution.
    @Test(arguments: [0.3, 0.6, 0.8, 0.96])
    func useTheEarlierTimeWithinOneInterval(delay: Double) {
        let milliseconds = Int(delay * 100)
        let text = (30..<40).map { second in
            let place = "5231.500\(second),N,01324.25000,E"
            return Self.gga("1015\(second).00", at: place) + Epochs.sentence("GSA", tick: 0, milliseconds: 1000)
                + Self.rmc("1015\(second).\(milliseconds)", at: place)
        }
        let outcome = Decoding.outcome(of: Array(text.joined().utf8))
        #expect(outcome.fixes.map(\.timeOfFix.description) == (30..<40).map { Self.utcTime(at: "10:15:\($0).000") })
        #expect(outcome.fixes.allSatisfy { $0.speedMetersPerSecond != nil && $0.hdop != nil })
        #expect(outcome.statistics.warnings(.localTime).count == 0)
    }

    /// Sentences of several epochs: another place, a repeated type, a receiver at 5 Hz, the next second, and an offset
    /// that no time zone has.
    @Test(arguments: [
        ([gga("101530"), rmc("101530.30", at: "5231.50010,N,01324.25000,E")], 2), ([rmc("101530"), rmc("121530")], 2),
        ([rmc("101530"), rmc("101530.20"), rmc("101530.40"), gga("101530.60")], 4),
        ([rmc("101530"), gga("101531")], 2), ([rmc("101530"), gll("102330")], 2),
    ])
    func areNotJoinedAcrossEpochs(sentences: [String], count: Int) {
        #expect(Self.timesOfFixes(in: sentences.joined()).count == count)
    }
}

/// The last HDOP is used for a while, because many receivers send it only every four seconds.
@Suite struct EarlierDilutions {
    private static func rmc(_ second: Int, quality: String = "A") -> String {
        sentence("GPRMC,1015\(second),A,5231.5,N,01324.25,E,10.0,90.0,050126,,,\(quality)")
    }
    private static let gsa = sentence("GPGSA,A,3,04,17,13,23,,,,,,,,,1.5,1.1,1.1")

    @Test func areUsedForTenSeconds() {
        let text = Self.rmc(10) + Self.gsa + [14, 20, 21].map { Self.rmc($0) }.joined()
        #expect(Decoding.fixes(of: text).map(\.hdop) == [1.1, 1.1, 1.1, nil])
    }

    @Test func areNotUsedForDeadReckoning() {
        #expect(Decoding.fixes(of: Self.rmc(10) + Self.gsa + Self.rmc(11, quality: "E")).map(\.hdop) == [1.1, nil])
    }

    @Test func areUsedIfSentBetweenEpochs() {
        // RMC is learned to be the last sentence, so GSA belongs to the next epoch.
        let text = (10..<40).map { Self.gsa + Self.rmc($0) }.joined()
        #expect(Decoding.fixes(of: text).allSatisfy { $0.hdop == 1.1 && $0.horizontalAccuracyMeters != nil })
    }
}
