import GNSS
import Reporting
import Testing
import TimeAndChance
import WaypostTestSupport

@testable import GNSSReceiver

/// The messages about a log without fixes, or with sentences that were left out.
@Suite struct LogOutcomes {
    private func outcome(_ bytes: [UInt8]) throws -> LogOutcome {
        var decoder = NMEADecoder()
        decoder.decode(bytes.span, receivedAt: .zero) { _ in }
        decoder.finish { _ in }
        return LogOutcome(name: "drive.log", statistics: decoder.statistics, beginning: Array(bytes.prefix(1024)))
    }

    private func outcome(_ text: String) throws -> LogOutcome { try outcome(Array(text.utf8)) }

    /// Returns the sentences of `count` epochs, with every `step`th altered.
    private func altered(_ count: Int, each step: Int) -> String {
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
    func nameTheKindOfAFileThatIsNotALog(text: String, kind: ForeignLogKind) throws {
        #expect(try outcome(text).emptiness?.text == "drive.log is \(kind.rawValue)")
    }

    @Test func nameBinaryOutput() throws {
        // UBX NAV-CLOCK: two bytes of sync, class, id, length, payload, checksum.
        let frame: [UInt8] = [0xB5, 0x62, 0x01, 0x22, 0x04, 0x00, 1, 2, 3, 4, 0x31, 0x22]
        let words = try outcome((0..<20).flatMap { _ in frame }).emptiness?.text ?? ""
        #expect(
            words.hasPrefix("drive.log is binary output (UBX or RTCM) without an NMEA sentence; switch"), "\(words)")
    }

    /// A SiRF frame: start, length, message 41, checksum, end; recorded from its start and from its middle.
    @Test(arguments: [[], [0x00, 0x29, 0x01]] as [[UInt8]])
    func nameSiRF(rest: [UInt8]) throws {
        let frame: [UInt8] = [0xA0, 0xA2, 0x00, 0x03, 0x29, 0x01, 0x02, 0x00, 0x2C, 0xB0, 0xB3]
        let words = try outcome(rest + (0..<20).flatMap { _ in frame }).emptiness?.text ?? ""
        #expect(words == "drive.log is \(ForeignLogKind.sirf.rawValue)", "\(words)")
    }

