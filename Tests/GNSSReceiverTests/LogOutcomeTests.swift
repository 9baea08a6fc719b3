import GNSS
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import GNSSReceiver

/// The reasons why a log has no fix, or fewer fixes than lines.
@Suite struct LogOutcomes {
    private func outcome(of bytes: [UInt8]) throws -> LogOutcome {
        var decoder = NMEADecoder()
        decoder.decode(bytes.span, receivedAt: .zero) { _ in }
        decoder.finish { _ in }
        return LogOutcome(name: "drive.log", statistics: decoder.statistics, beginning: Array(bytes.prefix(1024)))
    }

    private func outcome(of text: String) throws -> LogOutcome { try outcome(of: Array(text.utf8)) }

    /// Returns a log of `count` sentences. Every `step`th is altered, so that its checksum is wrong.
    private func log(sentences count: Int, alteringEvery step: Int) -> String {
        (0..<count).map { index in
            let line = sentence(
                "GPRMC,1015\(index / 60)\(index % 60 + 10).00,A,5231.1234,N,01323.1234,E,1,9,231126,,,A")
            return index % step == step - 1 ? line.replacing(",N,", with: ",S,") : line
        }.joined()
    }

    @Test(
        arguments: [
            ("<?xml version=\"1.0\"?>\n<gpx version=\"1.1\">", ForeignLogKind.gpx),
            ("<?xml version=\"1.0\"?><kml>", .kml), ("<!DOCTYPE html><p>Sign in", .page), ("<a/>", .markup),
            ("<<<<<<< HEAD\n=======\n>>>>>>> drive\n", .conflict),
            (#"{"class":"VERSION","release":"3.22"}"#, .gpsdReports),
            (#"{"format":1,"isSynchronized":false,"run":"2026-11-23T23:33:32.739Z","version":"0.1.0"}"#, .runRecording),
            (#"{"vehicle": {"providerId": "p"}, "receiver": {}}"#, .configuration),
            (#"{"time":"2026-11-23T12:00:00Z","latitude":52.5}"#, .json), (#"{"type":"FeatureCollection"}"#, .json),
            ("time,lat,lon\n2026,52,13\n", .table), ("\u{FEFF}Time;Latitude;Longitude\n", .table),
            ("     3.03           OBSERVATION DATA    M                   RINEX VERSION / TYPE\n", .rinex),
            ("AT+CGPSINFO\r\n+CGPSINFO: 4830.0,N,00906.0,E,201126,090000.0,420.1,19.4,90.0\r\n", .modem),
            ("SQLite format 3\0", .database), ("eyJhbGciOiJSUzI1NiJ9.e30.AA", .token), ("\0\0\0\0", .zeros),
            ("GPRMC,101500,A,5231.1234,N,01323.1234,E,1,9,231126,,,A*00\n", .withoutDollar),
            ("(1436509052.249713) can0 09F8010F#B05A8B1D2B4F3C07\n", .canFrames),
            ("  can0  09F8010F   [8]  B0 5A 8B 1D 2B 4F 3C 07\n", .canFrames),
            (" (010.249713)  can0  09F8010F   [8]  B0 5A 8B 1D 2B 4F 3C 07\n", .canFrames),
            ("2026-11-24T22:42:04.388Z,2,129025,36,255,8,b0,5a,8b,1d,2b,4f,3c,07\r\n", .canFrames),
            ("17:33:21.107 R 09F8010F B0 5A 8B 1D 2B 4F 3C 07\r\n", .canFrames),
            ("00000000: 2447 5052 4d43 2c31 3031 3530 302c 412c  $GPRMC,101500,A,\n", .hexadecimal),
            ("00000000  24 47 50 52 4d 43 2c 31  30 31 35 30 30 2c 41 2c  |$GPRMC,101500,A,|\n", .hexadecimal),
            ("0000000 4724 5250 434d 312c 3130 3035 2c30 2c41\n", .hexadecimal),
        ] as [(String, ForeignLogKind)])
    func nameTheFormatOfOtherFiles(text: String, kind: ForeignLogKind) throws {
        #expect(try outcome(of: text).fault == .foreign(kind))
    }

    @Test func nameABinaryProtocol() throws {
        // UBX NAV-CLOCK: two bytes of sync, class, id, length, payload, checksum.
        let frame: [UInt8] = [0xB5, 0x62, 0x01, 0x22, 0x04, 0x00, 1, 2, 3, 4, 0x31, 0x22]
        #expect(try outcome(of: (0..<20).flatMap { _ in frame }).fault == .foreign(.binaryFrames))
    }

    /// Logs of SiRF frames (start, length, message 41, checksum, end) that begin with a whole frame or within a frame.
    @Test(arguments: [[], [0x00, 0x29, 0x01]] as [[UInt8]])
    func nameTheSiRFProtocol(partialFrame: [UInt8]) throws {
        let frame: [UInt8] = [0xA0, 0xA2, 0x00, 0x03, 0x29, 0x01, 0x02, 0x00, 0x2C, 0xB0, 0xB3]
        #expect(try outcome(of: partialFrame + (0..<20).flatMap { _ in frame }).fault == .foreign(.sirf))
    }

    @Test func countSentencesIfNoChecksumMatches() throws {
        #expect(try outcome(of: log(sentences: 30, alteringEvery: 1)).fault == .wrongChecksums(sentences: 30))
        // Noise may start like another format, and a line may contain words that look like a frame's.
        for line in ["00000000\n", "can0 is down\n", "1,2,3,4,5,6,7,8\n", "12:00:00 R 12\n", "<\u{1}\u{2}{", "a, b\n"] {
            #expect(try outcome(of: line).fault == .noSentence, "\(line)")
        }
    }

    /// The operator may choose to accept sentences without checksums. A `$` in noise doesn't start a sentence.
    @Test func reportNoFaultIfOnlyTheChecksumsAreMissing() throws {
        let bare = try outcome(of: "$GPTXT,01,01,02,hello\r\n$GPTXT,01,01,02,world\r\n")
        #expect(bare.noSentenceError == nil && bare.sentencesWithoutChecksum == 2)
        let noise = try outcome(of: "$GPTXT,1\r\n$GP\u{1}\n$GP\u{1}\n$GP\u{1}\n")
        #expect(noise.noSentenceError != nil && noise.sentencesWithoutChecksum == 0)
    }

    @Test func countOmittedSentences() throws {
        func loss(_ count: Int, of all: Int, _ checksums: LogRemark.Checksums, line: Int) -> LogRemark {
            .leftOut(log: "drive.log", FixAbsence.OmittedSentences(count, of: all), checksums, firstLine: line)
        }
        #expect(try outcome(of: log(sentences: 30, alteringEvery: 50)).checksumRemark == nil)
        #expect(
            try outcome(of: log(sentences: 30, alteringEvery: 2)).checksumRemark == loss(15, of: 30, .wrong, line: 2))
        #expect(
            try outcome(of: log(sentences: 150, alteringEvery: 150)).checksumRemark
                == loss(1, of: 150, .wrong, line: 150))
        #expect(try outcome(of: log(sentences: 30, alteringEvery: 1)).checksumRemark == nil)
        // One character is cut off, as by an editor's column limit.
        let cutLine = log(sentences: 2, alteringEvery: 9).split(separator: "\r\n").map { $0.dropLast() }[0] + "\r\n"
        #expect(
            try outcome(of: log(sentences: 30, alteringEvery: 40) + cutLine + cutLine).checksumRemark
                == loss(2, of: 32, .cutOff, line: 31))
        #expect(
            try outcome(of: cutLine + log(sentences: 3, alteringEvery: 3)).checksumRemark
                == loss(2, of: 4, .both, line: 1))
    }

