import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

@Suite struct Calendar {
    private static func voidRMC(_ time: String, date: String) -> String {
        sentence("GNRMC,\(time),V,,,,,,,\(date),,,N")
    }

    static func rmc(_ time: String, date: String, minute: String = "31.5") -> String {
        sentence("GPRMC,\(time),A,52\(minute),N,01324.25,E,,,\(date),,,A")
    }

    static func gga(_ time: String) -> String { sentence("GPGGA,\(time),5231.5,N,01324.25,E,1,08,0.9,,,,,,") }

    /// Streams and the times of their fixes.
    static let streams: [(String, [String])] = [
        (
            rmc("235959.00", date: "311225") + rmc("000000.00", date: "010126"),
            ["2025-12-31T23:59:59.000Z", "2026-01-01T00:00:00.000Z"]
        ),
        // Sentences without a date cross midnight.
        (
            rmc("235959.00", date: "280224") + gga("000000.00") + gga("000001.00"),
            ["2024-02-28T23:59:59.000Z", "2024-02-29T00:00:00.000Z", "2024-02-29T00:00:01.000Z"]
        ),
        // The last second of a day comes after the first one of the next.
        (
            rmc("000000.00", date: "010326", minute: "31.6") + gga("235959.90"),
            ["2026-03-01T00:00:00.000Z", "2026-02-28T23:59:59.900Z"]
        ),
        // Two midnights advance the date by two days.
        (
            rmc("230000.00", date: "010126", minute: "31.6") + gga("080000.00") + gga("190000.00")
                + gga("060000.00"),
            [
                "2026-01-01T23:00:00.000Z", "2026-01-02T08:00:00.000Z", "2026-01-02T19:00:00.000Z",
                "2026-01-03T06:00:00.000Z",
            ]
        ),
        // The leap second is in its day and time advances.
        (
            rmc("235959.00", date: "311216") + rmc("235960.00", date: "311216") + rmc("000000.00", date: "010117"),
            ["2016-12-31T23:59:59.000Z", "2016-12-31T23:59:59.999Z", "2017-01-01T00:00:00.000Z"]
        ),
        // Sentences of one epoch a few milliseconds apart, across midnight.
        (rmc("235959.996", date: "311225") + gga("000000.000"), ["2025-12-31T23:59:59.996Z"]),
        // Fixes are kept until the date is known.
        (
            gga("101529.00") + gga("101530.00") + rmc("101531.00", date: "050126"),
            ["2026-01-05T10:15:29.000Z", "2026-01-05T10:15:30.000Z", "2026-01-05T10:15:31.000Z"]
        ),
        (
            gga("235959.00") + rmc("000000.00", date: "010126"),
            ["2025-12-31T23:59:59.000Z", "2026-01-01T00:00:00.000Z"]
        ),
        (gga("101530.00") + Decoding.dateSentence(), ["2026-01-05T10:15:30.000Z"]),
        (Decoding.dateSentence(at: "101531.00") + gga("101530.00"), ["2026-01-05T10:15:30.000Z"]),
        (
            sentence("PUBX,04,101530.00,050126,37000.00,2400,18D,1,0.0,0") + gga("101530.00"),
            ["2026-01-05T10:15:30.000Z"]
        ),
        // No date ever arrives, so there is no fix.
        (gga("101529.00") + gga("101530.00"), []),
        // The date of a void sentence is uncertain, and so is a date that is hours old.
        (sentence("GPRMC,101529.00,V,,,,,,,060180,,,N") + gga("101530.00"), []),
        (Decoding.dateSentence(at: "031530.00") + gga("101530.00"), []),
        // Bad dates don't void the position.
        (
            rmc("101530.00", date: "050126") + rmc("101531.00", date: "2208-1"),
            ["2026-01-05T10:15:30.000Z", "2026-01-05T10:15:31.000Z"]
        ),
        (
            rmc("101530.00", date: "050126") + rmc("101531.00", date: ""),
            ["2026-01-05T10:15:30.000Z", "2026-01-05T10:15:31.000Z"]
        ),
        (rmc("101530.00", date: "310226") + rmc("101531.00", date: "001326"), []),
        // Recorded logs keep their dates.
        (rmc("101530.00", date: "140180"), ["1980-01-14T10:15:30.000Z"]),
        // A receiver that doesn't know the time yet counts from the beginning of GPS time.
        (rmc("101530.00", date: "060180"), []),
        (
            rmc("101530.00", date: "060180") + rmc("101531.00", date: "050126"),
            ["2026-01-05T10:15:30.000Z", "2026-01-05T10:15:31.000Z"]
        ),
        // The date changes a second late, or a second early.
        (
            rmc("235959.00", date: "311225") + rmc("000000.00", date: "311225") + rmc("000001.00", date: "010126"),
            ["2025-12-31T23:59:59.000Z", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:01.000Z"]
        ),
        (
            rmc("235958.00", date: "311225") + rmc("235959.00", date: "010126") + rmc("000000.00", date: "010126"),
            ["2025-12-31T23:59:58.000Z", "2025-12-31T23:59:59.000Z", "2026-01-01T00:00:00.000Z"]
        ),
        // The same day again, from its beginning: another drive.
        (
            rmc("120000.00", date: "050126") + rmc("000000.00", date: "050126"),
            ["2026-01-05T12:00:00.000Z", "2026-01-05T00:00:00.000Z"]
        ),
        // The date of a sentence without a position is used for fixes that have no other date.
        (voidRMC("101529.00", date: "050126") + gga("101530.00"), ["2026-01-05T10:15:30.000Z"]),
        (voidRMC("235959.00", date: "050126") + gga("000000.00"), ["2026-01-06T00:00:00.000Z"]),
        (voidRMC("101529.00", date: "060180") + gga("101530.00"), []),
        (
            voidRMC("101529.00", date: "010125") + Decoding.dateSentence(at: "101530.00") + gga("101530.00"),
            ["2026-01-05T10:15:30.000Z"]
        ),
        (
            rmc("101528.00", date: "050126") + voidRMC("101529.00", date: "010125") + gga("101530.00"),
            ["2026-01-05T10:15:28.000Z", "2026-01-05T10:15:30.000Z"]
        ),
        (rmc("101530.00", date: "220899"), ["1999-08-22T10:15:30.000Z"]),
        (
            rmc("101530.12", date: "050126") + rmc("101530.987654", date: "050126"),
            ["2026-01-05T10:15:30.120Z", "2026-01-05T10:15:30.987Z"]
        ),
    ]

    @Test(arguments: streams)
    func datesEveryFix(stream: String, times: [String]) {
        #expect(Decoding.fixes(of: stream).map(\.timeOfFix.description) == times)
    }

    /// Dates that a live receiver sends on 2026-01-05, each with the time of the fix and the warning.
    static let repairs: [(String, String?, ReceiverWarning?)] = [
        ("050126", "2026-01-05T10:15:30.000Z", nil), ("050127", "2027-01-05T10:15:30.000Z", nil),
        // 1024 and 2048 weeks ago.
        ("220506", "2026-01-05T10:15:30.000Z", .weekRolloverRepaired),
        ("061086", "2026-01-05T10:15:30.000Z", .weekRolloverRepaired),
        // Default dates that aren't off by roll-overs.
        ("010925", nil, .dateTooEarly), ("010124", nil, .dateTooEarly),
        // A receiver that doesn't know the time yet, not a roll-over.
        ("060180", nil, .dateTooEarly),
    ]

    @Test(arguments: repairs)
    func repairsDatesOfLiveReceivers(date: String, time: String?, warning: ReceiverWarning?) {
        let reference = UTCTime(year: 2026, month: 1, day: 5)
        let outcome = Decoding.outcome(
            of: Array(Self.rmc("101530.00", date: date).utf8),
            options: NMEADecoderOptions(dates: .repaired(reference: { reference }, earliest: reference)))
        #expect(outcome.fixes.first?.timeOfFix.description == time)
        for other in ReceiverWarning.allCases {
            #expect(outcome.statistics.warnings(other).count == (other == warning ? 1 : 0))
        }
    }

    /// A release of 2026 may still run decades later, so each date is moved by the multiple of 1024 weeks that brings
    /// it nearest to the current reference.
    @Test(arguments: [
        ("050126", 2026, "2026-01-05T10:15:30.000Z"), ("100639", 2039, "2039-06-10T10:15:30.000Z"),
        ("251019", 2039, "2039-06-10T10:15:30.000Z"), ("100639", 2059, "2059-01-24T10:15:30.000Z"),
        // A reference that is years ahead doesn't move a correct date.
        ("050126", 2035, "2026-01-05T10:15:30.000Z"),
    ])
    func repairsDatesByTheReference(date: String, year: Int, time: String) {
        let present = UTCTime(year: year, month: 6, day: 1)
        let release = UTCTime(year: 2026, month: 1, day: 1)
        let outcome = Decoding.outcome(
            of: Array(Self.rmc("101530.00", date: date).utf8),
            options: NMEADecoderOptions(dates: .repaired(reference: { present }, earliest: release)))
        #expect(outcome.fixes.map(\.timeOfFix.description) == [time])
    }

    /// A log of 2015 on a live line isn't moved by 1024 weeks, which would give 2034.
    @Test func doesNotMoveDatesFarBeyondTheReference() {
        let present = UTCTime(year: 2026, month: 11, day: 1)
        let outcome = Decoding.outcome(
            of: Array(Self.rmc("101530.00", date: "180315").utf8),
            options: NMEADecoderOptions(dates: .repaired(reference: { present }, earliest: present)))
        #expect(outcome.fixes.isEmpty)
        #expect(outcome.statistics.warnings(.dateTooEarly).count == 1)
    }

    /// Positions without a date on a live line, the host's time, and the times of the resulting fixes.
    struct UndatedStream: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let stream: String
        let hostTime: UTCTime?
        let times: [String]
        var causesWarning = true
        var lacksDate = false
    }

