package import ReportedText
package import Reporting

/// Messages about the outbox's failures, warnings and repairs, which are described only in this file.
extension OutboxError: CustomStringConvertible {
    /// The file, the failure and the remedy, in one line.
    package var description: String { wording().sentence.description }

    /// Returns the failure, which begins with the file's path, and the remedy. A tool's remedies differ from the
    /// service's, because a tool repairs nothing, keeps nothing in memory, and is run by a person.
    package func wording(isForTool: Bool = false) -> Wording {
        let wording = (isForTool ? wordingForTool : nil) ?? wordingForService
        // The reason for a refusal already contains the path.
        return path.isEmpty || code == .refused ? wording : Wording("\(path): \(wording.cause)", wording.remedy)
    }

    private var wordingForService: Wording {
        switch code {
        case .full: Wording("no space is left\(because)", "free up space on this file system")
        case .noInodes: Wording("no inodes are left\(because)", "remove files from this file system (df -i)")
        case .newerSchema:
            Wording(
                "written by a newer release\(because)", "install the newer release again, or use another outbox path")
        case .locked:
            Wording("in use by \(holderName)", "stop it first\(stopCommand), or use another outbox path")
        case .busy:
            Wording(
                "another program has locked the outbox\(because)",
                "wait for that program to finish, or stop it (find it with fuser -v \(path))")
        case .damaged:
            Wording("damaged, and not repaired\(because)", "check the disk, or use an outbox path on another disk")
        case .damagedAgain:
            Wording(
                "damaged again after a repair\(because)",
                """
                check the disk, or use an outbox path on another disk; the repair is retried in ten minutes, or at a \
                restart
                """)
        case .readOnly:
            Wording(
                "the file system is read-only\(because)",
                """
                run waypost check, which takes the unit's sandbox into account; if the kernel remounted the file system \
                read-only after errors (journalctl -k), check the disk and remount the file system writable
                """)
        case .refused: wordingOfRefusal
        case .forbidden, .unusable:
            Wording(
                "the outbox can't be read or written\(because)",
                "check that its path is a file in a directory that this user can write to, on a working disk")
        case .missing:
            Wording("there is no outbox yet", "create it with waypost run, or with waypost replay --outbox \(path)")
        case .otherVehicle: wordingForOtherVehicle
        case .silent:
            Wording(
                cause == .opening ? "the outbox is not open yet" : "the outbox does not answer",
                "check its disk (dmesg); it may be failing")
        case .closed: Wording("the outbox has been closed and no longer accepts updates", "")
        }
    }

    /// The wording for a tool; `nil` if it is the same as the service's.
    private var wordingForTool: Wording? {
        switch code {
        case .busy:
            Wording(
                "another program has locked the outbox\(because)",
                "try again, or stop that program (find it with fuser -v \(path))")
        case .damaged: Wording("damaged\(because)", "restart the service to repair it")
        case .forbidden: Wording("this user can't read or write the outbox\(because)", "use sudo")
        default: nil
        }
    }

    /// The reason why Waypost leaves the file alone, and the remedy; `nil` if the failure isn't a refusal.
    package var refusal: Wording? {
        switch cause {
        case .refusal(let refusal): refusal.wording
        case .unrelated(let kind):
            Wording("\(path) isn't a Waypost outbox but \(kind), and is left unchanged", "set another outbox path")
        case .directory: Wording("\(path) is a directory, not a file", "specify a file in that directory")
        default: nil
        }
    }

    private var wordingOfRefusal: Wording {
        guard let refusal else { return Wording("the outbox isn't used", "") }
        return Wording("the outbox isn't used because \(refusal.cause)", refusal.remedy)
    }

    private var wordingForOtherVehicle: Wording {
        guard case .otherVehicle(let other, let pending, let configured) = cause else {
            return Wording("it belongs to another vehicle", "")
        }
        return Wording(
            """
            \(text: pending.counted("update")) of \(other) \(pending == 1 ? "is" : "are") pending and would be sent \
            for \(configured)
            """,
            "to send them, configure \(other) until nothing is pending; otherwise, set outbox.path to another file")
    }

    /// The cause in brackets; empty if there is none.
    private var because: ReportedText { cause.map { " (\($0.text))" } ?? "" }

    /// The owner of the outbox, for use in a sentence.
    package var holderName: ReportedText { holder?.name ?? "another process" }

    private var stopCommand: ReportedText { holder.map { " (\($0.stopCommand))" } ?? "" }
}

