import Conditions
import ReportedText
import Reporting
import Testing
import WaypostTestSupport

@Suite struct OutboxWording {
    struct Case: Sendable, CustomTestStringConvertible {
        let error: OutboxError
        var isForTool = false
        let sentence: String

        var testDescription: String { "\(error.code)\(isForTool ? " for a tool" : "")" }
    }

    private static let full: OutboxError.Cause = .sqlite(code: 13, message: "database or disk is full")
    private static let holder = OutboxError.Holder(name: "waypost run (process 12)", stopCommand: "kill 12")
    private static let denied: OutboxError.Cause = .system(number: 13, message: "open /o: Permission denied")

    static let cases: [Case] = [
        Case(
            error: OutboxError(.full, path: "/o", full),
            sentence: "/o: no space is left (database or disk is full (SQLite 13)); free up space on this file system"),
        Case(
            error: OutboxError(.noInodes, path: "/o", full),
            sentence: "/o: no inodes are left (database or disk is full (SQLite 13)); remove files from this file "
                + "system (df -i)"),
        Case(
            error: OutboxError(.locked, path: "/o", .held(by: holder)),
            sentence: "/o: in use by waypost run (process 12); stop it first (kill 12), or use another outbox path"),
        Case(
            error: OutboxError(.locked, path: "/o", .held(by: nil)),
            sentence: "/o: in use by another process; stop it first, or use another outbox path"),
        Case(
            error: OutboxError(.busy, path: "/o", .logInUse),
            sentence: "/o: another program has locked the outbox (another program is reading its write-ahead log); "
                + "wait for that program to finish, or stop it (find it with fuser -v /o)"),
        Case(
            error: OutboxError(.busy, path: "/o"), isForTool: true,
            sentence: "/o: another program has locked the outbox; try again, or stop that program (find it with fuser "
                + "-v /o)"),
        Case(
            error: OutboxError(.damaged, path: "/o", .rowUnreadable(6)),
            sentence: "/o: damaged, and not repaired (update 6 fails its checksum); check the disk, or use an outbox "
                + "path on another disk"),
        Case(
            error: OutboxError(.damaged, path: "/o", .rowUnreadable(6)), isForTool: true,
            sentence: "/o: damaged (update 6 fails its checksum); restart the service to repair it"),
        Case(
            error: OutboxError(.damagedAgain, path: "/o", .notSQLite),
            sentence: "/o: damaged again after a repair (it is not an SQLite database); check the disk, or use an "
                + "outbox path on another disk; the repair is retried in ten minutes, or at a restart"),
        Case(
            error: OutboxError(.readOnly, path: "/o", denied),
            sentence: "/o: the file system is read-only (open /o: Permission denied); run waypost check, which takes "
                + "the unit's sandbox into account; if the kernel remounted the file system read-only after errors "
                + "(journalctl -k), check the disk and remount the file system writable"),
        Case(error: OutboxError(.closed), sentence: "the outbox has been closed and no longer accepts updates"),
        Case(
            error: OutboxError(.newerSchema, path: "/o", .schema(found: 2, known: 1)),
            sentence: "/o: written by a newer release (its schema version is 2, but this release supports versions up "
                + "to 1); install the newer release again, or use another outbox path"),
        Case(
            error: OutboxError(.refused, path: "/o", .refusal(PathRefusal(of: "/o", because: .hardLinks(count: 2)))),
            sentence:
                "the outbox isn't used because /o has 2 names (hard links); remove all but one, or choose another path"),
        Case(
            error: OutboxError(.refused, path: "/o", .directory),
            sentence: "the outbox isn't used because /o is a directory, not a file; specify a file in that directory"),
        Case(
            error: OutboxError(.refused, path: "/o", .unrelated("text")),
            sentence: "the outbox isn't used because /o isn't a Waypost outbox but text, and is left unchanged; set "
                + "another outbox path"),
        Case(
            error: OutboxError(.forbidden, path: "/o", denied),
            sentence: "/o: the outbox can't be read or written (open /o: Permission denied); check that its path is a "
                + "file in a directory that this user can write to, on a working disk"),
        Case(
            error: OutboxError(.forbidden, path: "/o", denied), isForTool: true,
            sentence: "/o: this user can't read or write the outbox (open /o: Permission denied); use sudo"),
        Case(
            error: OutboxError(.missing, path: "/o"),
            sentence: "/o: there is no outbox yet; create it with waypost run, or with waypost replay --outbox /o"),
        Case(
            error: OutboxError(.otherVehicle, path: "/o", .otherVehicle("van-7", pending: 2, configured: "van-8")),
            sentence: "/o: 2 updates of van-7 are pending and would be sent for van-8; to send them, configure "
                + "van-7 until nothing is pending; otherwise, set outbox.path to another file"),
        Case(
            error: OutboxError(.silent),
            sentence: "the outbox does not answer; check its disk (dmesg); it may be failing"),
        Case(
            error: OutboxError(.silent, .opening),
            sentence: "the outbox is not open yet; check its disk (dmesg); it may be failing"),
    ]

