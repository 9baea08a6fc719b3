import FleetEngine
import GNSS
import HTTPMessages
import ReportedText
import Reporting
import SQLiteOutbox
import StrictJSON
import Testing
import TimeAndChance
import VehicleAuthorization
import Waypost
import WaypostTestSupport

@testable import WaypostCommand

@Suite struct Why {
    static let now = UTCTime(year: 2026, month: 11, day: 21, millisecondOfDay: (9 * 60 + 26) * 60_000)
    static let fix = Fix(timeOfFix: now, latitude: 50, longitude: 10)
    static let stored = StoredUpdate(
        sequence: 1, update: LocationUpdate(timeOfFix: now, latitude: 50, longitude: 10))
    static let batch = UploadBatch(last: stored, lastIsPending: true, past: [])
    static let receiving = ReportingEvent.receiver(.receiving(source: "/dev/gnss"))
    static let delivered = ReportingEvent.delivered(batch, traffic: Traffic(), took: .zero)

    /// What happened, at which second, and what is said at the last of them.
    struct Case: CustomTestStringConvertible, Sendable {
        let events: [(at: Int, event: ReportingEvent)]
        let until: Int
        var pending: Int64 = 0
        var quarantined: Int64 = 0
        var stall: StallRecord?
        /// For how long the token in hand serves, from the last event on, while it cannot be renewed.
        var tokenLasts: Duration?
        /// Why the last reload was rejected, a minute ago.
        var rejectedReload: String?
        var outboxWarning: String?
        var isWell = false
        let text: String
        var testDescription: String { text }
    }

    static let cases =
        receiverCases + deliveryCases + outboxCases + severalCases
        + [
            Case(
                events: [(0, receiving), (1, .fix(fix))], until: 4, pending: 1,
                outboxWarning: "/o-wal was removed; never remove a file of the outbox alone", isWell: true,
                text: "Nothing has been sent yet: the service started 4 s ago, and its first update is on its way. "
                    + "1 update is safe in the outbox. /o-wal was removed; never remove a file of the outbox alone."),
            Case(
                events: [(0, receiving), (1, .fix(fix))], until: 4, pending: 1, isWell: true,
                text: "Nothing has been sent yet: the service started 4 s ago, and its first update is on its way. "
                    + "1 update is safe in the outbox."),
            Case(
                events: [(0, receiving), (1, .fix(fix)), (2, delivered)], until: 5, isWell: true,
                text: "All is well: the last delivery was 3 s ago, and nothing is pending."),
            Case(
                events: [(0, receiving), (1, .fix(fix)), (2, delivered)], until: 5, pending: 1, isWell: true,
                text: "All is well: the last delivery was 3 s ago, and 1 update is pending."),
            Case(
                events: [(0, receiving), (1, .fix(fix)), (2, delivered)], until: 5, pending: 12_345, isWell: true,
                text: "Catching up: the last delivery was 3 s ago, and 12,345 updates are pending. The newest position "
                    + "goes first; the earlier ones follow by themselves, and there is nothing to do."),
            Case(
                events: [(0, receiving), (1, .fix(fix)), (2, delivered)], until: 5, quarantined: 1, isWell: true,
                text: "All is well: the last delivery was 3 s ago, and nothing is pending. "
                    + "1 update is quarantined; waypost outbox list says why."),
            Case(
                events: [(0, receiving), (1, .fix(fix)), (2, delivered)], until: 5, stall: stall, isWell: true,
                text:
                    "All is well: the last delivery was 3 s ago, and nothing is pending. The last run ended itself at "
                    + "2026-11-21T09:26:00.000Z (receiver: the receiver's thread is stuck in a system call for 90 s); if "
                    + "that comes again, a device or a disk hangs (journalctl -k)."),
            Case(
                events: [(0, receiving), (1, .fix(fix)), (2, delivered)], until: 5,
                rejectedReload: "config.json: \"upload.timeoutSeconds\" is 500", isWell: true,
                text: "All is well: the last delivery was 63 s ago, and nothing is pending. The reload of 09:25 UTC "
                    + "was rejected and changed nothing: config.json: \"upload.timeoutSeconds\" is 500."),
            Case(
                events: [(0, receiving), (1, .fix(fix)), (2, delivered)], until: 5, tokenLasts: .seconds(1800),
                text:
                    "The token cannot be renewed since 09:25 UTC: the backend answered 503. The one in hand is used "
                    + "for 29 min more; then updates wait in the outbox. No update is pending."),
            Case(
                events: [(0, receiving), (0, delivered), (290, .fix(fix))], until: 300, pending: 12,
                text: "Nothing has been sent since 09:21 UTC, and no stage has reported why; look at the log "
                    + "(journalctl -u waypost). 12 updates are safe in the outbox."),
            // However many fixes come in a second; and however long the first one took.
            Case(
                events: [(600, receiving)]
                    + (600..<620).flatMap { second in (0..<10).map { _ in (second, .fix(fix)) } },
                until: 620, pending: 2, isWell: true,
                text: "Nothing has been sent yet: the service started 10 min ago, and its first update is on its way. "
                    + "2 updates are safe in the outbox."),
            Case(
                events: [(0, receiving), (200, .fix(fix)), (390, .fix(fix))], until: 400, pending: 20,
                text:
                    "Nothing has been sent since the service started at 09:19 UTC, and no stage has reported why; look at "
                    + "the log (journalctl -u waypost). 20 updates are safe in the outbox."),
            Case(
                events: [(0, receiving)] + (0..<200).map { ($0, .fix(fix)) }, until: 200, pending: 20,
                text:
                    "Nothing has been sent since the service started at 09:22 UTC, and no stage has reported why; look at "
                    + "the log (journalctl -u waypost). 20 updates are safe in the outbox."),
            // Seconds that come and go say nothing to anybody.
            Case(
                events: [
                    (0, receiving), (0, .fix(fix)), (0, delivered), (10, failed(.retry(.sample("503"), after: nil))),
                    (10, .waiting(delay: .seconds(60))),
                ], until: 11, pending: 1,
                text:
                    "Nothing has been sent since 09:25 UTC, because Fleet Engine cannot take updates now: 503. 1 update is "
                    + "safe in the outbox."),
        ]

