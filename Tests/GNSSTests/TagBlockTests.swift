import GNSS
import Testing
import TimeAndChance
import WaypostTestSupport

@Suite struct TagBlocks {
    /// Returns `sentence` after a tag block that consists of `fields` and a checksum.
    static func tagged(_ fields: String, _ sentence: String) -> String {
        WaypostTestSupport.sentence(fields, start: "\\", ending: "\\") + sentence
    }

    static let bare = sentence("GPGLL,5231.5,N,01324.25,E,101530.00,A,A")
    /// 2026-01-05T10:15:31Z, in seconds since 1970.
    static let sent = 1_767_608_131

    static let streams: [(String, [String])] = [
        (tagged("c:\(sent)", bare), ["2026-01-05T10:15:30.000Z"]),
        (tagged("s:r3669961,c:\(sent),n:7", bare), ["2026-01-05T10:15:30.000Z"]),
        (tagged("c:\(sent)250", bare), ["2026-01-05T10:15:30.000Z"]),
        // Sent after midnight with a time before midnight.
        (
            tagged("c:1767571201", sentence("GPGLL,5231.5,N,01324.25,E,235959.50,A,A")),
            ["2026-01-04T23:59:59.500Z"]
        ),
        // One block also dates earlier fixes.
        (
            sentence("GPGLL,5231.5,N,01324.25,E,101529.00,A,A") + tagged("c:\(sent)", bare),
            ["2026-01-05T10:15:29.000Z", "2026-01-05T10:15:30.000Z"]
        ),
        // Days without a sentence advance the date.
        (
            tagged("c:\(sent)", bare)
                + tagged(
                    "c:\(sent + 3 * 86_400)", sentence("GPGLL,5231.5,N,01324.25,E,101531.00,A,A")),
            ["2026-01-05T10:15:30.000Z", "2026-01-08T10:15:31.000Z"]
        ),
        // The receiver's own date has priority, in the epoch and afterwards.
        (
            tagged("c:\(sent + 864_000)", Framing.plain + "\r\n")
                + tagged("c:\(sent + 864_000)", sentence("GPGLL,5231.5,N,01324.25,E,101531.00,A,A")),
            ["2026-01-05T10:15:30.000Z", "2026-01-05T10:15:31.000Z"]
        ),
        (Decoding.dateSentence() + tagged("c:\(sent + 864_000)", bare), ["2026-01-05T10:15:30.000Z"]),
        // Damaged, unset, absurd or absent.
        ("\\c:\(sent)*00\\" + bare, []), ("\\c:\(sent)\\" + bare, []), (tagged("c:86400", bare), []),
        (tagged("c:99999999999999999", bare), []), (tagged("c:9223372036854775807", bare), []),
        (tagged("c:-9223372036854775808", bare), []), (tagged("c:-1", bare), []), (tagged("c:", bare), []),
        (tagged("s:x", bare), []),
        (tagged("xc:\(sent)", bare), []), ("\\" + tagged("c:\(sent)", bare), ["2026-01-05T10:15:30.000Z"]),
        ("\\" + String(repeating: "a", count: 300) + tagged("c:\(sent)", bare), ["2026-01-05T10:15:30.000Z"]),
    ]

    @Test(arguments: streams)
    func dateFixesWithoutAnotherDate(stream: String, times: [String]) {
        #expect(Decoding.fixes(stream).map(\.timeOfFix.description) == times)
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

    @Test func areIgnoredBeforeTheEarliestTimeOfALiveReceiver() {
        let stream = Self.tagged("c:\(Self.sent)", Self.bare)
        func options(releasedOn day: Int) -> NMEADecoderOptions {
            let release = UTCTime(year: 2026, month: 1, day: day)
            return NMEADecoderOptions(dates: .repaired(reference: { release }, earliest: release))
        }
        let late = options(releasedOn: 8)
        let early = options(releasedOn: 4)
        #expect(Decoding.fixes(stream, options: late).isEmpty)
        #expect(Decoding.fixes(stream, options: early).count == 1)
    }

    @Test func neverHideASentence() {
        #expect(Decoding.fixes("C:\\logs\\" + Framing.plain).count == 1)
        #expect(Decoding.fixes("\\s:x" + Framing.plain).count == 1)
        #expect(Decoding.fixes("\\s:x\r\n" + Framing.plain + "\\").count == 1)
    }
}