    private static let undated = "GPGGA,101500.00,5231.1234,N,01323.1234,E,1,8,1,40,M,40,M,,"
    private static let void = "GPRMC,101500.00,V,,,,,,,231126,,,N"
    private static let sky = "GPGSV,1,1,01,02,45,090,40"

    private func cause(of outcomes: LogOutcome..., isRecorded: Bool = true) -> FixAbsence.Cause? {
        guard case .log(_, .noFix(let absence)) = LogOutcome.noFixError(of: outcomes, isRecorded: isRecorded).reason
        else { return nil }
        #expect(absence.isRecorded == isRecorded)
        return absence.cause
    }

    @Test(
        arguments: [(undated, .undated(1)), (sky, .noPositionSentences), (void, .invalidEpochs(1))]
            as [(String, FixAbsence.Cause)])
    func reportWhyThereIsNoFix(body: String, expected: FixAbsence.Cause) throws {
        #expect(cause(of: try outcome(of: sentence(body))) == expected)
        #expect(cause(of: try outcome(of: sentence(body)), isRecorded: false) == expected)
    }

    /// The missing fixes may be among the omitted sentences, so the receiver isn't blamed. One or two wrong checksums
    /// prove nothing, because turning an electrical switch can spoil a sentence.
    @Test(
        arguments: [
            (undated, 3, 4, .undated(1)), (sky, 3, 4, .noPositionSentences), (void, 2, nil, .invalidEpochs(1)),
        ] as [(String, Int, Int?, FixAbsence.Cause)])
    func blameChecksumsIfSeveralAreWrong(body: String, mismatches: Int, all: Int?, expected: FixAbsence.Cause) throws {
        let text = log(sentences: mismatches, alteringEvery: 1) + sentence(body)
        guard case .log(_, .noFix(let absence)) = LogOutcome.noFixError(of: [try outcome(of: text)]).reason else {
            Issue.record("another fault")
            return
        }
        #expect(absence.cause == expected)
        #expect(absence.leftOut == all.map { FixAbsence.OmittedSentences(mismatches, of: $0) })
    }

