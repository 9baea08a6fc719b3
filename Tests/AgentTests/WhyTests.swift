import FleetEngine
import GNSS
import HTTPMessages
import LocationReporting
import ReportedText
import SQLiteOutbox
import Testing
import TimeAndChance
import VehicleAuthorization
import Waypost
import WaypostTestSupport

@Suite struct Why {
    static let now = UTCTime(year: 2026, month: 11, day: 21, millisecondOfDay: (9 * 60 + 26) * 60_000)
    static let fix = Fix(timeOfFix: now, latitude: 50, longitude: 10)
    static let stored = StoredUpdate(
        sequence: 1, update: LocationUpdate(timeOfFix: now, latitude: 50, longitude: 10))
    static let batch = UploadBatch(last: stored, lastIsPending: true, past: [])
    static let receiving = ReportingEvent.receiver(.receiving(source: "/dev/gnss"))
    static let delivered = ReportingEvent.delivered(batch, traffic: HTTPTraffic(), took: .zero)

    /// What happened, at which second, and what is said at the last of them.
    struct Case: CustomTestStringConvertible, Sendable {
        let events: [(at: Int, event: ReportingEvent)]
        let until: Int
        var pending: Int64 = 0
        let sentence: String
        var testDescription: String { sentence }
    }

    static let cases = [
        Case(
            events: [
                (0, receiving), (0, .fix(fix)), (0, delivered),
                (80, .noToken(AuthorizationError(.refused, "the token endpoint answers 403"))), (790, .fix(fix)),
            ], until: 800, pending: 1204,
            sentence: "Nothing has been sent since 09:14 UTC: no token: the token endpoint answers 403; "
                + "1,204 updates are safe."),
        Case(
            events: [
                (0, receiving), (0, .fix(fix)),
                (10, .failed(.retry(reason: "503 UNAVAILABLE", after: nil), traffic: HTTPTraffic())),
                (10, .waiting(delay: .seconds(40), reason: "503")),
            ], until: 20, pending: 1,
            sentence: "Nothing has been sent since 09:25 UTC: 503 UNAVAILABLE, the next attempt is in 30 s; "
                + "1 update is safe."),
        Case(
            events: [(0, .fix(fix)), (0, .outboxFailed(OutboxError(.unusable, "outbox.sqlite: disk I/O error")))],
            until: 86_400 + 60, pending: 3,
            sentence: "Nothing has been sent since 2026-11-20 09:25 UTC: outbox.sqlite: disk I/O error; "
                + "3 updates are safe."),
        Case(
            events: [(0, .receiver(.waiting(source: "/dev/gnss", reason: "not there; plug the receiver in")))],
            until: 60,
            sentence: "There is no new position since the start: /dev/gnss: not there; plug the receiver in; "
                + "no update is pending."),
        Case(
            events: [
                (0, receiving), (0, .fix(fix)), (1, delivered), (2, .idle),
                (60, .receiver(.noPosition(source: "/dev/gnss", hadOne: true))), (119, delivered),
            ], until: 120,
            sentence:
                "There is no new position since 09:24 UTC: /dev/gnss: receiving, no position any more: antenna and "
                + "sky view; the last known one is repeated each minute, and no update is pending."),
        Case(
            events: [(0, .receiver(.starting(source: "/dev/gnss", detail: "open at 9600 baud")))], until: 3,
            sentence: "There is no position yet: /dev/gnss: open at 9600 baud; no update is pending."),
        Case(
            events: [(0, receiving), (1, .refused(fix, .nullIsland)), (2, .refused(fix, .nullIsland))], until: 100,
            sentence:
                "There is no new position since the start: fixes arrive but are rejected (2 times zero_position); "
                + "no update is pending."),
        Case(
            events: [(0, receiving), (1, .fix(fix))], until: 4, pending: 1,
            sentence: "Nothing has been sent yet: the service started 4 s ago, and its first update is on its way; "
                + "1 update is safe."),
        Case(
            events: [(0, receiving), (0, delivered), (290, .fix(fix))], until: 300, pending: 12,
            sentence: "Nothing has been sent since 09:21 UTC, and no stage has reported why; "
                + "12 updates are safe; look at the log."),
        Case(
            events: [(0, receiving), (1, .fix(fix)), (2, delivered)], until: 5,
            sentence: "All is well: the last delivery was 3 s ago, nothing is pending."),
        Case(
            events: [(0, receiving), (1, .fix(fix)), (2, delivered)], until: 5, pending: 12_345,
            sentence: "All is well: the last delivery was 3 s ago, 12,345 updates are pending."),
    ]

    @Test(arguments: cases) func nothingIsSentOrThatAllIsWell(example: Case) {
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
        let report = StatusReport(
            vehicle: "v", snapshot: monitor.snapshot,
            outbox: StoreSummary(Ledger(accepted: example.pending, pending: example.pending)), durability: .full,
            at: uptime.now)
        #expect(report.why(at: Self.now) == example.sentence)
    }
}