extension OutboxError.Cause {
    /// The cause as a clause, such as `it is empty`.
    fileprivate var text: ReportedText {
        switch self {
        case .sqlite(let code, let message): "\(message) (SQLite \(code))"
        case .system(_, let message): message
        case .refusal(let refusal): refusal.wording.cause
        case .unrelated(let kind): "it is \(kind)"
        case .directory: "it is a directory"
        case .held: "it is in use"
        case .otherVehicle(let other, _, _): "it belongs to \(other)"
        case .opening: "it is not open yet"
        case .noMemory: "SQLite is out of memory"
        case .journalMode(let mode): "its journal mode stays \(mode)"
        case .logInUse: "another program is reading its write-ahead log"
        case .removedInUse: "it was removed or replaced while it was in use"
        case .replacedRepeatedly: "it keeps being replaced"
        case .notFile(let kind): "it is \(kind), not a file"
        case .databaseMissing: "the database is missing"
        case .empty: "it is empty"
        case .notSQLite: "it is not an SQLite database"
        case .notOutbox: "it is not an outbox"
        case .schema(let found, let known):
            "its schema version is \(found), but this release supports versions up to \(known)"
        case .foreignObject(let type, let name):
            "its schema contains a \(type) \"\(name)\" that doesn't belong to Waypost"
        case .structure(let finding): finding
        case .ledgerUnreadable: "its ledger cannot be read"
        case .ledgerImpossible: "its ledger contains impossible numbers"
        case .ledgerMismatch: "its ledger does not match its rows"
        case .rowUnreadable(let sequence): "update \(sequence) fails its checksum"
        case .rowMisplaced(let sequence): "update \(sequence) is out of place"
        case .earlierCopy(let accepted, let known):
            "it is an old copy: it ends at update \(accepted), but update \(known) has already been accepted"
        case .inconsistentReads: "each read returns different data"
        case .logEndsBeforeUpdate(let sequence): "its write-ahead log ends before update \(sequence)"
        case .logEndsBeforeRevision(let revision): "its write-ahead log ends before change \(revision)"
        }
    }
}

extension OutboxWarning {
    /// The warning and its remedy. The remedy is empty if the catalog's remedy for the code applies.
    var wording: Wording {
        switch self {
        case .olderStore(let path, let accepted, let previously):
            let known = accepted.counted("accepted update")
            let loss: ReportedText =
                accepted < previously
                ? """
                the outbox has \(text: known), but had \(previously); the rest are lost or uncounted, and some \
                delivered updates will be sent again
                """ : "the outbox has all of its \(text: known), but some delivered updates will be sent again"
            return Wording(
                "the log of \(path) was removed, or an old copy of \(path) was restored; \(loss)", "")
        case .removedLog(let path, let isRescued):
            let effect: ReportedText =
                isRescued ? "nothing was lost" : "a crash now loses the updates that are not in the database yet"
            return Wording("\(path) was removed or replaced while the outbox was in use: \(effect)", "")
        case .longLog(let path, let bytes):
            return Wording(
                """
                \(path) has grown to \(bytes / 1_000_000) MB: another program has been reading the outbox for a long \
                time
                """,
                "stop that program (find it with fuser -v \(path))")
        case .noReserve(let refusal):
            return Wording(
                "no reserve for a full disk: \(refusal.wording.cause); updates are still stored", refusal.wording.remedy
            )
        }
    }
}

extension OutboxError.Cause {
    /// Whether a person or a program has removed or replaced the database, which doesn't say anything about the disk.
    fileprivate var isReplacement: Bool {
        switch self {
        case .databaseMissing, .removedInUse, .replacedRepeatedly, .notFile, .notSQLite, .notOutbox, .earlierCopy: true
        default: false
        }
    }
}

extension OutboxRecovery {
    private static let replaced: ReportedText =
        "find out what removed or replaced the file, and leave the outbox's files to Waypost"

    /// The damage, the numbers of updates that were salvaged and lost, and the remedy.
    var wording: Wording {
        let reason: ReportedText = cause.map { " (\($0.text))" } ?? ""
        let place: ReportedText = renamedTo.map { "the damaged file is now \($0)" } ?? "nothing was left of it"
        let isExact = lost.lowerBound == lost.upperBound
        let range = isExact ? "\(lost.upperBound)" : "\(lost.lowerBound) to \(lost.upperBound)"
        let count = foundLedger ? range : "an unknown number"
        let doubt: ReportedText =
            if salvaged == 0 {
                ""
            } else if !foundLedger {
                "; its ledger was unreadable, so some of the salvaged updates may have been delivered"
            } else if repeated > 0 {
                "; up to \(repeated) of the salvaged updates may have been delivered before and are sent again"
            } else {
                ""
            }
        return Wording(
            """
            \(path) was rebuilt\(reason); \(place); \(text: salvaged.counted("pending update")) salvaged, \(count) \
            lost\(doubt)
            """, cause?.isReplacement == true ? Self.replaced : "check the disk (dmesg) if this happens again")
    }
}
