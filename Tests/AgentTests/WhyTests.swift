import Conditions
import FleetEngine
import FleetEngineDelivery
import GNSS
import HTTPMessages
import ReportedText
import Reporting
import SQLiteOutbox
import StrictJSON
import Testing
import TimeAndRandomness
import VehicleAuthorization
@testable import Operations
@testable import Waypost
import WaypostTestSupport

@testable import WaypostCommand

/// The conditions that are shown after certain events, and their description by `why`.
@Suite struct Why {
    static let now = UTCTime(year: 2026, month: 11, day: 21, millisecondOfDay: (9 * 60 + 26) * 60_000)
    static let fix = Fix(timeOfFix: now, latitude: 50, longitude: 10)
    static let stored = StoredUpdate(
        sequence: 1, update: LocationUpdate(timeOfFix: now, latitude: 50, longitude: 10))
    static let batch = UploadBatch(last: stored, lastIsPending: true, past: [])
    static let receiving = ReportingEvent.receiver(.receiving(source: "/dev/gnss"))
    static let missing = ReportingEvent.receiver(.waiting(source: "/dev/gnss", .deviceMissing))
    static let delivered = ReportingEvent.delivered(batch, traffic: Traffic(), took: .zero)
    static let noToken = ReportingEvent.notPrepared(
        .noPermit(MissingPermit(AuthorizationError(.refused, "the issuer answered 403"))))
    static let full = OutboxError(.full)
    static let notStored = ReportingEvent.notStored(LocationUpdate(.sample(0)), full)
    static let unreadable = ReportingEvent.outboxFailed(OutboxError(.unusable))

    /// Returns GPS satellites with these signals in dB-Hz.
    static func sky(_ signals: [Int?]) -> ReportingEvent {
        .sky(Sky(zip(1..., signals).map { Satellite(.gps, $0, signal: $1) }))
    }

    static func failed(_ outcome: DeliveryOutcome) -> ReportingEvent { .failed(outcome, traffic: Traffic()) }

    static let unreachable = failed(
        .unanswered(.unanswered(LostExchange(.connectionFailed, "https://f.example: no connection"))))

    /// Returns a monitor of a running service after `events`, each at its second.
    static func monitor(_ events: [(at: Int, event: ReportingEvent)], until end: Int) -> (AgentMonitor, Duration) {
        let clock = ManualClock()
        let uptime = MonotonicClock(clock)
        let monitor = AgentMonitor(clock: uptime, systemTime: { now })
        var passed = 0
        for (second, event) in events {
            clock.advance(by: .seconds(second - passed))
            passed = second
            monitor.observe(event)
        }
        clock.advance(by: .seconds(end - passed))
        return (monitor, uptime.now)
    }

    static func report(
        _ events: [(at: Int, event: ReportingEvent)], until end: Int, pending: Int64 = 0
    ) -> StatusReport {
        let (monitor, uptime) = monitor(events, until: end)
        return StatusReport(
            vehicle: "v", snapshot: monitor.snapshot, outbox: StoreSummary(Ledger(accepted: pending, pending: pending)),
            durability: .full, at: uptime)
    }

    /// Events with their seconds, and the codes that are shown at the last of them.
    struct Case: CustomTestStringConvertible, Sendable {
        let events: [(at: Int, event: ReportingEvent)]
        let until: Int
        let codes: [ConditionCode]
        var testDescription: String { "\(codes.map(\.rawValue)) after \(events.count) events" }
    }