    static let hostTime = UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: 36_930_000)
    private static let beforeMidnight = UTCTime(year: 2026, month: 1, day: 4, millisecondOfDay: 86_399_000)
    private static let afterMidnight = UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: 1000)

    static let undatedStreams: [UndatedStream] = [
        UndatedStream(
            testDescription: "by the host's clock, after waiting for a date",
            stream: ["101520", "101522", "101524", "101526"].map { gga("\($0).00") }.joined(), hostTime: hostTime,
            times: ["20", "22", "24", "26"].map { "2026-01-05T10:15:\($0).000Z" }),
        UndatedStream(
            testDescription: "not before the wait is over", stream: gga("101520.00") + gga("101524.00"),
            hostTime: hostTime,
            times: [],
            causesWarning: false),
        UndatedStream(
            testDescription: "not by a clock that isn't synchronised", stream: gga("101520.00") + gga("101530.00"),
            hostTime: nil, times: [], causesWarning: false, lacksDate: true),
        UndatedStream(
            testDescription: "not if the receiver sends a date during the wait",
            stream: gga("101520.00") + gga("101523.00") + rmc("101524.00", date: "040126") + gga("101540.00"),
            hostTime: hostTime, times: ["20", "23", "24", "40"].map { "2026-01-04T10:15:\($0).000Z" },
            causesWarning: false),
        UndatedStream(
            testDescription: "not while the receiver sends dates that can't be right",
            stream: (20..<40).map { rmc("1015\($0).00", date: "040120") }.joined(), hostTime: hostTime, times: [],
            causesWarning: false
        ),
        UndatedStream(
            testDescription: "by the host's clock until the receiver sends a date",
            stream: gga("101520.00") + gga("101530.00") + rmc("101531.00", date: "040126") + gga("101540.00"),
            hostTime: hostTime,
            times: [
                "2026-01-05T10:15:20.000Z", "2026-01-05T10:15:30.000Z", "2026-01-04T10:15:31.000Z",
                "2026-01-04T10:15:40.000Z",
            ]),
        UndatedStream(
            testDescription: "a receiver ahead of the host at midnight",
            stream: gga("235955.00") + gga("000000.00") + gga("000001.00"), hostTime: beforeMidnight,
            times: ["2026-01-04T23:59:55.000Z", "2026-01-05T00:00:00.000Z", "2026-01-05T00:00:01.000Z"]),
        UndatedStream(
            testDescription: "a receiver behind the host at midnight",
            stream: gga("235950.00") + gga("235959.00") + gga("000000.00"), hostTime: afterMidnight,
            times: ["2026-01-04T23:59:50.000Z", "2026-01-04T23:59:59.000Z", "2026-01-05T00:00:00.000Z"]),
    ]

    @Test(arguments: undatedStreams) func datesFixesOfALiveReceiverWithoutDates(row: UndatedStream) {
        let release = UTCTime(year: 2026, month: 1, day: 1)
        let hostTime = row.hostTime
        var decoder = NMEADecoder(
            options: NMEADecoderOptions(
                dates: .repaired(reference: { release }, earliest: release, hostTime: { hostTime })))
        var fixes: [Fix] = []
        decoder.decode(Array(row.stream.utf8).span, receivedAt: .zero) { fixes.append($0) }
        decoder.handleIdleLine(at: .seconds(1)) { fixes.append($0) }
        #expect(decoder.lacksDate == row.lacksDate)
        decoder.finish { fixes.append($0) }
        #expect(fixes.map(\.timeOfFix.description) == row.times)
        #expect((decoder.statistics.warnings(.datedByHost).count > 0) == row.causesWarning)
    }

    @Test func doesNotDateRecordedLogsByTheHostsClock() {
        var decoder = NMEADecoder()
        let stream = Self.gga("101520.00") + Self.gga("101540.00")
        decoder.decode(Array(stream.utf8).span, receivedAt: .zero) { _ in Issue.record("a fix without a date") }
        decoder.finish { _ in Issue.record("a fix without a date") }
        #expect(decoder.statistics.epochs.undated == 2 && !decoder.lacksDate)
    }

    @Test func limitsTheNumberOfFixesThatWaitForADate() {
        let text = (0..<300).map { tick in
            let second = tick % 60 < 10 ? "0\(tick % 60)" : "\(tick % 60)"
            return Self.gga("10\(10 + tick / 60)\(second)")
        }
        let outcome = Decoding.outcome(
            of: Array((text.joined() + Self.rmc("110000.00", date: "050126", minute: "31.6")).utf8))
        #expect(outcome.fixes.count == 257)
        #expect(outcome.statistics.epochs.undated == 44)
        #expect(outcome.fixes.last?.timeOfFix.description == "2026-01-05T11:00:00.000Z")
    }
}