    static let stall = StallRecord(
        Stall(stage: .receiver, duration: .seconds(90)), time: now, uptime: .seconds(900))

    static let receiverCases = [
        Case(
            events: [
                (0, receiving), (1, .fix(fix)), (2, .serverTime(now.advanced(by: .seconds(-365 * 86_400)))),
                (2, delivered),
            ], until: 5,
            text:
                "The receiver's time is 365 days ahead of Fleet Engine's, and positions are sent with it; switch the "
                + "receiver off and on, and if that does not help, replace its firmware or itself. No update is pending."
        ),
        Case(
            events: [
                (0, receiving), (1, .fix(fix)), (2, .serverTime(now.advanced(by: .seconds(-59)))), (2, delivered),
            ], until: 5, isWell: true,
            text: "All is well: the last delivery was 3 s ago, and nothing is pending."),
        Case(
            events: [(0, .receiver(.starting(source: "/dev/gnss", .openedAt(baudRate: 9600))))], until: 3,
            text:
                "There is no position yet. Receiver /dev/gnss: open at 9600 baud, waiting for the first sentence. No update is pending."
        ),
        Case(
            events: [(0, .receiver(.waiting(source: "/dev/gnss", .deviceMissing)))],
            until: 60,
            text:
                "There is no position yet. Receiver /dev/gnss: not there; plug the receiver in, or correct the path (ls -l "
                + "/dev/serial/by-id). No update is pending."
        ),
        Case(
            events: [(0, receiving)], until: 10,
            text:
                "There is no position yet. Receiver /dev/gnss: receiving. A receiver that was off takes a minute or so to "
                + "its first position, under an open sky. No update is pending."),
        Case(
            events: [(0, receiving)], until: 91,
            text:
                "There is no position yet. Receiver /dev/gnss: receiving. No sentence has brought a position; check the "
                + "antenna, its cable and its view of the sky. No update is pending."),
        Case(
            events: [
                (0, receiving), (60, .receiver(.noPosition(source: "/dev/gnss", hadOne: false))),
                (70, .receiverWarning(.antennaOpen)),
            ], until: 71,
            text:
                "There is no position yet. The receiver reports an open antenna line: check the antenna's plug. Receiver "
                + "/dev/gnss: receiving, no position yet: antenna and sky view; under a roof that is usual. If it stays so in the "
                + "open, check the antenna's plug, cable and view of the sky. No update is pending."),
        // Weak and absent satellites have different remedies.
        Case(
            events: [
                (0, receiving), (60, .receiver(.noPosition(source: "/dev/gnss", hadOne: false))),
                (70, .sky(sky([nil, 17, 20]))),
            ], until: 71,
            text:
                "There is no position yet. Receiver /dev/gnss: receiving, no position yet: antenna and sky view. Satellites "
                + "are heard, but weakly, with 20 dB-Hz at best where 40 are good, as under a roof. If it stays so in the open, "
                + "check the antenna's plug, cable and view of the sky. No update is pending."),
        Case(
            events: [
                (0, receiving), (60, .receiver(.noPosition(source: "/dev/gnss", hadOne: false))),
                (70, .sky(sky([nil, nil]))),
            ], until: 71,
            text:
                "There is no position yet. Receiver /dev/gnss: receiving, no position yet: antenna and sky view. No "
                + "satellite is heard: check the antenna's plug and cable; deep in a building it passes. No update "
                + "is pending."),
        Case(
            events: [(0, receiving), (80, .sky(sky([42, 40, 38])))], until: 91,
            text:
                "There is no position yet. Receiver /dev/gnss: receiving. No sentence has brought a position; check the "
                + "antenna, its cable and its view of the sky. No update is pending."),
        Case(
            events: [
                (0, receiving), (0, .fix(fix)), (1, delivered), (2, .idle),
                (60, .receiver(.noPosition(source: "/dev/gnss", hadOne: true))), (119, delivered),
            ], until: 120,
            text:
                "There is no new position since 09:24 UTC. Receiver /dev/gnss: receiving, no position any more: antenna and "
                + "sky view; under a roof that is usual. If it stays so in the open, check the antenna's plug, cable and view of "
                + "the sky. The last known position is repeated each minute. No update is pending."),
        Case(
            events: [(0, receiving), (1, .rejected(fix, .nullIsland)), (2, .rejected(fix, .nullIsland))], until: 3,
            text:
                "There is no position yet. Fixes arrive, but are rejected; of the last one: its position is exactly 0, 0, "
                + "which receivers send when they have none; if it does not pass, check the receiver and its antenna. No "
                + "update is pending."),
        Case(
            events: [
                (0, receiving), (0, .fix(fix)), (0, delivered), (60, delivered), (100, .rejected(fix, .notAdvancing)),
            ],
            until: 100,
            text:
                "There is no new position since 09:24 UTC. Fixes arrive, but are rejected; of the last one: its time is not "
                + "after that of the last fix; compare the receiver's date with this host's clock. No update is pending."
        ),
        // A jump among fixes that are accepted is none that keeps positions from arriving, nor is one of long ago.
        Case(
            events: [(0, receiving), (0, .fix(fix)), (1, .rejected(fix, .jump(meters: 9))), (2, delivered)], until: 4,
            isWell: true, text: "All is well: the last delivery was 2 s ago, and nothing is pending."),
        Case(
            events: [(0, receiving), (1, .rejected(fix, .nullIsland))], until: 60,
            text:
                "There is no position yet. Receiver /dev/gnss: receiving. A receiver that was off takes a minute or so to "
                + "its first position, under an open sky. No update is pending."),
        Case(
            events: [(0, .fix(fix)), (0, delivered), (1, .receiver(.ended(source: "drive.nmea")))], until: 2,
            text:
                "There is no new position since 09:25 UTC. The log has been read to its end; a receiver that is to go on "
                + "needs \"follow\" in its section. The last known position is repeated each minute. No update is pending."
        ),
    ]

