import Conditions
import FleetEngine
import LinuxPlatform
import Reporting
import SQLiteOutbox
import StrictJSON
import Testing
import TimeAndRandomness
@testable import Operations
import WaypostTestSupport

/// The events on the technician's page, next to its verdict.
@Suite struct PageEvents {
    /// A service whose log the page shows.
    struct Service {
        let clock = ManualClock()
        let history: HistoryKeeper
        let monitor: AgentMonitor

        init() {
            let uptime = MonotonicClock(clock)
            let history = HistoryKeeper(clock: uptime)
            self.history = history
            let log = LogWriter(
                level: .info, format: .text, isReadByJournal: false, output: { _ in },
                listener: { history.note($0, $1, $2) })
            monitor = AgentMonitor(clock: uptime, log: log)
        }

        var page: PageReport {
            let (history, uptime) = history.current
            let report = StatusReport(
                vehicle: "v", snapshot: monitor.snapshot, outbox: StoreSummary(Ledger()), durability: .full, at: uptime)
            return PageReport(status: report, history: history, uptime: uptime, now: Why.now)
        }

        /// Observes `event` every 10 s for the given number of seconds.
        func observe(_ event: ReportingEvent, for seconds: Int) {
            for _ in 0..<seconds / 10 {
                monitor.observe(event)
                clock.advance(by: .seconds(10))
            }
        }
    }

    /// Returns the texts of the verdict and of the events.
    private func texts(of page: PageReport) -> [String] {
        let verdict = page.json["verdict"]?["paragraphs"]?.arrayValue?.flatMap { $0.arrayValue ?? [] } ?? []
        return (verdict + (page.json["events"]?.arrayValue ?? [])).compactMap { $0["text"]?.stringValue }
    }

    /// The condition is logged when it begins and after ten minutes, but the page has its cause only in the verdict.
    @Test(arguments: [Why.noToken, Why.unreachable, Why.missing, Why.notStored])
    func leaveOutTheCauseOfAnActiveCondition(event: ReportingEvent) throws {
        let service = Service()
        service.observe(event, for: 700)
        let page = service.page
        let condition = try #require(page.status.conditions.first)
        #expect(texts(of: page).count { $0.contains(condition.cause) } == 1)
        #expect(texts(of: page).count { $0.lowercased().contains(condition.remedy.lowercased()) } == 1)
        let events = page.json["events"]?.arrayValue ?? []
        #expect(events.count == 2 && events.allSatisfy { $0["text"]?.stringValue == condition.title })
        let since = Why.now.advanced(by: .seconds(-condition.seconds))
        #expect(
            page.json["verdict"]?["paragraphs"]?[0]?[0]?["since"]?.integerValue == since.millisecondsSince1970)
    }

    /// If two outages have the same cause, only the newer one shows it.
    @Test func haveTheCauseOfAnEndedConditionOnce() throws {
        let service = Service()
        for _ in 0..<2 {
            service.observe(Why.unreachable, for: 700)
            service.monitor.observe(Why.delivered)
        }
        let page = service.page
        let title = ConditionCode.networkUnavailable.title
        #expect(page.status.conditions.allSatisfy { $0.title != title })
        let events = texts(of: page).filter { $0.hasPrefix(title) }
        #expect(events.count > 2 && events.dropFirst().allSatisfy { $0 == title })
        #expect(try #require(events.first).contains("no connection"))
        #expect(texts(of: page).contains { $0.hasPrefix("delivery works again") })
    }

    /// A condition with two causes is logged in two lines.
    @Test(arguments: [true, false]) func nameACondition(isActive: Bool) {
        let code = ConditionCode.configurationExposed
        var history = RecentHistory()
        for (second, text) in [(1, "old"), (2, "other"), (50, "one"), (50, "two")] {
            history.note(.warning, text, text == "other" ? nil : code, at: .seconds(second))
        }
        let events = Operations.PageEvents(history, whileActive: isActive ? [code.stage] : []).newestFirst
        #expect(events.map(\.text) == (isActive ? [code.title] : ["two", "one"]) + ["other", code.title])
    }
}
