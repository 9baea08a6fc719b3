import GNSS
import Testing
import WaypostTestSupport

/// A faulty optional field is ignored and counted; the rest of the sentence is used.
@Suite struct OptionalFields {
    private static let rmc = "GPRMC,101530.00,A,5231.5,N,01324.25,E"
    private static let gga = "GPGGA,101530.00,5231.5,N,01324.25,E,1"

    /// Bodies of sentences, the faulty field, and whether the field is out of range.
    static let faultySentences: [(String, String, Bool)] = [
        ("\(rmc),1.0,  5.0,050126", "course", false), ("\(rmc),-1.0,90.0,050126", "speed", true),
        ("\(rmc),1001,90.0,050126", "speed", true), ("\(rmc),fast,90.0,050126", "speed", false),
        ("\(rmc),1.0,360.1,050126", "course", true), ("\(rmc),1.0,-90,050126", "course", true),
        ("\(gga),256,0.9,34.5,M,46.9,M,,", "satellites used", true), ("\(gga),08,-0.9,34.5,M,46.9,M,,", "HDOP", true),
        ("\(gga),08,0.9,100001,M,46.9,M,,", "altitude", true), ("\(gga),08,0.9,nan,M,46.9,M,,", "altitude", false),
        ("\(gga),08,0.9,34.5,M,501,M,,", "geoid separation", true),
        ("\(gga),08,0.9,34.5,M,4 6.9,M,,", "geoid separation", false),
    ]

    @Test(arguments: faultySentences)
    func areOmittedIndividuallyIfFaulty(body: String, field: String, isOutOfRange: Bool) throws {
        let outcome = Decoding.outcome(of: Array((Decoding.dateSentence() + sentence(body)).utf8))
        #expect(outcome.fixes.map(\.latitude) == [52.525])
        #expect(SentenceRejection.allCases.allSatisfy { outcome.statistics.rejections($0).count == 0 })
        #expect(outcome.statistics.mostFrequentRejection == nil)
        let omission = try #require(outcome.statistics.omittedFields.first)
        #expect(omission.name == field && omission.isOutOfRange == isOutOfRange)
        #expect(omission.occurrences.count == 1 && omission.occurrences.firstLine == 2)
    }

    @Test func doNotAffectOtherFieldsIfFaulty() throws {
        let fix = try #require(Decoding.fixes(of: sentence("\(Self.rmc),10.0,  5.0,050126")).first)
        #expect(fix.speedMetersPerSecond != nil && fix.headingDegrees == nil)
        let described = try #require(
            Decoding.fixes(of: Decoding.dateSentence() + sentence("\(Self.gga),08,0.9,nan,M,46.9,M,,")).first)
        #expect(described.altitudeMeters == nil && described.geoidSeparationMeters == 46.9 && described.hdop == 0.9)
    }

    /// Sentences that follow an RMC, and the fields that are ignored in them.
    @Test(arguments: [
        ("GPVTG,361,T,,M,5.5,N,10.2,K,A", "course"), ("GPVTG,54.7,T,,M,fast,N,10.2,K,A", "speed in knots"),
        ("GPGSA,A,4,01,02,03,04,,,,,,,,,1.7,1.0,1.3", "solution mode"),
        ("GPGSA,A,3,01,02,03,04,,,,,,,,,1.7,x,1.3", "HDOP"), ("GPGST,101530.00,1,1,1,1,-1,1,1", "latitude error"),
    ])
    func areIgnoredInSentencesWithoutPosition(body: String, field: String) {
        let text = sentence("\(Self.rmc),,,050126") + sentence(body)
        let outcome = Decoding.outcome(of: Array(text.utf8))
        #expect(outcome.fixes.count == 1)
        #expect(outcome.statistics.omittedFields.map(\.name) == [field])
    }

    @Test func areNotCheckedInVoidSentences() {
        let outcome = Decoding.outcome(of: Array(sentence("GPRMC,101530.00,V,nan,N,nan,E,nan,nan,050126").utf8))
        #expect(outcome.statistics.omittedFields.isEmpty && outcome.statistics.mostFrequentRejection == nil)
        #expect(outcome.statistics.epochs.void == 1)
    }
}

/// Sentences that are rejected because of a field, which are counted by the field's name, whatever their type.
@Suite struct RejectedFields {
    @Test func areCountedByName() throws {
        let epoch = [
            "GPGGA,101530.00,3403.000,N,-11814.580,E,1,12,1.0,0.0,M,0.0,M,,",
            "GPRMC,101530.00,A,3403.000,N,-11814.580,E,19.4,90.0,201126", "GPGLL,34x3.000,N,11814.580,E,101530.00,A",
        ].map { sentence($0) }.joined()
        let outcome = Decoding.outcome(of: Array((epoch + epoch).utf8))
        #expect(outcome.fixes.isEmpty)
        #expect(outcome.statistics.positionSentences == 6 && outcome.statistics.rejectedPositions == 6)
        let most = try #require(outcome.statistics.mostFrequentRejection)
        #expect(most.description == "longitude out of range")
        #expect(most.occurrences.count == 4 && most.occurrences.firstLine == 1)
    }

    @Test func includeFlags() throws {
        let text = sentence("GPGGA,101530.00,5231.5,N,01324.25,E,DGNSS fix,08,0.9,34.5,M,46.9,M,,")
        let most = try #require(Decoding.outcome(of: Array(text.utf8)).statistics.mostFrequentRejection)
        #expect(most.description == "quality can't be read")
    }
}

/// A flag that can't be read says nothing about validity.
@Suite struct UnreadableFlags {
    @Test(arguments: ["M", "00000", "DGNSS fix", "x"])
    func doNotVoidTheFixOfOtherSentences(quality: String) {
        let gga = sentence("GPGGA,101530.00,5231.5,N,01324.25,E,\(quality),08,0.9,34.5,M,46.9,M,,")
        let rmc = sentence("GPRMC,101530.00,A,5231.5,N,01324.25,E,1.0,90.0,050126,,,A")
        #expect(Decoding.fixes(of: gga + rmc).count == 1)
        #expect(Decoding.fixes(of: rmc + gga).count == 1)
        #expect(Decoding.outcome(of: Array((gga + rmc).utf8)).statistics.epochs.void == 0)
    }

    @Test func doNotIncludeEmptyFlags() {
        let gga = sentence("GPGGA,101530.00,5231.5,N,01324.25,E,,08,0.9,34.5,M,46.9,M,,")
        let rmc = sentence("GPRMC,101530.00,A,5231.5,N,01324.25,E,1.0,90.0,050126,,,A")
        #expect(Decoding.fixes(of: gga + rmc).isEmpty)
    }
}
