import GNSS
import Testing
import WaypostTestSupport

@Suite struct Framing {
    static let plainBody = "GNRMC,101530.00,A,5231.50000,N,01324.25000,E,1.0,90.0,050126,,,A"
    static let plainSentence = sentence(plainBody, ending: "")

    static let surroundings: [(String, [UInt8])] = [
        ("line feed", bytes(plainSentence + "\n")), ("CR alone", bytes(plainSentence + "\r")),
        ("no line end", bytes(plainSentence)),
        ("CR CR LF", bytes("\r\r\n" + plainSentence + "\r\r\n")), ("two starts", bytes("$" + plainSentence + "\n")),
        ("partial first sentence", bytes("24.25,E,1.0*5A\r\n" + plainSentence)),
        ("start alone", bytes("$" + plainSentence)),
        ("date of a log tool", bytes("2026-01-05 10:15:30.123: " + plainSentence)),
        ("syslog", bytes("(1767608130.1) can0 " + plainSentence)), ("modem", bytes("+GPSRD:" + plainSentence)),
        ("tag block", bytes("\\s:r1,c:1767608130*2C\\" + plainSentence)),
        ("NUL bytes", [0, 0, 0] + bytes(plainSentence) + [0]),
        ("wrong baud rate", [0xFF, 0x80, 0x24, 0x99, 0xF0] + bytes(plainSentence)),
        ("dollars", bytes("$$$$$$" + plainSentence)),
        ("comment", bytes("# $GPRMC,101529,A,1.0,N,1.0,E,,,050126*00\r\n" + plainSentence)),
        ("UBX", ubxFrame(payload: bytes("$GPGLL,0100.0,N,00100.0,E,101530,A*2F\r\n")) + bytes(plainSentence)),
        ("broken UBX", [0xB5, 0x62, 1, 7, 4, 0, 1, 2, 3, 4, 9, 9] + bytes(plainSentence)),
        ("UBX that never ends", [0xB5, 0x62, 1, 7, 0, 16] + bytes(plainSentence)),
        ("UBX with an impossible length", [0xB5, 0x62, 1, 7, 0xFF, 0xFF] + bytes(plainSentence)),
        ("RTCM", rtcmStationPosition + bytes(plainSentence)),
        ("RTCM that never ends", [0xD3, 0, 200] + bytes(plainSentence)),
        ("half a UBX", bytes(plainSentence) + [0xB5]), ("half an RTCM", bytes(plainSentence) + [0xD3, 0]),
        (
            "lower-case checksum",
            bytes("$GNRMC,101530.00,A,5231.50000,N,01324.25000,E,1.0,90.0,050126,,,D*" + lowerCaseChecksum)
        ),
    ]

    /// The checksum of `plainBody` with mode `D`, in lower case.
    static let lowerCaseChecksum = String((plainBody.dropLast() + "D").utf8.reduce(UInt8(0), ^), radix: 16)

    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    static func ubxFrame(payload: [UInt8]) -> [UInt8] {
        let content = [1, 7, UInt8(payload.count & 255), UInt8(payload.count >> 8)] + payload
        var sum = UInt8(0)
        var sumOfSums = UInt8(0)
        for byte in content {
            sum &+= byte
            sumOfSums &+= sum
        }
        return [0xB5, 0x62] + content + [sum, sumOfSums]
    }

    /// Message 1005 from the standard's own example (RTCM 10403, section 4.2).
    static let rtcmStationPosition: [UInt8] = [
        0xD3, 0x00, 0x13, 0x3E, 0xD7, 0xD3, 0x02, 0x02, 0x98, 0x0E, 0xDE, 0xEF, 0x34, 0xB4, 0xBD, 0x62, 0xAC, 0x09,
        0x41, 0x98, 0x6F, 0x33, 0x36, 0x0B, 0x98,
    ]

    @Test(arguments: surroundings)
    func findsTheSentenceAmongOtherBytes(name: String, bytes: [UInt8]) {
        let fixes = Decoding.fixes(of: bytes)
        #expect(fixes.count == 1, "\(name)")
        #expect(fixes.first?.latitude == 52.525, "\(name)")
    }

    @Test(arguments: surroundings)
    func isIndependentOfChunkBoundaries(name: String, bytes: [UInt8]) {
        let whole = Decoding.fixes(of: bytes)
        for cut in 1..<bytes.count {
            var pieces = [cut, .max][...]
            #expect(
                Decoding.outcome(of: bytes, cuts: { pieces.popFirst() ?? .max }).fixes == whole, "\(name) at \(cut)")
        }
    }

    @Test func skipsBinaryFramesByLength() {
        let frames = Self.ubxFrame(payload: Array(repeating: 10, count: 300)) + Self.rtcmStationPosition
        let statistics = Decoding.outcome(of: frames + Self.bytes(Self.plainSentence)).statistics
        #expect(statistics.binaryBytes == frames.count)
        #expect(statistics.lines == 300)
        #expect(SentenceRejection.allCases.allSatisfy { statistics.rejections($0).count == 0 })
    }

    /// A receiver that starts each sentence with `$$` loses no sentence, and no rejection is counted.
    @Test(arguments: ["$$", "!$", "$$$", "$\u{0}$"])
    func ignoresALoneStartByte(start: String) {
        let statistics = Decoding.outcome(of: Self.bytes(start + Self.plainSentence.dropFirst())).statistics
        #expect(statistics.sentences == 1)
        #expect(SentenceRejection.allCases.allSatisfy { statistics.rejections($0).count == 0 })
    }

    /// A sentence cut off by the end of a log isn't used, with or without checksums.
    @Test(arguments: [false, true]) func ignoresASentenceCutOffByTheEndOfTheLog(acceptsMissingChecksum: Bool) {
        let options = NMEADecoderOptions(acceptsMissingChecksum: acceptsMissingChecksum)
        let cut = Self.bytes(Self.plainSentence + "\r\n$GPRMC,101531.00,A,5231.5,N,0132")
        let statistics = Decoding.outcome(of: cut, options: options).statistics
        #expect(statistics.sentences == 1)
        #expect(statistics.rejections(.missingChecksum).count == 0)
        #expect(statistics.rejections(.interrupted).count == 1)
    }

    @Test func completesASentenceAtTheSecondChecksumDigit() {
        var decoder = NMEADecoder()
        decoder.decode(Self.bytes(String(Self.plainSentence.dropLast())).span, receivedAt: .zero) { _ in }
        #expect(decoder.statistics.sentences == 0)
        decoder.decode([Self.plainSentence.utf8.last ?? 0].span, receivedAt: .zero) { _ in }
        #expect(decoder.statistics.sentences == 1)
    }

    @Test func releasesTheBytesAfterAFalseFrameWhenTheLineGoesQuiet() throws {
        var decoder = NMEADecoder()
        var fixes: [Fix] = []
        let bytes = [0xB5, 0x62, 1, 7, 0, 16] + Self.bytes(Self.plainSentence)
        decoder.decode(bytes.span, receivedAt: .zero) { fixes.append($0) }
        let deadline = try #require(decoder.idleDeadline)
        decoder.handleIdleLine(at: deadline) { fixes.append($0) }
        #expect(fixes.count == 1)
    }

    @Test(arguments: [(255, 1), (256, 0)])
    func acceptsSentencesUpTo255Bytes(length: Int, sentences: Int) {
        let text = sentence("GPTXT," + String(repeating: "A", count: length - 10), ending: "")
        #expect(text.utf8.count == length)
        #expect(Decoding.outcome(of: Self.bytes(text)).statistics.sentences == sentences)
    }
}
