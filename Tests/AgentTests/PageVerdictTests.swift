import FleetEngine
import HTTPMessages
import ReportedText
import Reporting
import SQLiteOutbox
import Testing
import TimeAndChance
@testable import Waypost
import WaypostTestSupport

/// The verdict in a few words, beside that of `why`.
@Suite struct PageVerdicts {
    static let fix = ReportingEvent.fix(.sample(0))
    static let receiving = ReportingEvent.receiver(.receiving(source: "/dev/gnss"))

    static let offline = ReportingEvent.announced(.offline, traffic: Traffic())

    static func failed(_ outcome: DeliveryOutcome) -> ReportingEvent { .failed(outcome, traffic: Traffic()) }

    static let cases: [([ReportingEvent], Int64, PageVerdict.Kind, String)] = [
        ([], 0, .trouble, "The receiver is silent"),
        ([.receiver(.waiting(source: "/dev/gnss", .deviceMissing))], 0, .trouble, "No receiver"),
        ([.receiver(.noPosition(source: "/dev/gnss", hadOne: false))], 0, .trouble, "No position"),
        ([receiving], 0, .trouble, "No position"), ([receiving, fix], 1, .well, "Starting"),
        ([.receiver(.ended(source: "log"))], 0, .trouble, "The log has ended"),
        (
            [receiving, .rejected(.sample(0), .jump(meters: 9_000_000))], 0, .trouble,
            "Positions are rejected"
        ),
        ([receiving, fix, RecentHistories.delivered(1)], 0, .well, "All is well"),
        ([receiving, fix, RecentHistories.delivered(1)], 49, .well, "All is well"),
        ([receiving, fix, RecentHistories.delivered(1)], 50, .catchingUp, "Catching up"),
        ([receiving, fix, RecentHistories.noToken], 3, .trouble, "No token"),
        ([receiving, fix, failed(.unanswered(.sample("no route")))], 900, .trouble, "Fleet Engine cannot be reached"),
        ([receiving, fix, failed(.prepareAgain(.sample("401")))], 3, .trouble, "The token is rejected"),
        ([receiving, fix, RecentHistories.noToken, .privateModeBegan, offline], 0, .well, "Private"),
        (
            [receiving, fix, failed(.intercepted(.sample("a captive portal")))], 3, .trouble,
            "Something else answers for Fleet Engine"
        ),
        ([receiving, fix, failed(.held(.sample("404")))], 3, .trouble, "Fleet Engine takes no updates"),
        (
            [receiving, fix, .notStored(LocationUpdate(.sample(0)), OutboxError(.full, "/o: no space is left"))], 0,
            .trouble,
            "The outbox takes no updates"
        ),
    ]

    @Test(arguments: cases)
    func nameWhatCameFirst(events: [ReportingEvent], pending: Int64, kind: PageVerdict.Kind, title: String) {
        let clock = MonotonicClock(ManualClock())
        let monitor = AgentMonitor(clock: clock)
        for event in events { monitor.observe(event) }
        let status = StatusReport(
            vehicle: "v", snapshot: monitor.snapshot,
            outbox: StoreSummary(Ledger(accepted: pending, pending: pending)), durability: .full, at: clock.now)
        let now = UTCTime(year: 2026, month: 11, day: 21)
        let verdict = PageVerdict(status, at: now)
        #expect(verdict.kind == kind && verdict.title == title, "\(verdict)")
        #expect(verdict.text == status.why(at: now).text)
        #expect(verdict.kind == .well || !verdict.text.contains("All is well"))
        #expect((verdict.kind == .trouble) != status.why(at: now).isWell)
    }
}
