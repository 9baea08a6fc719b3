import GNSS
import Testing

@Suite struct Explanation {
    static let lines: [(String, String)] = [
        (Framing.plain, "GNRMC: valid (gps): position 52.525, 13.404166666666667"),
        (Framing.plain + "\r", "GNRMC: valid (gps): position 52.525, 13.404166666666667"),
        (String(Framing.plain.dropLast()) + "x", "refused: checksum is not two hexadecimal digits"),
        (Framing.plain.replacing("5231", with: "5232"), "refused: checksum does not agree"),
        (Framing.body, "nothing here begins like a sentence"), ("# made by hand", "a comment: not looked at"),
        ("$" + Framing.body, "refused: no checksum"),
        (Decoding.sentence("GPRMC,101530.00,V,,,,,,,050126,,,N"), "its whole epoch gives no fix"),
        (Decoding.sentence("GPRMC,101560.00,A,5231.5,N,01324.25,E,,,050126"), "refused: a field is out of range"),
        (Decoding.sentence("GPGGA,101530.00,5231.5,N,01324.25,E,8,08,1.0,,,,,,"), "simulated or typed in by hand"),
        (Decoding.sentence("GPGLL,5231.5,N,01324.25,E,101530.00"), "no flag vouches for its position"),
        (Decoding.sentence("GPGSV,1,1,00"), "nothing in it is needed for a fix"),
        (Decoding.sentence("AIVDM,1,1,,A,13u,0", start: "!"), "never a position of ours"),
        (Decoding.sentence("GPDTM,P90,,0.0,N,0.0,E,0.0,W84"), "the receiver's datum is not WGS 84"),
        (Decoding.sentence("GPVTG,,,,,,,,,N"), "its mode says not valid"), (Decoding.date(), "dates the fix beside it"),
    ]

    @Test(arguments: lines)
    func saysWhatBecomesOfASentence(line: String, words: String) {
        let texts = SentenceExplanation.texts(of: Array(line.utf8).span)
        #expect(texts.count == 1)
        #expect(texts.first?.contains(words) == true, "\(texts)")
    }

    @Test func takesEverySentenceOfALine() {
        let texts = SentenceExplanation.texts(of: Array((Framing.plain + "  " + Framing.plain).utf8).span)
        #expect(texts.count == 2)
    }
}
