import GNSS
import Testing
import WaypostTestSupport

/// The explanation of a sentence without its log.
@Suite struct Explanation {
    static let lines: [(String, String)] = [
        (Framing.plainSentence, "GNRMC: valid (gps), position 52.525, 13.404166666666667"),
        (Framing.plainSentence + "\r", "GNRMC: valid (gps), position 52.525, 13.404166666666667"),
        (
            String(Framing.plainSentence.dropLast()) + "x",
            "rejected: checksum not two hexadecimal digits: \"7x\" follows *, but its bytes require *7D"
        ),
        (
            Framing.plainSentence.replacing("5231", with: "5232"),
            "GNRMC: rejected: wrong checksum: its checksum is *7D, but its bytes require *7E"
        ),
        (
            Framing.plainBody,
            "no line begins with $ or !, as a sentence does; a shell expands the $ unless the line is in single quotes"
        ), ("# made by hand $GPRMC", "a comment: ignored"),
        ("$" + Framing.plainBody, "rejected: no checksum: its line ends without a checksum; its bytes require *7D"),
        ("$GNRMC,1015", "rejected: no checksum"),
        ("$GNRMC,\u{1}", "rejected: interrupted before its end: byte 0x01, which isn't text, comes after 7 bytes"),
        (
            sentence("GPTXT," + String(repeating: "A", count: 300)),
            "rejected: longer than 255 bytes: 310 bytes"
        ),
        (sentence("GPRMC,101530.00,V,,,,,,,050126,,,N"), "its flags say that there is no position"),
        (
            sentence("GPRMC,101560.00,A,5231.5,N,01324.25,E,,,050126"),
            "rejected: a field is out of range: field 1 (time) is \"101560.00\""
        ),
        (
            sentence("GPRMC,101530.00,A,5231.5,N,19324.25,E,,,050126"),
            "rejected: a field is out of range: field 5 (longitude) is \"19324.25\""
        ),
        (
            sentence("GPRMC,101530.00,A,5231.5,N,01324.25,X,,,050126"),
            "rejected: a field is malformed: field 6 (E or W) is \"X\""
        ),
        (
            sentence("GPRMC,101530.00,A,5231.5,N,,,,,050126"),
            "rejected: a field is malformed: a latitude without a longitude, or the reverse"
        ),
        (sentence("GPHDT,361.0,T"), "field 1 (heading) is \"361.0\""),
        (sentence("GPHDT,36.0,T"), "the vehicle's front points to 36.0 degrees"),
        (sentence("GPGGA,101530.00,5231.5,N,01324.25,E,8,08,1.0,,,,,,"), "simulated or entered by hand"),
        (sentence("GPGLL,5231.5,N,01324.25,E,101530.00"), "a position that no flag confirms"),
        (sentence("GPGLL,5231.5,N,01324.25,E,,A,A"), "it contains no time"),
        (sentence("GPGSV,1,1,00"), "a fix needs nothing from this type of sentence, so it is only counted"),
        (sentence("ADPMB,5,0"), "only counted"), (sentence("PUBX,03,0"), "only counted"),
        (sentence("AIVDM,1,1,,A,13u,0", start: "!"), "never this vehicle's position"),
        (sentence("GPDTM,P90,,0.000021,S,0.000002,E,0.989,W84"), "WGS 84"),
        (sentence("GPDTM,OHI,,0.02,N,0.1,E,0.0,W84"), "the warning foreign_datum"),
        (sentence("GPVTG,,,,,,,,,N"), "its mode says that speed and course are not valid"),
        (Decoding.dateSentence(), "a date for a nearby fix"),
    ]

    @Test(arguments: lines)
    func describesTheSentence(line: String, expected: String) {
        let texts = LogTrace.explanation(of: Array(line.utf8)).lines
        #expect(texts.count == 1)
        #expect(texts.first?.contains(expected) == true, "\(texts)")
    }

    @Test(arguments: [
        ("GPGGA,101530.00,5231.5,N,01324.25,E,1,08,1.0,12a,M,,,,", "field 9 (altitude) is \"12a\""),
        ("GPGSA,A,7,,,,,,,,,,,,,1,1,1", "field 2 (solution mode) is \"7\""),
        ("PUBX,00,101530.00,5231.5,N,01324.25,E,12,G3,1,1,x,1,1,,1,1,1,8", "field 11 (speed) is \"x\""),
    ])
    func namesTheOmittedField(body: String, expected: String) {
        let lines = LogTrace.explanation(of: Array(sentence(body).utf8)).lines
        #expect(lines.dropFirst() == ["  \(expected), which can't be read: ignored"])
    }

    @Test(arguments: [
        (TagBlocks.tagBlock("s:r1,c:1767608131", before: ""), "after a tag block, sent at 2026-01-05T10:15:31.000Z"),
        (TagBlocks.tagBlock("s:r1", before: ""), "after a tag block without a time of transmission"),
        ("+GPSRD:", "after 7 bytes of other data: \"+GPSRD:\""),
        ("\u{1}", "after 1 byte of other data: \".\""),
    ])
    func describesTheBytesBeforeTheSentence(prefix: String, expected: String) {
        #expect(LogTrace.explanation(of: Array((prefix + Framing.plainSentence).utf8)).lines.last == "  " + expected)
    }

    @Test func describesEverySentenceOfALine() {
        let (texts, hasMissingChecksum) = LogTrace.explanation(
            of: Array((Framing.plainSentence + Framing.plainSentence).utf8))
        #expect(texts.count == 2)
        #expect(!hasMissingChecksum)
        #expect(LogTrace.explanation(of: Array(("$" + Framing.plainBody).utf8)).hasMissingChecksum)
    }
}
