import GNSS
import Testing
import WaypostTestSupport

@Suite struct Rejection {
    static let damagedSentences: [(String, SentenceRejection)] = [
        ("$GPGLL,5231.5,N,01324.25,E,101530,A*00\r\n", .checksumMismatch),
        ("$GPGLL,5231.5,N,01324.25,E,101530,A*0\r\n", .malformedChecksum),
        ("$GPGLL,5231.5,N,01324.25,E,101530,A*G0\r\n", .malformedChecksum),
        ("$GPGLL,5231.5,N,01324.25,E,101530,A*\r\n", .malformedChecksum),
        ("$GPGLL,5231.5,N,01324.25,E,101530,A\r\n", .missingChecksum),
        ("$GPGLL,5231.5,N,01324.25,E,101530,A", .interrupted),
        ("$GPGLL,5231.5,N,0132\u{0}4.25,E,101530,A*00\r\n", .interrupted),
        ("$GPGLL,5231.5,N,$GPGLL\r\n", .interrupted),
        ("$GPGLL,5231.5,\u{7F}N,01324.25,E,101530,A*00\r\n", .interrupted),
        ("$GPGLL,5231.5,é,01324.25,E,101530,A*00\r\n", .interrupted),
        ("$" + String(repeating: "A", count: 300) + "*00\r\n", .tooLong),
    ]

    @Test(arguments: damagedSentences)
    func statesTheReasonForADamagedSentence(text: String, reason: SentenceRejection) {
        let outcome = Decoding.outcome(of: Array(text.utf8))
        #expect(outcome.statistics.rejections(reason).count == 1)
        #expect(outcome.statistics.rejections(reason).firstLine == 1)
        #expect(outcome.statistics.sentences == 0)
    }

    /// Sentences with correct checksums and fields that no receiver can send.
    static let impossibleSentences: [(String, SentenceRejection)] = [
        ("GPRMC,241530.00,A,5231.5,N,01324.25,E,1.0,90.0,050126", .outOfRange),
        ("GPRMC,106030.00,A,5231.5,N,01324.25,E,1.0,90.0,050126", .outOfRange),
        ("GPRMC,101560.00,A,5231.5,N,01324.25,E,1.0,90.0,050126", .outOfRange),
        ("GPRMC,-101530.00,A,5231.5,N,01324.25,E,1.0,90.0,050126", .outOfRange),
        ("GPRMC,10:15:30,A,5231.5,N,01324.25,E,1.0,90.0,050126", .malformedField),
        ("GPRMC,101530.00,A,5260.0,N,01324.25,E,1.0,90.0,050126", .outOfRange),
        ("GPRMC,101530.00,A,9000.1,N,01324.25,E,1.0,90.0,050126", .outOfRange),
        ("GPRMC,101530.00,A,5231.5,N,18000.1,E,1.0,90.0,050126", .outOfRange),
        ("GPRMC,101530.00,A,-5231.5,N,01324.25,E,1.0,90.0,050126", .outOfRange),
        ("GPRMC,101530.00,A,5231.5,X,01324.25,E,1.0,90.0,050126", .malformedField),
        ("GPRMC,101530.00,A,5231.5,E,01324.25,N,1.0,90.0,050126", .malformedField),
        ("GPRMC,101530.00,A,5231.5,,01324.25,E,1.0,90.0,050126", .malformedField),
        ("GPRMC,101530.00,A,5231.5,N,,,1.0,90.0,050126", .malformedField),
        ("GPRMC,101530.00,A,52O1.5,N,01324.25,E,1.0,90.0,050126", .malformedField),
        ("GPRMC,101530.00,A,52.31.5,N,01324.25,E,1.0,90.0,050126", .malformedField),
        ("GPRMC,101530.00,A,1234567890123.5,N,01324.25,E,1.0,90,050126", .malformedField),
        ("GPRMC,101530.00,L,5231.5,N,01324.25,E,1.0,90.0,050126", .malformedField),
        ("GPRMC,101530.00,AV,5231.5,N,01324.25,E,1.0,90.0,050126", .malformedField),
        ("GPGGA,101530.00,5231.5,N,01324.25,E,M,08,0.9,34.5,M,46.9,M,,", .malformedField),
        ("GPGGA,101530.00,5231.5,N,01324.25,E,00000,08,0.9,34.5,M,46.9,M,,", .malformedField),
        ("GPGGA,101530.00,5231.5,N,01324.25,E,DGNSS fix,08,0.9,34.5,M,46.9,M,,", .malformedField),
        ("GPGGA,101530.00,5231.5,N,01324.25,E,9,08,0.9,34.5,M,46.9,M,,", .malformedField),
        ("GNGNS,101530.00,5231.5,N,01324.25,E,7,08,0.9,34.5,46.9,,", .malformedField),
        ("GPGLL,5231.5,N,01324.25,E,101530.00,X", .malformedField),
        ("PUBX,00,101530.00,5231.5,N,01324.25,E,81.4,Z9,2.1,3.0,36.0,77.5,0.0,,0.9,1.2,0.8,9,0,0", .malformedField),
        ("GPHDT,361,T", .outOfRange), ("GPZDA,101530.00,32,01,2026,00,00", .outOfRange),
    ]

    @Test(arguments: impossibleSentences)
    func appliesToSentencesWithImpossibleFields(body: String, reason: SentenceRejection) {
        let outcome = Decoding.outcome(of: Array((Decoding.dateSentence() + sentence(body)).utf8))
        #expect(outcome.fixes.isEmpty)
        #expect(outcome.statistics.rejections(reason).count == 1)
        #expect(outcome.statistics.rejections(reason).firstLine == 2)
    }

    @Test func isOptionalIfTheChecksumIsMissing() {
        let text = "$GPRMC,101530,A,5231.5,N,01324.25,E,1.0,90.0,050126\n$GPRMC,101531,A,5231.5,N,01324.25,E,,,050126\r"
        #expect(Decoding.fixes(of: text).isEmpty)
        #expect(Decoding.fixes(of: text, options: NMEADecoderOptions(acceptsMissingChecksum: true)).count == 2)
    }

    @Test(arguments: SentenceRejection.allCases)
    func hasADescription(reason: SentenceRejection) {
        #expect(!reason.description.isEmpty)
    }
}