    /// What each trouble is called, and who has to do what; one for each kind.
    static let deliveryCases: [Case] = [
        (
            ReportingEvent.notPrepared(
                .noPermit(MissingPermit(.rejected, "the token endpoint answered 403; check authorization.headers"))),
            "there is no token: the token endpoint answered 403; check authorization.headers. waypost token "
                + "asks for one now and shows what comes."
        ),
        (failed(.prepareAgain(.sample("401 W; let X"))), "Fleet Engine rejects the token: 401 W; let X."),
        (
            failed(.retry(.sample("503 W; it passes by itself"), after: nil)),
            "Fleet Engine cannot take updates now: 503 W; it passes by itself."
        ),
        (failed(.throttled(.sample("429 W"), after: nil)), "Fleet Engine limits how often updates come: 429 W."),
        (
            failed(.unanswered(.sample("no connection"))),
            "Fleet Engine cannot be reached: no connection. It is tried again by itself; if it stays so, check the "
                + "vehicle's network and upload.endpoint."
        ),
        (
            failed(.intercepted(.sample("200 with HTML"))),
            "something else answers in Fleet Engine's place: 200 with HTML."
        ),
        (failed(.held(.sample("404 W; let X"))), "Fleet Engine takes no updates of this vehicle: 404 W; let X."),
        (
            failed(.rejected(.sample("400 W."))),
            "Fleet Engine rejects an update: 400 W. Smaller batches are tried until the one is found; waypost outbox list "
                + "shows it then."
        ),
    ].map { event, words in
        Case(
            events: [(0, receiving), (0, .fix(fix)), (0, delivered), (80, event), (790, .fix(fix))],
            until: 800, pending: 1204,
            text: "Nothing has been sent since 09:14 UTC, because \(words) 1,204 updates are safe in the outbox.")
    }