    static let cases: [Case] = [
        Case(events: [(0, receiving), (1, .fix(fix)), (2, delivered)], until: 5, codes: []),
        // A receiver that was off takes about a minute to get its first fix.
        Case(events: [(0, receiving)], until: 89, codes: []),
        Case(events: [(0, receiving)], until: 90, codes: [.noPosition]),
        Case(events: [(0, receiving), (1, sky([nil, nil]))], until: 90, codes: [.noPosition]),
        Case(events: [(0, receiving), (1, sky([nil, 17, 20]))], until: 90, codes: [.noPosition]),
        Case(events: [(0, receiving), (1, sky([42, 40]))], until: 90, codes: [.noPosition]),
        Case(events: [(0, .fix(fix)), (1, delivered), (60, delivered)], until: 90, codes: [.noPosition]),
        Case(events: [(0, missing)], until: 100, codes: [.receiverUnavailable]),
        Case(events: [(0, missing), (50, receiving)], until: 60, codes: []),
        Case(
            events: [(0, .fix(fix)), (0, delivered), (1, .receiver(.ended(source: "l")))], until: 2, codes: [.logEnded]),
        // An antenna that is reported open although there is a fix, for ten minutes after the last warning.
        Case(
            events: [(0, .fix(fix)), (0, .receiverWarning(.antennaOpen)), (1, delivered)], until: 2,
            codes: [.antennaFault]),
        Case(events: [(0, .rejected(fix, .nullIsland))], until: 29, codes: [.fixesRejected]),
        Case(events: [(0, .rejected(fix, .notAdvancing))], until: 29, codes: [.fixTimesRejected]),
        Case(events: [(0, .rejected(fix, .nullIsland))], until: 30, codes: []),
        Case(events: [(0, .rejected(fix, .jump(meters: 9))), (1, .fix(fix)), (2, delivered)], until: 3, codes: []),
        Case(events: [(0, .fix(fix)), (0, delivered), (1, noToken)], until: 3, codes: [.tokenRequestRejected]),
        // The last cause applies; the condition keeps its start.
        Case(events: [(0, .fix(fix)), (0, unreachable), (9, noToken)], until: 10, codes: [.tokenRequestRejected]),
        Case(events: [(0, .fix(fix)), (0, unreachable), (9, delivered)], until: 10, codes: []),
        Case(
            events: [(0, .fix(fix)), (0, unreachable), (9, .announced(.offline, traffic: Traffic()))], until: 10,
            codes: []),
        // An unusable outbox delays no update, because updates are then sent from memory.
        Case(events: [(0, .fix(fix)), (0, unreadable)], until: 9, codes: [.outboxUnusable]),
        Case(events: [(0, .fix(fix)), (0, unreadable), (1, notStored), (2, unreadable)], until: 9, codes: [.diskFull]),
        Case(events: [(0, .fix(fix)), (0, notStored), (1, delivered)], until: 9, codes: [.diskFull]),
        Case(events: [(0, .fix(fix)), (0, notStored), (1, .accepted(stored)), (1, delivered)], until: 9, codes: []),
        // Of several conditions, the oldest is shown first.
        Case(
            events: [(0, .fix(fix)), (0, delivered), (10, unreachable), (99, missing)], until: 100,
            codes: [.networkUnavailable, .receiverUnavailable]),
        // Deliveries have stopped, and no stage has reported a reason.
        Case(events: [(0, .fix(fix)), (0, delivered), (170, .fix(fix))], until: 179, codes: []),
        Case(events: [(0, .fix(fix)), (0, delivered), (170, .fix(fix))], until: 180, codes: [.nothingDelivered]),
        Case(events: [(60, .fix(fix)), (200, .fix(fix))], until: 239, codes: []),
        Case(events: [(60, .fix(fix)), (200, .fix(fix))], until: 240, codes: [.nothingDelivered]),
        Case(events: [(0, .fix(fix)), (1, .privateModeBegan), (300, .withheld)], until: 301, codes: [.privateMode]),
        Case(
            events: [(0, .fix(fix)), (1, .privateModeBegan), (9, .privateModeEnded), (10, .fix(fix))], until: 11,
            codes: []),
        // A clock, and then a receiver, that disagrees with Fleet Engine's time.
        Case(
            events: [(0, .fix(fix)), (0, .serverTime(now.advanced(by: .seconds(31)))), (0, delivered)], until: 1,
            codes: [.hostClockWrong]),
        Case(
            events: [(0, .fix(fix)), (0, .serverTime(now.advanced(by: .seconds(30)))), (0, delivered)], until: 1,
            codes: []),
        Case(
            events: [
                (0, .serverTime(now)),
                (1, .fix(Fix(timeOfFix: now.advanced(by: .seconds(-3602)), latitude: 1, longitude: 1))),
                (1, delivered),
            ], until: 2, codes: [.receiverTimeWrong]),
    ]

