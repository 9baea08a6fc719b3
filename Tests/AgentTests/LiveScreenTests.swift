import FleetEngine
import FleetEngineDelivery
import GNSS
import HTTPMessages
import ReportedText
import Reporting
import SQLiteOutbox
import Testing
import TimeAndRandomness
import VehicleAuthorization
import Operations
import WaypostTestSupport

@testable import LinuxPlatform
@testable import WaypostCommand

@Suite struct LiveScreens {
    static let now = UTCTime(year: 2026, month: 11, day: 21, millisecondOfDay: (9 * 60 + 26) * 60_000)
    static let fix = Fix(timeOfFix: now, latitude: 50, longitude: 10)
    static let stored = StoredUpdate(
        sequence: 1, update: LocationUpdate(timeOfFix: now, latitude: 50, longitude: 10))
    static let delivered = ReportingEvent.delivered(
        UploadBatch(last: stored, lastIsPending: true, past: []), traffic: Traffic(), took: .zero)
    static let noToken = ReportingEvent.notPrepared(
        .noPermit(MissingPermit(AuthorizationError(.refused, "the issuer answered 403"))))
    static let notRunning = Result<StatusReport, AgentError>.failure(
        AgentError(.unavailable, "the service is not running: nothing listens on 127.0.0.1:9464"))

    /// Returns the report of a service that received all `events` at once, and then nothing for a few seconds.
    static func report(
        _ events: [ReportingEvent], after seconds: Int = 2, delivered: Int64 = 1, pending: Int64 = 0
    ) -> StatusReport {
        let clock = ManualClock()
        let uptime = MonotonicClock(clock)
        let monitor = AgentMonitor(clock: uptime, systemTime: { now })
        for event in events { monitor.observe(event) }
        clock.advance(by: .seconds(seconds))
        let ledger = Ledger(accepted: delivered + pending, delivered: delivered, pending: pending)
        return StatusReport(
            vehicle: "providers/p/vehicles/van-7", snapshot: monitor.snapshot, outbox: StoreSummary(ledger),
            durability: .full, at: uptime.now)
    }

    static let healthy = report([.receiver(.receiving(source: "/dev/gnss")), .fix(fix), delivered])

    static func watchedService(after answers: [Result<StatusReport, AgentError>]) -> WatchedService {
        var service = WatchedService()
        for (second, answer) in answers.enumerated() { service.note(answer, at: now.advanced(by: .seconds(second))) }
        return service
    }

    static func screenLines(after answers: [Result<StatusReport, AgentError>], columns: Int, rows: Int) -> [String] {
        LiveScreen(
            watchedService(after: answers), at: now.advanced(by: .seconds(9)), size: .init(columns: columns, rows: rows)
        )
        .text(inColour: false)
    }

    @Test func showTheWholeStateInAnOrdinaryWindow() {
        let lines = Self.screenLines(after: [.success(Self.healthy)], columns: 80, rows: 24)
        #expect(lines.count == 24)
        #expect(lines[0].hasPrefix("Waypost ") && lines[0].hasSuffix(" 09:26:09 UTC") && lines[0].count == 80)
        #expect(lines[1] == "All is well" && lines[2] == "The last delivery was 2 s ago, and nothing is pending.")
        #expect(lines.contains { $0.hasPrefix("  vehicle      providers/p/vehicles/van-7") })
        #expect(lines.contains { $0.hasPrefix("  receiver     /dev/gnss: receiving") })
        #expect(lines.contains("  09:25:58  last delivery"))
        #expect(lines[23] == "q quits")
    }

    @Test func showThatTheVehicleIsPrivate() {
        let hidden = Self.report([.receiver(.receiving(source: "/dev/gnss")), .fix(Self.fix), .privateModeBegan])
        let lines = Self.screenLines(
            after: [.success(Self.healthy), .success(hidden), .success(Self.healthy)], columns: 80, rows: 24)
        #expect(lines.contains { $0.contains("  private mode on: ") })
        #expect(lines.contains { $0.hasSuffix("  no longer: private mode on") })
        #expect(!lines.contains { $0.hasPrefix("  private ") })
        #expect(Self.screenLines(after: [.success(hidden)], columns: 80, rows: 24).contains("  private      for 2 s"))
    }

    /// The screen fills a window of any size and never overflows it. The verdict is the last part to be omitted.
    @Test(arguments: [(80, 24), (40, 24), (132, 50), (40, 12), (20, 5), (80, 2), (80, 1), (1, 1)])
    func fitTheWindow(columns: Int, rows: Int) {
        let trouble = Self.report(
            [
                .receiver(.waiting(source: "/dev/gnss", .deviceMissing)), .fix(Self.fix),
                Self.noToken,
            ], after: 400, pending: 12_345)
        let answers = [Result.success(Self.healthy), .success(trouble), Self.notRunning, .success(trouble)]
        let lines = Self.screenLines(after: answers, columns: columns, rows: rows)
        #expect(lines.count == rows)
        #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
        if rows > 1, columns >= 40 {
            #expect(lines[1].hasPrefix("Receiver unavailable, since "))
        }
    }