    @Test func nameTheRejectedField() throws {
        let bodies =
            ["GPGGA,101500,,,,,0,00,,,M,,M,,"]
            + (1...3).map { "GPRMC,10150\($0),A,3403.0,N,-11814.5,E,19.4,90.0,050126" }
        let outcome = try outcome(of: bodies.map { sentence($0) }.joined())
        #expect(
            cause(of: outcome)
                == .rejectedPositions(
                    rejected: 3, stated: 4, field: "longitude out of range", count: 3, log: "drive.log", firstLine: 2))
    }

    /// No setting turns an AIS receiver into a receiver of positions.
    @Test func recogniseAnAISLog() throws {
        let ais = sentence("AIVDM,1,1,,A,13u?etPv2;0n:dDPwUM1U1Cb069D,0", start: "!")
        #expect(cause(of: try outcome(of: ais)) == .otherShips)
        #expect(cause(of: try outcome(of: ais + sentence(Self.sky))) == .noPositionSentences)
    }

    /// Each log is judged separately, because one log may have what another lacks. The last line of a log is often cut
    /// off, so a single line without a checksum isn't blamed.
    @Test func nameTheLogsWithoutChecksums() throws {
        let void = try outcome(of: String(repeating: sentence(Self.void), count: 9))
        let bare = "$GPRMC,101500.00,A\r\n"
        #expect(
            LogOutcome.noFixError(of: [void, try outcome(of: bare)])
                == FixSourceError(log: "drive.log, drive.log", .missingChecksums(sentences: 1, logs: 2)))
        #expect(cause(of: try outcome(of: sentence(Self.sky) + sentence(Self.sky) + bare)) == .noPositionSentences)
    }
}

extension LogOutcome {
    /// The fault that makes the log unusable.
    fileprivate var fault: LogFault? {
        if case .log("drive.log", let fault) = noSentenceError?.reason { fault } else { nil }
    }
}

/// The faults of a line without sentences, recognised by its bytes.
@Suite struct NoiseCauses {
    @Test(
        arguments: [
            ("{\"class\":\"VERSION\",\"release\":\"3.22\"}\r\n", .otherSpeaker(.gpsd)),
            ("HTTP/1.1 400 Bad Request\r\n", .otherSpeaker(.webServer)),
            ("SSH-2.0-OpenSSH_9.2\r\n", .otherSpeaker(.secureShell)),
            ("SOURCETABLE 200 OK\r\n", .otherSpeaker(.caster)),
            (String(repeating: "$GPTXT,01,01,02,hello*00\r\n", count: 3), .wrongChecksums),
            ("$GPTXT,01,01,02,hello\r\n", .noChecksums), ("\u{7f}~\u{1}", nil), ("$GPTXT,01,01,02,hello*00\r\n", nil),
        ] as [(String, ReceiverFault?)])
    func areRecognised(text: String, fault: ReceiverFault?) {
        var session = LineSession(decoder: SentenceDecoder(), watch: LineWatch(openedAt: .zero))
        _ = session.decode(Array(text.utf8).span, at: .seconds(1))
        #expect(session.findings.noiseFault == fault)
    }

    /// Frames of a binary protocol don't prove that the rate is right, but are reported.
    @Test func includeBinaryFrames() {
        let frame: [UInt8] = [0xB5, 0x62, 0x01, 0x22, 0x04, 0x00, 1, 2, 3, 4, 0x31, 0x22]
        var session = LineSession(decoder: SentenceDecoder(), watch: LineWatch(openedAt: .zero))
        let bytes = frame + frame + frame
        _ = session.decode(bytes.span, at: .seconds(1))
        #expect(session.findings.noiseFault == .binaryFrames)
        #expect(session.evidence == .binaryFrames)
    }
}