    @Test(arguments: cases) func showsTheImportantConditions(example: Case) {
        let report = Self.report(example.events, until: example.until)
        #expect(report.conditions.map(\.code) == example.codes.map(\.rawValue))
        #expect(report.isWell == example.codes.allSatisfy { $0.severity == .info })
        #expect(report.verdict(at: Self.now).kind == (report.isWell ? .well : .trouble))
    }

    @Test func printsTitleCauseRemedyAndSafetyOnTheirOwnLines() {
        let events = [
            (0, Self.receiving), (0, .fix(Self.fix)), (0, Self.delivered), (80, Self.noToken), (90, .fix(Self.fix)),
        ]
        let report = Self.report(events + [(90, .waiting(delay: .seconds(300)))], until: 140, pending: 1204)
        let remedy = report.conditions[0].remedy.replacing("run waypost token", with: "Run waypost token")
        #expect(
            report.verdict(at: Self.now).text
                == """
                Token request rejected by the issuer, since 09:25 UTC
                the issuer answered 403
                \(remedy).
                1,204 updates are safe in the outbox.

                The next attempt is in 250 s.
                """.replacing("250 s", with: Duration.seconds(250).humanReadable))
        #expect(!report.isHealthy == false, "the state is still healthy after a minute")
    }

    @Test(
        arguments: [
            ([(0, receiving)], Int64(0), "Starting\nThe service started 5 s ago and has no position yet."),
            ([(0, .fix(fix))], 1, "Starting\nThe service started 5 s ago, and its first update is being delivered."),
            (
                [(0, .fix(fix)), (2, delivered)], 49,
                "All is well\nThe last delivery was 3 s ago, and 49 updates are pending."
            ),
            (
                [(0, .fix(fix)), (2, delivered)], 0,
                "All is well\nThe last delivery was 3 s ago, and nothing is pending."
            ),
            (
                [(0, .fix(fix)), (2, delivered)], 50,
                "Catching up\nThe last delivery was 3 s ago, and 50 updates are pending. The newest position goes first; the "
                    + "earlier ones follow by themselves."
            ),
        ] as [([(at: Int, event: ReportingEvent)], Int64, String)])
    func summarisesAHealthyState(events: [(at: Int, event: ReportingEvent)], pending: Int64, text: String) {
        #expect(Self.report(events, until: 5, pending: pending).verdict(at: Self.now).text == text)
    }

    @Test func saysNothingAboutDeliveriesInPrivateMode() {
        let report = Self.report([(0, .fix(Self.fix)), (1, .privateModeBegan), (3, .withheld)], until: 5)
        let titles = report.verdict(at: Self.now).paragraphs.map { $0.first?.text.prefix(12) }
        #expect(titles == ["Private mode"])
    }

    /// Nothing is called safe in an outbox that doesn't work.
    @Test func callsUpdatesSafeOnlyInAnOutboxThatWorks() {
        func safe(_ events: [(at: Int, event: ReportingEvent)]) -> [String?] {
            Self.report(events, until: 5, pending: 3).conditions.map(\.safe)
        }
        #expect(safe([(0, Self.unreachable)]) == ["3 updates are safe in the outbox"])
        #expect(
            safe([(0, Self.unreachable), (0, Self.notStored)]).compactMap(\.self) == [
                "the last positions are kept in memory"
            ])
        let (monitor, now) = Self.monitor([(0, Self.unreachable)], until: 5)
        monitor.raise(Condition(.outboxDamaged, "rebuilt"), on: .code(.outboxDamaged))
        let report = StatusReport(
            vehicle: "v", snapshot: monitor.snapshot, outbox: StoreSummary(Ledger()), durability: .full, at: now)
        #expect(report.conditions.count == 2 && report.conditions.allSatisfy { $0.safe == nil }, "nothing is pending")
    }

    @Test func countsTheSecondsSinceAConditionBegan() throws {
        let report = Self.report([(0, Self.missing), (10, Self.noToken)], until: 78)
        #expect(report.conditions.map(\.seconds) == [78, 68])
        let json = try JSONValue(parsing: Array(try WhyReport(report).json.utf8))
        let other = try JSONValue(parsing: Array(try WhyReport(Self.report([], until: 0), isAsked: false).json.utf8))
        #expect(other["well"]?.boolValue == false)
        #expect(json["well"]?.boolValue == false && json["vehicle"]?.stringValue == "v")
        let first = try #require(json["conditions"]?.arrayValue?.first)
        #expect(first["code"]?.stringValue == "receiver_unavailable" && first["stage"]?.stringValue == "receiver")
        #expect(first["remedy"]?.stringValue?.hasPrefix("plug the receiver in") == true)
    }

    /// Conditions whose source isn't an event.
    @Test func showsTheServicesNotices() {
        let (monitor, _) = Self.monitor([(0, .fix(Self.fix)), (0, Self.delivered)], until: 0)
        func codes() -> [ConditionCode] { monitor.snapshot.conditions.visible(at: .zero).map(\.code) }
        monitor.note(rejectedReload: [
            ConfigurationProblem(in: "c.json", key: "a", "is 5; use 6", excerpt: "\n  5\n  ^")
        ])
        #expect(codes() == [.reloadRejected])
        #expect(monitor.snapshot.conditions.visible(at: .zero)[0].condition.cause == "c.json: \"a\" is 5; use 6")
        monitor.note(rejectedReload: [ConfigurationProblem("one"), ConfigurationProblem("two")])
        let report = StatusReport(
            vehicle: "v", snapshot: monitor.snapshot, outbox: StoreSummary(Ledger()), durability: .full, at: .zero)
        #expect(report.conditions[0].others?.map(\.cause) == ["two"])
        let lines = report.verdict(at: Self.now).paragraphs[0]
        #expect(lines.map(\.part) == [.title, .cause, .cause, .remedy], "they share a remedy")
        #expect(report.headline.hasSuffix("; reload rejected: one; two"))
        monitor.note(loadedAt: Self.now)
        #expect(codes() == [])
        monitor.note(quarantined: 2)
        #expect(codes() == [.updatesQuarantined])
        monitor.note(quarantined: 0)
        let van = AuthorizationContext(vehicleID: "v")
        let error = AuthorizationError(.unavailable, "the backend answered 503")
        monitor.note(.renewal(.failing(error, remaining: .seconds(1800)), van))
        #expect(codes() == [.tokenRenewalFailing])
        monitor.note(.renewal(.lapsed, van))
        #expect(codes() == [])
    }

    /// An outage of minutes is a reason for a supervisor to act; a momentary one isn't.
    @Test(
        arguments: [
            ([(0, .fix(fix)), (0, delivered)], 299, true), ([(0, .fix(fix)), (0, delivered)], 300, false),
            ([(0, unreachable), (299, .fix(fix))], 299, true), ([(0, unreachable), (299, .fix(fix))], 300, false),
            ([(0, notStored), (299, .fix(fix)), (299, delivered)], 300, false),
            ([(0, .receiverWarning(.antennaOpen)), (299, .fix(fix)), (299, delivered)], 300, true),
        ] as [([(at: Int, event: ReportingEvent)], Int, Bool)])
    func reportsAnOutageOfFiveMinutesAsUnhealthy(events: [(at: Int, event: ReportingEvent)], end: Int, isHealthy: Bool)
    {
        #expect(Self.report(events, until: end).isHealthy == isHealthy)
    }
}