    /// GPS satellites with these signals, in dB-Hz.
    static func sky(_ signals: [Int?]) -> Sky {
        Sky(zip(1..., signals).map { Satellite(.gps, $0, signal: $1) })
    }

    static func failed(_ outcome: DeliveryOutcome) -> ReportingEvent { .failed(outcome, traffic: Traffic()) }

    static let full = OutboxError(.full, "/o: no space is left; free some. New ones are not accepted until then")
    static let unreadable = OutboxError(.unusable, "/o: disk I/O error")

    static let outboxCases = [
        Case(
            events: [(0, receiving), (0, .fix(fix)), (0, .outboxFailed(unreadable))], until: 60, pending: 3,
            text:
                "Nothing has been sent since the service started at 09:25 UTC, because the outbox cannot be read: /o: disk "
                + "I/O error. 3 updates are safe in the outbox."),
        Case(
            events: [(0, .fix(fix)), (0, .outboxFailed(unreadable)), (86_460, .fix(fix)), (86_460, receiving)],
            until: 86_460, pending: 3,
            text:
                "Nothing has been sent since the service started at 2026-11-20 09:25 UTC, because the outbox cannot be read: "
                + "/o: disk I/O error. 3 updates are safe in the outbox."),
        // Positions go out: it is not said that none do, whatever else fails of the outbox.
        Case(
            events: [
                (0, receiving), (0, .fix(fix)), (0, .notStored(LocationUpdate(.sample(0)), full)), (1, delivered),
                (55, .fix(fix)),
                (55, .notStored(LocationUpdate(.sample(0)), full)), (56, delivered), (58, .outboxFailed(unreadable)),
            ], until: 60, pending: 12,
            text:
                "Positions are sent, but none has been stored since 09:25 UTC; the last ones are kept in memory only: /o: no "
                + "space is left; free some. New ones are not accepted until then. 12 updates are safe in the outbox."),
        Case(
            events: [
                (0, receiving), (0, .outboxFailed(unreadable)), (0, .fix(fix)),
                (0, .notStored(LocationUpdate(.sample(0)), full)), (1, delivered),
            ], until: 2,
            text:
                "Positions are sent, but none has been stored since 09:25 UTC; the last ones are kept in memory only: /o: no "
                + "space is left; free some. New ones are not accepted until then."),
    ]

    /// Both are told, first the one that no other can have caused.
    static let severalCases = [
        Case(
            events: [
                (0, receiving), (0, .fix(fix)), (0, delivered), (10, failed(.unanswered(.sample("no connection")))),
                (10, .waiting(delay: .seconds(600))), (300, .fix(fix)),
                (320, .receiver(.waiting(source: "/dev/gnss", .silent(.standardInput, .seconds(5), alsoOpenIn: nil)))),
            ], until: 340, pending: 8,
            text:
                "Nothing has been sent since 09:20 UTC, because Fleet Engine cannot be reached: no connection. It is tried "
                + "again by itself; if it stays so, check the vehicle's network and upload.endpoint. Besides, there is no new "
                + "position since 09:25 UTC. Receiver /dev/gnss: silent for 25 s; check the program that writes it. The "
                + "next attempt is in 5 min. 8 updates are safe in the outbox."),
        Case(
            events: [
                (0, .receiver(.waiting(source: "/dev/gnss", .deviceMissing))),
                (200, .notPrepared(.noPermit(MissingPermit(.rejected, "answered 403")))),
            ], until: 260, pending: 1,
            text:
                "There is no position yet. Receiver /dev/gnss: not there; plug the receiver in, or correct the path (ls -l "
                + "/dev/serial/by-id). Besides, nothing has been sent since the service started at 09:21 UTC, because there is no token: answered 403. waypost token "
                + "asks for one now and shows what comes. 1 update is safe in the outbox."),
        Case(
            events: [
                (0, receiving), (0, .fix(fix)), (0, .notStored(LocationUpdate(.sample(0)), full)),
                (0, failed(.retry(.sample("503"), after: nil))),
                (60, .fix(fix)), (60, .outboxFailed(unreadable)),
            ], until: 60,
            text:
                "The outbox has accepted no position since 09:25 UTC; the last ones are kept in memory only: /o: no space "
                + "is left; free some. New ones are not accepted until then. Besides, nothing has been sent since the service "
                + "started at 09:25 UTC, because Fleet Engine cannot take updates now: 503."),
    ]