    @Test func stateThatNoChecksumIsCorrect() throws {
        #expect(
            try outcome(altered(30, each: 1)).emptiness?.text
                == "drive.log holds 30 sentences, and not one checksum agrees: the log was altered after it was recorded, "
                + "or damaged on the line; use it as it was recorded")
        // Noise may begin like another format, and a line may look like a CAN frame.
        for line in ["00000000\n", "can0 is down\n", "1,2,3,4,5,6,7,8\n", "12:00:00 R 12\n"] {
            #expect(try outcome(line).emptiness?.text.hasPrefix("drive.log holds no NMEA") == true, "\(line)")
        }
        #expect(try outcome("<\u{1}\u{2}{").emptiness?.text.hasPrefix("drive.log holds no NMEA") == true)
        #expect(
            try outcome("words, words\n").emptiness?.text
                == "drive.log holds no NMEA 0183 sentence with a right checksum; check that it is a receiver's log")
    }

    /// Sentences without checksum can be accepted; a `$` in noise isn't a sentence.
    @Test func leaveLogsWithoutChecksumsToTheOperator() throws {
        let bare = try outcome("$GPTXT,01,01,02,hello\r\n$GPTXT,01,01,02,world\r\n")
        #expect(bare.emptiness == nil && bare.sentencesWithoutChecksum == 2)
        let noise = try outcome("$GPTXT,1\r\n$GP\u{1}\n$GP\u{1}\n$GP\u{1}\n")
        #expect(noise.emptiness != nil && noise.sentencesWithoutChecksum == 0)
    }

    @Test func countOmittedSentences() throws {
        #expect(try outcome(altered(30, each: 50)).loss == nil)
        #expect(
            try outcome(altered(30, each: 2)).loss
                == "drive.log: 15 of 30 sentences left out, as the checksum does not agree (the first in line 2): the log "
                + "was altered after it was recorded, or damaged on the line; use it as it was recorded")
        #expect(
            try outcome(altered(150, each: 150)).loss
                == "drive.log: 1 of 150 sentences left out, as the checksum does not agree (in line 150): damage on the line"
        )
        #expect(try outcome(altered(30, each: 1)).loss == nil)
        // One character is cut off, as by an editor's column limit.
        let stump = altered(2, each: 9).split(separator: "\r\n").map { $0.dropLast() }[0] + "\r\n"
        #expect(
            try outcome(altered(30, each: 40) + stump + stump).loss
                == "drive.log: 2 of 32 sentences left out, as the checksum is cut off (the first in line 31): the log was altered "
                + "after it was recorded, or damaged on the line; use it as it was recorded")
        #expect(
            try outcome(stump + altered(3, each: 3)).loss?
                .contains(
                    "2 of 4 sentences left out, as the checksum does not agree, or is cut off (the first in line 1)")
                == true)
    }

    @Test(
        arguments: [
            (
                "GPGGA,101500.00,5231.1234,N,01323.1234,E,1,8,1,40,M,40,M,,",
                "but no RMC or ZDA sentence that dates them; have the receiver send RMC or ZDA too, and record again"
            ),
            (
                "GPGSV,1,1,01,02,45,090,40",
                "no sentence states a position with its time; have the receiver send RMC and GGA, and record again"
            ),
            (
                "GPRMC,101500.00,V,,,,,,,231126,,,N",
                "1 epoch, none with a position that its receiver confirms (RMC with status V, GGA with quality 0, or "
                    + "simulated); record again where the antenna sees the sky"
            ),
        ])
    func stateWhyThereIsNoFix(body: String, words: String) throws {
        let text = LogOutcome.absence(of: [try outcome(sentence(body))])
        #expect(text.hasPrefix("no fix ") && text.hasSuffix(words), "\(text)")
    }

    /// The missing sentences may be among those left out, so the receiver isn't blamed.
    @Test(
        arguments: [
            (
                "GPGSV,1,1,01,02,45,090,40", 3, "no fix in drive.log: 3 of 4",
                "no sentence states a position with its time"
            ),
            (
                "GPGGA,101500.00,5231.1234,N,01323.1234,E,1,8,1,40,M,40,M,,", 3,
                "no fix with a date in drive.log: 3 of 4",
                "1 fix, but no RMC or ZDA sentence that dates them"
            ),
        ])
    func blameTheChecksums(body: String, mismatches: Int, begins: String, rest: String) throws {
        let text = LogOutcome.absence(of: [try outcome(altered(mismatches, each: 1) + sentence(body))])
        #expect(
            text
                == "\(begins) sentences left out, as the checksum does not agree; in the rest, \(rest): the log was altered "
                + "after it was recorded, or damaged on the line; use it as it was recorded", "\(text)")
    }

    /// Input from a live receiver isn't a recording.
    @Test func stateTheRemedyForALiveReceiver() throws {
        let view = sentence("GPGSV,1,1,01,02,45,090,40")
        for (text, words) in [
            (view, "have the receiver send RMC and GGA"),
            (sentence("GPRMC,101500.00,V,,,,,,,231126,,,N"), "check the antenna's view of the sky"),
            (altered(3, each: 1) + view, "check the cable, and what changes the sentences on their way"),
        ] {
            let told = LogOutcome.absence(of: [try outcome(text)], isRecorded: false)
            #expect(told.hasSuffix(words), "\(told)")
        }
    }

    @Test(arguments: [
        (
            true,
            "no fix in drive.log: 3 of 4 sentences with a position rejected: longitude out of range in 3; waypost fixes "
                + "drive.log --explain 2 shows the first; set the receiver to NMEA 0183, and record again"
        ),
        (
            false,
            "no fix in drive.log: 3 of 4 sentences with a position rejected: longitude out of range in 3; record a minute "
                + "of it, and see waypost fixes --explain"
        ),
    ])
    func nameTheRejectedField(isRecorded: Bool, words: String) throws {
        let bodies =
            ["GPGGA,101500,,,,,0,00,,,M,,M,,"]
            + (1...3).map { "GPRMC,10150\($0),A,3403.0,N,-11814.5,E,19.4,90.0,050126" }
        let outcome = try outcome(bodies.map { sentence($0) }.joined())
        #expect(LogOutcome.absence(of: [outcome], isRecorded: isRecorded) == words)
    }

    /// No setting makes an AIS receiver send its own positions.
    @Test(arguments: [true, false]) func recogniseAnAISLog(isRecorded: Bool) throws {
        let ais = sentence("AIVDM,1,1,,A,13u?etPv2;0n:dDPwUM1U1Cb069D,0", start: "!")
        #expect(
            LogOutcome.absence(of: [try outcome(ais)], isRecorded: isRecorded)
                == "no fix in drive.log: AIS messages, and no position of our own; use the sentences of a GNSS receiver"
        )
        let both = LogOutcome.absence(of: [try outcome(ais + sentence("GPGSV,1,1,01,02,45,090,40"))])
        #expect(both.contains("no sentence states a position with its time"), "\(both)")
    }

    /// A switch that is turned damages one or two sentences.
    @Test func doNotBlameAFewChecksums() throws {
        let void = sentence("GPRMC,101500.00,V,,,,,,,231126,,,N")
        #expect(LogOutcome.absence(of: [try outcome(altered(2, each: 1) + void)]).contains("receiver confirms"))
    }

    /// Each log is judged separately.
    @Test func nameTheLogsWithoutChecksums() throws {
        let void = try outcome(String(repeating: sentence("GPRMC,101500.00,V,,,,,,,231126,,,N"), count: 9))
        let told = LogOutcome.absence(of: [void, try outcome("$GPRMC,101500.00,A\r\n")])
        #expect(
            told.contains("hold no fix, but 1 sentence without checksum; if the receiver sends none, set receiver."))
    }

    /// The last line of a log is often cut off.
    @Test func blameMissingChecksumsOnlyIfAllAreMissing() throws {
        let sky = sentence("GPGSV,1,1,01,02,45,090,40")
        #expect(LogOutcome.absence(of: [try outcome(sky + sky + "$GPRMC,101500.00,A\r\n")]).contains("RMC and GGA"))
        #expect(
            LogOutcome.absence(of: [try outcome("$GPRMC,101500.00,A\r\n")]).hasPrefix(
                "drive.log holds no fix, but 1 sentence without checksum; "))
    }
}

/// The faults of a line without sentences, by its bytes.
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
    func areKnown(text: String, fault: ReceiverFault?) {
        var session = LineSession(decoder: SentenceDecoder(), watch: LineWatch(openedAt: .zero))
        _ = session.take(Array(text.utf8).span, at: .seconds(1))
        #expect(session.findings.noiseFault == fault)
    }

    /// Frames of a binary protocol are no evidence for the rate, but are reported.
    @Test func areBinaryFrames() {
        let frame: [UInt8] = [0xB5, 0x62, 0x01, 0x22, 0x04, 0x00, 1, 2, 3, 4, 0x31, 0x22]
        var session = LineSession(decoder: SentenceDecoder(), watch: LineWatch(openedAt: .zero))
        let bytes = frame + frame + frame
        _ = session.take(bytes.span, at: .seconds(1))
        #expect(session.findings.noiseFault == .binaryFrames)
        #expect(session.evidence == .binaryFrames)
    }
}