    /// Foreign text, here from a server at the status address, can't control the terminal.
    @Test func showForeignTextAsText() {
        var report = Self.healthy
        report.vehicle = "van\u{1B}]0;owned\u{7}\u{202E}\n7"
        report.receiver.state = "\u{1B}[2Jreceiving"
        var service = WatchedService()
        service.note(.success(report), at: Self.now)
        let screen = LiveScreen(service, at: Self.now, size: .init(columns: 80, rows: 24))
        let plain = screen.text(inColour: false).joined()
        #expect(!plain.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{202E}" })
        #expect(plain.contains("van\u{FFFD}]0;owned") && plain.contains("\u{FFFD}[2Jreceiving"))
        let coloured = screen.text(inColour: true).joined()
        #expect(coloured.contains("\u{1B}[32mAll is well") && !coloured.contains("\u{1B}[2J"))
    }

    @Test func showThatTheServiceIsGoneAndKeepTheLastState() {
        let first = Self.screenLines(after: [Self.notRunning, Self.notRunning], columns: 80, rows: 24)
        #expect(first[1].hasPrefix("No answer since 09:26:00 UTC"))
        #expect(first[2].hasPrefix("the service is not running"))
        let later = Self.screenLines(after: [.success(Self.healthy), Self.notRunning], columns: 80, rows: 24)
        #expect(later[1].hasPrefix("No answer since 09:26:01 UTC"))
        #expect(later.contains { $0.contains("providers/p/vehicles/van-7") })
        let back = Self.screenLines(
            after: [.success(Self.healthy), Self.notRunning, .success(Self.healthy)], columns: 80, rows: 24)
        #expect(back[1].hasPrefix("All is well"))
        #expect(back.contains("  09:26:02  the service answers again"))
        #expect(back.contains("  09:26:01  the service does not answer"))
    }

    /// Each satellite is shown with its signal, grouped by system; satellites in use are marked.
    @Test func showTheSky() {
        let gps = (1...9).map { Satellite(.gps, $0, signal: 9 + 5 * $0, isUsed: $0 == 9) }
        let satellites = gps + [Satellite(.glonass, 65)]
        let report = Self.report(
            [.receiver(.receiving(source: "/dev/gnss")), .fix(Self.fix), .sky(Sky(satellites)), Self.delivered])
        let lines = Self.screenLines(after: [.success(report)], columns: 80, rows: 24)
        #expect(lines.contains("  GPS            1▁14   2▂19   3▃24   4▄29   5▅34   6▆39   7▇44   8█49   9█54*"))
        #expect(lines.contains { $0.hasPrefix("  GLONASS       65 -- ") })
        let narrow = Self.screenLines(after: [.success(report)], columns: 40, rows: 40)
        #expect(narrow.contains { $0.hasPrefix("                 4▄29   5▅34   6▆39") }, "\(narrow)")
    }

    /// A change between two reports, and the resulting events.
    struct Change: Sendable {
        let events: [String]
        let edit: @Sendable (inout StatusReport) -> Void

        init(_ events: [String], _ edit: @escaping @Sendable (inout StatusReport) -> Void) {
            (self.events, self.edit) = (events, edit)
        }
    }

    static let changes = [
        Change(["delivered 3 updates"]) { $0.ledger.delivered += 3 },
        Change(["requested a token"]) { $0.counts.tokenFetches += 1 },
        Change(["token request rejected by the issuer: the issuer answered 403"]) {
            $0.conditions = report([noToken]).conditions
        },
        Change(["1 retry"]) { $0.counts.retries += 1 },
        Change(["the service has restarted"]) {
            $0.uptimeSeconds = 1
            $0.delivery.secondsSinceDelivery = nil
        },
        Change([]) { _ in },
    ]

    @Test(arguments: changes) func listTheEventsThatAChangeCauses(change: Change) {
        var next = Self.healthy
        change.edit(&next)
        let service = Self.watchedService(after: [.success(Self.healthy), .success(next)])
        #expect(service.events.map(\.text) == change.events + ["last delivery"])
    }

    @Test func keepABoundedNumberOfEvents() {
        let service = Self.watchedService(
            after: (0..<1000).map { $0 % 2 == 0 ? .success(Self.healthy) : Self.notRunning })
        #expect(service.events.count == 200)
    }
}
