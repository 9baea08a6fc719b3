import GNSS
import Reporting
import SQLiteOutbox
import Testing
import TimeAndChance
import Waypost
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
            words: "it goes by what it read at 2026-01-05T10:00:00.000Z, for the last reload was rejected: it is wrong"),
    ])
    func isTold(row: Case) {
        let monitor = AgentMonitor(clock: MonotonicClock(ManualClock()))
        monitor.note(loadedAt: Self.read)
        if let file = row.file { monitor.note(loadedFrom: file) }
        if let problem = row.problem { monitor.note(rejectedReload: problem) }
        let loaded = StatusReport(
            vehicle: "v", snapshot: monitor.snapshot, outbox: StoreSummary(Ledger()), durability: .full, at: .zero
        ).configuration
        let doubt = ConfigurationInForce.doubt(
            loaded, file: "/etc/waypost/config.json", isSame: { $0 == "/etc/waypost/config.json" },
            changedAt: row.changed.map { Self.read.secondsSince1970 + $0 })
        #expect(doubt == row.words)
    }

    @Test func isNotAskedOfAnOlderRelease() {
        #expect(ConfigurationInForce.doubt(nil, file: "f", isSame: { _ in false }, changedAt: 9e9) == nil)
    }
}

/// What a check says of the receiver that the service holds.
@Suite struct HeldReceiver {
    @Test(
        arguments: [
            (2, nil, nil, "ok"), (2, "notAdvancing", "not_advancing", "ok"),
            (
                90, nil, nil,
                "; the service had its last fix 90 s ago; check the antenna's view of the sky, or switch the receiver off and on "
                    + "where it repeats its last position"
            ),
            (
                90, "its time is not after that of the last fix", "not_advancing",
                "; the service had its last fix 90 s ago, and rejects those that come: its time is not after that of the last "
                    + "fix: the receiver repeats itself; switch it off and on"
            ),
            (
                nil, "its position is exactly 0, 0", "zero_position",
                "; the service has rejected every fix: of the last one its position is exactly 0, 0"
            ),
            (nil, nil, nil, "; the service has had no fix yet; check the antenna's view of the sky"),
        ] as [(Int?, String?, String?, String)])
    func isAsTheServiceSeesIt(seconds: Int?, rejection: String?, kind: String?, words: String) {
        let monitor = AgentMonitor(clock: MonotonicClock(ManualClock()))
        monitor.observe(.receiver(.receiving(source: "/dev/gnss")))
        var report = StatusReport(
            vehicle: "v", snapshot: monitor.snapshot, outbox: StoreSummary(Ledger()), durability: .full,
            at: .seconds(260))
        report.receiver.secondsSinceFix = seconds
        report.receiver.rejection = rejection
        report.receiver.rejectionKind = kind
        let line = OnlineCheck.receiver(of: report)
        #expect(line.verdict == (words == "ok" ? .ok : .fail))
        if words != "ok" { #expect(line.text == report.receiver.state + words) }
    }

    /// The log knows better than to suspect the antenna.
    @Test(arguments: [
        (
            ReceiverWarning.nullIsland,
            "the receiver states the position 0, 0: not used; check what it has its position from"
        ),
        (
            .dateTooEarly,
            "the receiver states dates in the past: its fixes wait for a correct date"
        ),
        (.antennaOpen, "check the antenna's view of the sky"),
    ])
    func namesWhatIsSentInPlaceOfAFix(warning: ReceiverWarning, words: String) {
        let receiving = ReceiverState.receiving(source: "/dev/gnss")
        var wait = FirstFixWait()
        wait.note(.state(receiving))
        wait.note(.warning(warning))
        let remedy = "; a recorded log is read with \"type\": \"file\", or by waypost replay"
        let absence = wait.absence(within: .seconds(30))
        #expect(absence.hasSuffix(words + (warning == .dateTooEarly ? remedy : "")), "\(absence)")
        let monitor = AgentMonitor(clock: MonotonicClock(ManualClock()))
        monitor.observe(.receiver(receiving))
        monitor.observe(.receiverWarning(warning))
        let report = StatusReport(
            vehicle: "v", snapshot: monitor.snapshot, outbox: StoreSummary(Ledger()), durability: .full,
            at: .seconds(260))
        #expect(OnlineCheck.receiver(of: report).text.hasSuffix("; the service has had no fix yet; " + words))
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
