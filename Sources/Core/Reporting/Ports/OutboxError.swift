package import ReportedText

/// A failure of the outbox: the file, the kind of failure, and its cause.
package struct OutboxError: Error, Sendable, Hashable {
    /// The kind of failure, which decides the remedy.
    package enum Code: Sendable, Hashable, CaseIterable {
        /// The device is full or the quota is used up. Accepted updates are safe, but the new update isn't accepted.
        case full
        /// The file system has no inodes left, with the same consequences as `full`.
        case noInodes
        /// Another process owns the outbox.
        case locked
        /// Another program has temporarily locked the outbox's file, which is intact.
        case busy
        /// The file's contents differ from the data that was written.
        case damaged
        /// The outbox was repaired during this call, and is damaged again.
        case damagedAgain
        /// A newer release has written the outbox.
        case newerSchema
        /// The file system is mounted read-only, or the kernel has made it read-only after errors.
        case readOnly
        /// The file wasn't opened because it isn't an outbox, or because another user can redirect its path.
        case refused
        /// This user isn't allowed to read or write the file.
        case forbidden
        /// There is no outbox yet.
        case missing
        /// Updates of another vehicle are pending in the outbox.
        case otherVehicle
        /// The outbox doesn't answer, or it isn't open yet.
        case silent
        /// The outbox has been closed.
        case closed
        /// The outbox can't be read or written for any other reason, such as an input/output error.
        case unusable
    }

    /// The cause of the failure.
    package enum Cause: Sendable, Hashable {
        /// A call to SQLite failed. `code` is the extended result code (sqlite.org/rescode.html).
        case sqlite(code: Int32, message: ReportedText)
        /// A system call failed. `number` is its `errno`.
        case system(number: Int32, message: ReportedText)
        /// Waypost refuses to use or change a file.
        case refusal(PathRefusal)
        /// The path leads to a file of the given kind, such as a log, that has never been an outbox.
        case unrelated(ReportedText)
        /// The path leads to a directory.
        case directory
        /// Another process owns the outbox; `nil` if that process is unknown.
        case held(by: Holder?)
        /// Updates of the given vehicle are pending, but another vehicle is configured.
        case otherVehicle(ReportedText, pending: Int64, configured: ReportedText)
        case opening
        case noMemory
        /// SQLite uses this journal mode instead of write-ahead logging.
        case journalMode(ReportedText)
        case logInUse

        // The causes of `damaged`:
        case removedInUse
        case replacedRepeatedly
        /// The path leads to something other than a file, such as a directory.
        case notFile(ReportedText)
        case databaseMissing
        case empty
        case notSQLite
        case notOutbox
        case schema(found: Int64, known: Int64)
        case foreignObject(type: ReportedText, name: ReportedText)
        /// SQLite's integrity check of the file failed.
        case structure(ReportedText)
        case ledgerUnreadable
        /// The ledger contains impossible numbers.
        case ledgerImpossible
        /// The ledger contradicts the rows.
        case ledgerMismatch
        /// A row fails its checksum.
        case rowUnreadable(Int64)
        /// A row has a sequence number that is impossible or out of order.
        case rowMisplaced(Int64)
        /// The file is an old copy: its last accepted update is `accepted`, but the outbox had already accepted update
        /// `known`.
        case earlierCopy(accepted: Int64, known: Int64)
        /// Two reads of the same data differ.
        case inconsistentReads
        /// The write-ahead log ends before this update, although the update was committed.
        case logEndsBeforeUpdate(Int64)
        /// The write-ahead log ends before this revision of the ledger, although the revision was committed.
        case logEndsBeforeRevision(Int64)
    }

    /// The process that owns an outbox.
    package struct Holder: Sendable, Hashable {
        /// The process's name and number, such as `waypost run (process 12)`.
        package let name: ReportedText
        /// The command that stops the process, such as `systemctl stop waypost`.
        package let stopCommand: ReportedText

        package init(name: ReportedText, stopCommand: ReportedText) {
            self.name = name
            self.stopCommand = stopCommand
        }
    }

    package let code: Code
    /// The path of the database; empty if the failure doesn't concern a file.
    package let path: String
    package let cause: Cause?

    package init(_ code: Code, path: String = "", _ cause: Cause? = nil) {
        self.code = code
        self.path = path
        self.cause = cause
    }

    /// The process that owns the outbox; `nil` if the failure has another cause, or if the process is unknown.
    package var holder: Holder? { if case .held(let holder) = cause { holder } else { nil } }

    /// The `errno` of a failed system call or the result code of SQLite; `nil` if the failure has another cause.
    package var number: Int32? {
        switch cause {
        case .sqlite(let code, _): code
        case .system(let number, _): number
        default: nil
        }
    }

    /// Whether the file system has no space or no inodes left.
    package var isFull: Bool { code == .full || code == .noInodes }
}

/// A state of the outbox that an operator should know about, although updates are still being stored.
package enum OutboxWarning: Sendable, Hashable {
    /// When it was opened, the outbox was in an older state than before, because its log was removed or an old copy was
    /// restored. The outbox now counts `accepted` accepted updates, but had counted `previously` updates before.
    case olderStore(path: String, accepted: Int64, previously: Int64)
    /// The write-ahead log was removed or replaced while the outbox was in use. `isRescued` says whether its content is
    /// in the database now.
    case removedLog(path: String, isRescued: Bool)
    /// The write-ahead log keeps growing, because another program prevents SQLite from resetting it.
    case longLog(path: String, bytes: Int64)
    /// The file that reserves space for a full disk is missing, because there is another file at its path. Waypost
    /// leaves that file alone.
    case noReserve(PathRefusal)
}

/// The outcome of a repair, which is reported to the operator and counted in the ledger.
package struct OutboxRecovery: Sendable, Hashable {
    /// The path of the damaged database.
    package let path: String
    package let cause: OutboxError.Cause?
    /// The new path of the damaged files; `nil` if no files were left.
    package let renamedTo: String?
    /// The number of salvaged updates, which are pending again.
    package let salvaged: Int64
    /// The minimum and maximum number of pending updates that could not be salvaged. Some of them may have been
    /// delivered before. The ledger counts the maximum as evicted, so that no loss is hidden.
    package let lost: ClosedRange<Int64>
    /// Whether the damaged outbox's ledger could still be read.
    package let foundLedger: Bool
    /// The maximum number of salvaged updates that may have been delivered before. They are sent again.
    package let repeated: Int64

    package init(
        path: String, cause: OutboxError.Cause?, renamedTo: String?, salvaged: Int64, lost: ClosedRange<Int64>,
        foundLedger: Bool, repeated: Int64 = 0
    ) {
        self.path = path
        self.cause = cause
        self.renamedTo = renamedTo
        self.salvaged = salvaged
        self.lost = lost
        self.foundLedger = foundLedger
        self.repeated = repeated
    }
}
