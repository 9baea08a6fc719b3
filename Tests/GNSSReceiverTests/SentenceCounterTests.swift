import Testing

@testable import GNSSReceiver

@Suite struct CountedSentence {
    @Test(arguments: [
        ("", 0), ("$GPGLL,,,,,,V,N*64\r\n", 1), ("$GPGLL,,,,,,V,N*64", 1), ("$GPGLL,,,,,,V,N*65\r\n", 0),
        ("$$GPGLL,,,,,,V,N*64\r", 1), ("$GPGL$GPGLL,,,,,,V,N*64\n", 1), ("$GPGLL,,,,,,V,N*6g", 0),
        ("x\u{0}$GPGLL,,,,,,V,N*64$GPGLL,,,,,,V,N*64", 2), ("$GPGLL,\r\n,,,,,V,N*64", 0), ("$A*41", 1), ("$A*4", 0),
        ("$n*6e", 1), ("$n*6E", 1), ("!AIVDM*37", 0),
    ])
    func isWholeAndHasARightChecksum(text: String, count: Int) {
        var counter = SentenceCounter()
        #expect(counter.count(in: Array(text.utf8).span) == count)
    }

    @Test func isTheSameHoweverTheStreamIsCut() {
        let text = Array("noise\u{1}$GPGLL,,,,,,V,N*64\r\n$GPGLL,,,,,,V,N*64".utf8)
        for cut in 0...text.count {
            var counter = SentenceCounter()
            let first = counter.count(in: Array(text[..<cut]).span)
            #expect(first + counter.count(in: Array(text[cut...]).span) == 2, "cut at \(cut)")
        }
    }
}
