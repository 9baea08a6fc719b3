import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

@Suite struct TagBlocks {
    /// Returns `sentence` after a tag block that consists of `fields` and a checksum.
    static func tagBlock(_ fields: String, before sentence: String) -> String {
        WaypostTestSupport.sentence(fields, start: "\\", ending: "\\") + sentence
    }

    static let undatedSentence = sentence("GPGLL,5231.5,N,01324.25,E,101530.00,A,A")
    /// 2026-01-05T10:15:31Z, in seconds since 1970.
    static let sendTime = 1_767_608_131

    static let streams: [(String, [String])] = [
        (tagBlock("c:\(sendTime)", before: undatedSentence), ["2026-01-05T10:15:30.000Z"]),
        (tagBlock("s:r3669961,c:\(sendTime),n:7", before: undatedSentence), ["2026-01-05T10:15:30.000Z"]),
        (tagBlock("c:\(sendTime)250", before: undatedSentence), ["2026-01-05T10:15:30.000Z"]),
        // Sent after midnight with a time before midnight.
        (
            tagBlock("c:1767571201", before: sentence("GPGLL,5231.5,N,01324.25,E,235959.50,A,A")),
            ["2026-01-04T23:59:59.500Z"]
        ),
        // One block also dates earlier fixes.
        (
            sentence("GPGLL,5231.5,N,01324.25,E,101529.00,A,A") + tagBlock("c:\(sendTime)", before: undatedSentence),
            ["2026-01-05T10:15:29.000Z", "2026-01-05T10:15:30.000Z"]
        ),
        // Days without a sentence advance the date.
        (
            tagBlock("c:\(sendTime)", before: undatedSentence)
                + tagBlock(
                    "c:\(sendTime + 3 * 86_400)", before: sentence("GPGLL,5231.5,N,01324.25,E,101531.00,A,A")),
            ["2026-01-05T10:15:30.000Z", "2026-01-08T10:15:31.000Z"]
        ),
        // The receiver's own date has priority, in the epoch and afterwards.
        (
            tagBlock("c:\(sendTime + 864_000)", before: Framing.plainSentence + "\r\n")
                + tagBlock("c:\(sendTime + 864_000)", before: sentence("GPGLL,5231.5,N,01324.25,E,101531.00,A,A")),
            ["2026-01-05T10:15:30.000Z", "2026-01-05T10:15:31.000Z"]
        ),
        (
            Decoding.dateSentence() + tagBlock("c:\(sendTime + 864_000)", before: undatedSentence),
            ["2026-01-05T10:15:30.000Z"]
        ),
        // Times of transmission that are damaged, unset, absurd or missing.
        ("\\c:\(sendTime)*00\\" + undatedSentence, []), ("\\c:\(sendTime)\\" + undatedSentence, []),
        (tagBlock("c:86400", before: undatedSentence), []),
        (tagBlock("c:99999999999999999", before: undatedSentence), []),
        (tagBlock("c:9223372036854775807", before: undatedSentence), []),
        (tagBlock("c:-9223372036854775808", before: undatedSentence), []),
        (tagBlock("c:-1", before: undatedSentence), []),
        (tagBlock("c:", before: undatedSentence), []),
        (tagBlock("s:x", before: undatedSentence), []),
        (tagBlock("xc:\(sendTime)", before: undatedSentence), []),
        ("\\" + tagBlock("c:\(sendTime)", before: undatedSentence), ["2026-01-05T10:15:30.000Z"]),
        (
            "\\" + String(repeating: "a", count: 300) + tagBlock("c:\(sendTime)", before: undatedSentence),
            ["2026-01-05T10:15:30.000Z"]
        ),
    ]

    @Test(arguments: streams)
    func dateFixesWithoutAnotherDate(stream: String, times: [String]) {
        #expect(Decoding.fixes(of: stream).map(\.timeOfFix.description) == times)
    }

    @Test(arguments: streams)
    func areIndependentOfChunkBoundaries(stream: String, times: [String]) {
        let bytes = Array(stream.utf8)
        for cut in 1..<bytes.count {
            var pieces = [cut, .max][...]
            let fixes = Decoding.outcome(of: bytes, cuts: { pieces.popFirst() ?? .max }).fixes
            #expect(fixes.map(\.timeOfFix.description) == times, "at \(cut)")
        }
    }

    @Test func areIgnoredOnALiveLineIfTheyPredateTheRelease() {
        let stream = Self.tagBlock("c:\(Self.sendTime)", before: Self.undatedSentence)
        func options(releasedOn day: Int) -> NMEADecoderOptions {
            let release = UTCTime(year: 2026, month: 1, day: day)
            return NMEADecoderOptions(dates: .repaired(reference: { release }, earliest: release))
        }
        let late = options(releasedOn: 8)
        let early = options(releasedOn: 4)
        #expect(Decoding.fixes(of: stream, options: late).isEmpty)
        #expect(Decoding.fixes(of: stream, options: early).count == 1)
    }

    @Test func neverHideASentence() {
        #expect(Decoding.fixes(of: "C:\\logs\\" + Framing.plainSentence).count == 1)
        #expect(Decoding.fixes(of: "\\s:x" + Framing.plainSentence).count == 1)
        #expect(Decoding.fixes(of: "\\s:x\r\n" + Framing.plainSentence + "\\").count == 1)
    }
}