    @Test(arguments: cases) func nothingArrivesAndWhatToDo(example: Case) {
        let clock = ManualClock()
        let uptime = MonotonicClock(clock)
        let monitor = AgentMonitor(clock: uptime)
        var passed = 0
        for (second, event) in example.events {
            clock.advance(by: .seconds(second - passed))
            passed = second
            monitor.observe(event)
        }
        clock.advance(by: .seconds(example.until - passed))
        if let left = example.tokenLasts {
            monitor.note(
                .renewal(
                    .fails(AuthorizationError(.unavailable, "the backend answered 503"), remaining: left),
                    AuthorizationContext(vehicleID: "van-7")))
            clock.advance(by: .seconds(60))
        }
        if let problem = example.rejectedReload {
            monitor.note(loadedAt: Self.now)
            monitor.note(rejectedReload: problem)
            clock.advance(by: .seconds(60))
        }
        if let stall = example.stall { monitor.note(lastStall: stall) }
        monitor.note(.olderStore, example.outboxWarning)
        var summary = StoreSummary(Ledger(accepted: example.pending, pending: example.pending))
        summary.quarantined.count = example.quarantined
        let report = StatusReport(
            vehicle: "v", snapshot: monitor.snapshot, outbox: summary, durability: .full, at: uptime.now)
        #expect(report.why(at: Self.now) == Diagnosis(isWell: example.isWell, text: example.text))
        #expect(report.troubles(at: Self.now).isEmpty == example.isWell)
    }

    /// For a program that asks: where the trouble lies, for how long, and the words for it.
    /// The end of one warning leaves the others in force.
    @Test func showsTheMostSeriousWarningOfTheOutbox() {
        let monitor = AgentMonitor(clock: MonotonicClock(ManualClock()))
        for warning in OutboxWarning.allCases.reversed() {
            monitor.note(warning, "\(warning)")
            #expect(monitor.snapshot.outboxWarning == "\(warning)")
        }
        monitor.note(.pinnedLog, nil)
        #expect(monitor.snapshot.outboxWarning == "olderStore")
        monitor.note(.olderStore, nil)
        #expect(monitor.snapshot.outboxWarning == "removedLog")
        for warning in OutboxWarning.allCases { monitor.note(warning, nil) }
        #expect(monitor.snapshot.outboxWarning == nil)
    }

    @Test func namesTheStageOfEachTrouble() throws {
        let clock = ManualClock()
        let monitor = AgentMonitor(clock: MonotonicClock(clock))
        monitor.observe(.receiver(.waiting(source: "/dev/gnss", .deviceMissing)))
        clock.advance(by: .seconds(200))
        monitor.observe(.notPrepared(.noPermit(MissingPermit(.rejected, "answered 403"))))
        clock.advance(by: .seconds(60))
        let report = StatusReport(
            vehicle: "v", snapshot: monitor.snapshot, outbox: StoreSummary(Ledger()), durability: .full,
            at: .seconds(260))
        let troubles = report.troubles(at: Self.now)
        #expect(troubles.map(\.stage) == [.receiver, .token] && troubles.map(\.seconds) == [260, 60])
        let json = try JSONValue(parsing: Array(try WhyReport(report, at: Self.now).json.utf8))
        #expect(json["well"]?.boolValue == false)
        #expect(json["troubles"]?.arrayValue?.compactMap { $0["stage"]?.stringValue } == ["receiver", "token"])
    }

    /// Whole seconds are rounded, and whoever asks twice is told the same.
    @Test(arguments: [
        (-1, [StatusReport.Trouble.Stage.receiver, .token]), (0, [.receiver, .token]), (1, [.receiver, .token]),
        (5, [.receiver, .token]), (6, [.token, .receiver]),
    ])
    func keepsTheOrderOfTroublesThatBeganTogether(earlier: Int, stages: [StatusReport.Trouble.Stage]) {
        let clock = ManualClock()
        let monitor = AgentMonitor(clock: MonotonicClock(clock))
        monitor.observe(.notPrepared(.noPermit(MissingPermit(.rejected, "answered 403"))))
        var report = StatusReport(
            vehicle: "v", snapshot: monitor.snapshot, outbox: StoreSummary(Ledger()), durability: .full,
            at: .seconds(260))
        report.receiver.kind = ReceiverState.Kind.waiting.rawValue
        report.receiver.secondsSinceFix = 200
        report.delivery.troubleSeconds = 200 + earlier
        #expect(report.troubles(at: Self.now).map(\.stage) == stages)
    }
}