    @Test(arguments: cases) func namesFileCauseAndRemedy(of example: Case) {
        #expect(example.error.wording(isForTool: example.isForTool).sentence.description == example.sentence)
    }

    /// A condition names its cause and its remedy once each.
    @Test(arguments: OutboxError.Code.allCases) func hasOneRemedy(code: OutboxError.Code) {
        let condition = Condition(OutboxError(code, path: "/o"), isStoring: true)
        let wording = OutboxError(code, path: "/o").wording()
        #expect(condition.cause == "\(wording.cause); sending from memory only")
        #expect(condition.remedy == (wording.remedy.isEmpty ? ReportedText(condition.code.remedy) : wording.remedy))
        #expect(condition.code.stage == .outbox)
        #expect(condition.facts == .outbox(code))
    }

    private static let warnings: [OutboxWarning] = [
        .olderStore(path: "/o", accepted: 1, previously: 3), .removedLog(path: "/o-wal", isRescued: false),
        .longLog(path: "/o-wal", bytes: 17_000_000),
        .noReserve(PathRefusal(of: "/o.reserve", because: .directory)),
    ]

    @Test func saysIfARecordIsUnchanged() {
        let refusal = PathRefusal(of: "/o.vehicle", because: .directory)
        #expect(
            Condition(unchanged: .vehicle, because: OutboxError(.closed), refusal).explanation.description
                == "could not record the vehicle of the pending updates: /o.vehicle is a directory, not a file; "
                + "move it away"
        )
        for (record, name) in [(.pendingState, "the pending vehicle state"), (.stall, "the reason for the stall")]
            as [(Condition.OutboxRecord, String)]
        {
            let condition = Condition(unchanged: record, because: OutboxError(.closed), nil)
            #expect(
                condition.code == .outboxFileUnwritable
                    && condition.cause.description
                        == "could not record \(name): \(OutboxError(.closed))"
            )
        }
    }

    /// The end of a warning is reported by its code, so another warning with the same code would end at the same time.
    @Test func hasACodeForEachWarning() {
        let conditions = Self.warnings.map { Condition($0) }
        #expect(Set(conditions.map(\.code)).count == Self.warnings.count)
        #expect(conditions.map(\.code) == Self.warnings.map { ConditionCode($0) })
        #expect(
            conditions.map(\.explanation.description) == [
                "the log of /o was removed, or an old copy of /o was restored; the outbox has 1 accepted update, but had 3; "
                    + "the rest are lost or uncounted, and some delivered updates will be sent again; restore or remove "
                    + "all files of the outbox together",
                "/o-wal was removed or replaced while the outbox was in use: a crash now loses the updates that are "
                    + "not in the database yet; find out what removed it, and never remove only some of the outbox's files",
                "/o-wal has grown to 17 MB: another program has been reading the outbox for a long time; stop that "
                    + "program (find it with fuser -v /o-wal)",
                "no reserve for a full disk: /o.reserve is a directory, not a file; updates are still stored; move it away",
            ])
    }

    /// Nothing is lost if the older store has all updates.
    @Test func saysIfAnOlderStoreIsComplete() {
        let condition = Condition(OutboxWarning.olderStore(path: "/o", accepted: 10, previously: 10))
        #expect(
            condition.explanation.description
                == "the log of /o was removed, or an old copy of /o was restored; the outbox has all of its 10 accepted "
                + "updates, but some delivered updates will be sent again; restore or remove all files of the outbox "
                + "together")
    }

    @Test func countsTheUpdatesOfARepair() {
        let nothing = OutboxRecovery(
            path: "/o", cause: .notSQLite, renamedTo: "/o.damaged-1", salvaged: 0, lost: 0...0, foundLedger: false)
        #expect(
            Condition(nothing, at: .zero).line.description
                == "outbox damaged: /o was rebuilt (it is not an SQLite database); the damaged file is now /o.damaged-1; "
                + "0 pending updates salvaged, an unknown number lost; find out what removed or replaced the file, and "
                + "leave the outbox's files to Waypost")
        let some = OutboxRecovery(
            path: "/o", cause: .ledgerMismatch, renamedTo: nil, salvaged: 7, lost: 1...2, foundLedger: true,
            repeated: 3)
        #expect(
            Condition(some, at: .zero).line.description
                == "outbox damaged: /o was rebuilt (its ledger does not match its rows); nothing was left of it; 7 "
                + "pending updates salvaged, 1 to 2 lost; up to 3 of the salvaged updates may have been delivered before "
                + "and are sent again; check the disk (dmesg) if this happens again")
    }
}
