import ReportedText
import Conditions
import GNSS
import Reporting
import SQLiteOutbox
import Testing
import TimeAndRandomness
import Operations
import WaypostTestSupport

/// Whether the running service uses the file being checked.
@Suite struct ConfigurationComparisons {
    private static let readTime = UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: 36_000_000)
    private static let checkedPath = "/etc/waypost/config.json"

    struct Case: Sendable {
        var file: String? = checkedPath
        var problem: String?
        /// The time of the change, in seconds after the service read the file.
        var changed: Double? = -60
        var finding: OnlineFinding.OtherConfiguration?
    }

    @Test(arguments: [
        Case(), Case(file: nil), Case(changed: 0.5), Case(changed: nil),
        Case(changed: 5, finding: .fileChanged(checkedPath, loadedAt: "2026-01-05T10:00:00.000Z")),
        Case(file: "/etc/other.json", changed: 5, finding: .otherFile("/etc/other.json", checked: checkedPath)),
        Case(
            problem: "it is wrong", changed: 5,
            finding: .rejectedReload(["it is wrong"], loadedAt: "2026-01-05T10:00:00.000Z")),
    ])
    func findTheDifferenceFromTheCheckedFile(example: Case) {
        let monitor = AgentMonitor(clock: MonotonicClock(ManualClock()))
        monitor.note(loadedAt: Self.readTime)
        if let file = example.file { monitor.note(loadedFrom: file) }
        if let problem = example.problem { monitor.note(rejectedReload: [ConfigurationProblem(problem)]) }
        let report = StatusReport(
            vehicle: "v", snapshot: monitor.snapshot, outbox: StoreSummary(Ledger()), durability: .full, at: .zero)
        let finding = ConfigurationComparison.difference(
            of: Self.checkedPath, from: report, isSameFile: { $0 == Self.checkedPath },
            changedAt: example.changed.map { Self.readTime.secondsSince1970 + $0 })
        #expect(finding == example.finding)
    }
}

/// The report of `check` on a receiver that the service uses, or that `check` itself has opened.
@Suite struct CheckedReceiver {
    @Test(
        arguments: [
            ([.fix(.sample(0))], 2, nil),
            ([.fix(.sample(0)), .rejected(.sample(0), .notAdvancing)], 2, "fix_times_rejected"),
            ([.fix(.sample(0))], 95, "no_position"), ([], 2, ""),
            ([.rejected(.sample(0), .nullIsland)], 2, "fixes_rejected"),
            ([.receiverWarning(.nullIsland)], 2, "zero_position"),
        ] as [([ReportingEvent], Int, String?)])
    func isJudgedAsTheServiceJudgesIt(events: [ReportingEvent], seconds: Int, code: String?) {
        let receiving = ReportingEvent.receiver(.receiving(source: "/dev/gnss"))
        let all = ([receiving] + events).map { (at: 0, event: $0) }
        let report = Why.report(all, until: seconds)
        let line = OnlineCheck.receiverLine(of: report)
        #expect(line.verdict == (code == nil ? .ok : .fail), "\(line)")
        #expect(line.code?.rawValue == (code == "" ? "no_position" : code))
        let title = code.flatMap(ConditionCode.init(rawValue:))?.title ?? ""
        #expect(line.text.contains(title), "\(line.text)")
    }

    /// The check waits for a service that has just started, but not for a receiver that sends nothing.
    @Test(
        arguments: [
            ([.receiver(.receiving(source: "/dev/gnss"))], 2, true),
            ([.receiver(.receiving(source: "/dev/gnss"))], 30, false),
            ([.receiver(.receiving(source: "/dev/gnss")), .fix(.sample(0))], 2, false), ([], 2, false),
        ] as [([ReportingEvent], Int, Bool)])
    func getsTimeForTheFirstFixOfAService(events: [ReportingEvent], seconds: Int, isWaited: Bool) {
        let report = Why.report(events.map { (at: 0, event: $0) }, until: seconds)
        #expect(OnlineCheck.mayGetFirstFix(report) == isWaited)
    }

    /// A warning that explains why there is no fix is more useful than advice about the antenna.
    @Test(arguments: [nil, ReceiverWarning.nullIsland])
    func explainsAMissingFirstFix(warning: ReceiverWarning?) {
        let state = ReceiverState.receiving(source: "/dev/gnss")
        var wait = FirstFixWait()
        #expect(wait.noFixFinding(within: .seconds(30)) == .noAnswer(within: .seconds(30)))
        wait.note(.state(state))
        if let warning { wait.note(.warning(warning)) }
        #expect(wait.noFixFinding(within: .seconds(30)) == .noFix(state, cause: warning, within: .seconds(30)))
    }

    /// An unsynchronised clock doesn't decide whether the fix is late.
    @Test(
        arguments: [(0, true, nil), (-60, true, nil), (8000, true, -8000), (-259_200, false, nil)]
            as [(Int, Bool, Int?)])
    func isNotedIfTheTimeOfItsFirstFixIsWrong(seconds: Int, isSynchronized: Bool, behind: Int?) {
        let present = UTCTime(year: 2026, month: 11, day: 23)
        let fix = Fix(timeOfFix: present.advanced(by: .seconds(seconds)), latitude: 1, longitude: 1)
        let line = OnlineCheck.fixLine(for: fix, present: isSynchronized ? present : nil)
        #expect(line.verdict == (behind == nil ? .ok : .note))
        #expect(line.code == (behind == nil ? nil : .receiverTimeWrong))
        let text = "fix of \(fix.timeOfFix), quality gps"
        let finding = behind.map { OnlineFinding.wrongFixTime(fix: text, behind: .seconds($0), .ownSynchronized) }
        #expect(line.text == finding.map { "\($0.sentence)" } ?? text)
    }
}
