import Conditions
import GNSS
import Reporting
import SQLiteOutbox
import Testing
import TimeAndChance
import Operations
import WaypostTestSupport

/// What a check says where the running service goes by something else than the file that is checked.
@Suite struct ConfigurationInForces {
    private static let read = UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: 36_000_000)

    struct Case: CustomTestStringConvertible {
        var file: String? = "/etc/waypost/config.json"
        var problem: String?
        /// When the file was changed, in seconds after it was read.
        var changed: Double? = -60
        var words: String?
        var testDescription: String { words ?? "nothing" }
    }

    @Test(arguments: [
        Case(), Case(file: nil), Case(changed: 0.5), Case(changed: nil),
        Case(
            changed: 5,
            words:
                "it goes by what it read at 2026-01-05T10:00:00.000Z, and /etc/waypost/config.json has been changed since; "
                + "type systemctl reload waypost (for new credentials or environment values, systemctl restart waypost)"
        ),
        Case(
            file: "/etc/other.json", changed: 5,
            words:
                "it goes by another file, /etc/other.json, and not by /etc/waypost/config.json: check that one (--config "
                + "/etc/other.json), or name this one in its unit (systemctl edit waypost)"),
        Case(
            problem: "it is wrong", changed: 5,
            words:
                "it goes by what it read at 2026-01-05T10:00:00.000Z; reload rejected: the configuration in force stays: it "
                + "is wrong; correct the configuration and reload again"),
    ])
    func isTold(row: Case) {
        let monitor = AgentMonitor(clock: MonotonicClock(ManualClock()))
        monitor.note(loadedAt: Self.read)
        if let file = row.file { monitor.note(loadedFrom: file) }
        if let problem = row.problem { monitor.note(rejectedReload: [problem]) }
        let report = StatusReport(
            vehicle: "v", snapshot: monitor.snapshot, outbox: StoreSummary(Ledger()), durability: .full, at: .zero)
        let doubt = ConfigurationInForce.doubt(
            report, file: "/etc/waypost/config.json", isSame: { $0 == "/etc/waypost/config.json" },
            changedAt: row.changed.map { Self.read.secondsSince1970 + $0 })
        #expect(doubt == row.words)
    }
}

/// What a check says of the receiver that the service holds.
@Suite struct HeldReceiver {
    @Test(
        arguments: [
            ([.fix(.sample(0))], 2, nil),
            ([.fix(.sample(0)), .rejected(.sample(0), .notAdvancing)], 2, "fix_times_rejected"),
            ([.fix(.sample(0))], 95, "no_position"), ([], 2, ""),
            ([.rejected(.sample(0), .nullIsland)], 2, "fixes_rejected"),
            ([.receiverWarning(.nullIsland)], 2, "zero_position"),
        ] as [([ReportingEvent], Int, String?)])
    func isAsTheServiceSeesIt(events: [ReportingEvent], seconds: Int, code: String?) {
        let receiving = ReportingEvent.receiver(.receiving(source: "/dev/gnss"))
        let all = ([receiving] + events).map { (at: 0, event: $0) }
        let report = Why.report(all, until: seconds)
        let line = OnlineCheck.receiver(of: report)
        #expect(line.verdict == (code == nil ? .ok : .fail), "\(line)")
        let title = code.flatMap(ConditionCode.init(rawValue:))?.title ?? ""
        #expect(line.text.contains(title), "\(line.text)")
    }

    /// The log knows better than to suspect the antenna.
    @Test(arguments: [
        (ReceiverWarning.nullIsland, ""),
        (.dateTooEarly, "; a recorded log is read with \"type\": \"file\", or by waypost replay"),
    ])
    func namesWhatIsSentInPlaceOfAFix(warning: ReceiverWarning, end: String) {
        var wait = FirstFixWait()
        wait.note(.state(.receiving(source: "/dev/gnss")))
        wait.note(.warning(warning))
        let absence = wait.absence(within: .seconds(30))
        #expect(absence.hasSuffix("\(Condition(warning).line)\(end)"), "\(absence)")
    }

    /// A clock that nothing keeps right judges nothing.
    @Test(
        arguments: [
            (0, true, nil), (-60, true, nil), (8000, true, "; its time is 2 h ahead of this machine's, which is sync"),
            (7240, true, ", which is synchronized: it may state local time; set it to UTC"),
            (-259_200, true, "; its time is 3 days behind this machine's, which is sync"), (-259_200, false, nil),
        ] as [(Int, Bool, String?)])
    func comparesTheFirstFix(seconds: Int, isSynchronized: Bool, words: String?) {
        let present = UTCTime(year: 2026, month: 11, day: 23)
        let fix = Fix(timeOfFix: present.advanced(by: .seconds(seconds)), latitude: 1, longitude: 1)
        let line = OnlineCheck.verdict(on: fix, present: isSynchronized ? present : nil)
        #expect(line.verdict == (words == nil ? .ok : .note) && line.text.hasPrefix("fix of 2026-11-2"))
        #expect(line.text.contains(words ?? "fix of"), "\(line.text)")
    }

    /// Who else may be wrong is not told to replace the receiver.
    @Test(
        arguments: [
            (OnlineCheck.Witness.fleetEngine, "Fleet Engine's: switch the receiver off and on"),
            (.ownUnkept, "this machine's, which nothing keeps right: one of the two is wrong; set"),
        ])
    func namesTheClockThatJudgesTheFirstFix(witness: OnlineCheck.Witness, words: String) {
        let present = UTCTime(year: 2026, month: 11, day: 23)
        let fix = Fix(timeOfFix: present.advanced(by: .seconds(-8000)), latitude: 1, longitude: 1)
        let line = OnlineCheck.verdict(on: fix, present: present, by: witness)
        #expect(line.text.contains("; its time is 2 h behind \(words)"), "\(line.text)")
    }
}
