package import ReportedText

/// A failure of the outbox, as facts: the file, the kind of failure, and its cause.
package struct OutboxError: Error, Sendable, Hashable {
    /// The kind of failure: it decides what can be done.
    package enum Code: Sendable, Hashable, CaseIterable {
        /// No space is left, on the device or by quota. Accepted updates are safe; the new one isn't accepted.
        case full
        /// The file system has no inodes left; otherwise as `full`.
        case noInodes
        /// Another process owns the outbox.
        case locked
        /// Another program has locked the outbox's file for the moment; nothing is wrong with it.
        case busy
        /// The file isn't what was written.
        case damaged
        /// The outbox was repaired in this call, and is damaged again.
        case damagedAgain
        /// A newer release has written the outbox.
        case newerSchema
        /// The file system is mounted read-only, or the kernel made it so after errors.
        case readOnly
        /// Nothing was tried: the file isn't an outbox, or another user can change where its path leads.
        case refused
        /// This user may not read or write the file.
        case forbidden
        /// There is no outbox yet.
        case missing
        /// Updates of another vehicle are pending in the outbox.
        case ofAnotherVehicle
        /// The outbox doesn't answer, or not yet.
        case silent
        /// The outbox has been closed.
        case closed
        /// The outbox can't be read or written for any other reason, such as an input/output error.
        case unusable
    }

    /// Why the outbox failed.
    package enum Cause: Sendable, Hashable {
        /// A call of SQLite failed. `code` is its extended result code (sqlite.org/rescode.html).
        case sqlite(code: Int32, message: ReportedText)
        /// A system call failed. `number` is its `errno`.
        case system(number: Int32, message: ReportedText)
        /// A file isn't touched, for a reason that has a remedy.
        case refusal(ReportedText, remedy: ReportedText)
        /// A process has the outbox; `nil` if it isn't known which.
        case held(by: Holder?)
        case ofVehicle(ReportedText, pending: Int64, configured: ReportedText)
        case opening
        case noMemory
        /// SQLite keeps another journal than the write-ahead log.
        case journalMode(ReportedText)
        case logInUse

        // Damage.
        case removedInUse
        case replacedRepeatedly
        /// Something else than a file, such as a directory.
        case notFile(ReportedText)
        case databaseMissing
        case empty
        case notSQLite
        case notOutbox
        case schema(found: Int64, known: Int64)
        case foreignObject(type: ReportedText, name: ReportedText)
        /// SQLite's own check of the file failed.
        case structure(ReportedText)
        case ledgerUnreadable
        /// The ledger has numbers that no work can lead to.
        case ledgerImpossible
        /// The ledger says something else than the rows.
        case ledgerMismatch
        /// A row fails its checksum.
        case rowUnreadable(Int64)
        /// A row can't be where it was found.
        case rowMisplaced(Int64)
        /// The outbox knows `accepted` updates; its owner knows `known`.
        case earlierCopy(accepted: Int64, known: Int64)
        /// Two reads differ.
        case unsteady
        /// The write-ahead log ends before this update, which is in it or in the database.
        case logEndsBeforeUpdate(Int64)
        /// The write-ahead log ends before this revision of the ledger, which is in it or in the database.
        case logEndsBeforeRevision(Int64)
    }

    /// The process that owns an outbox.
    package struct Holder: Sendable, Hashable {
        /// Its name with its number, such as `waypost run (process 12)`.
        package let name: ReportedText
        /// The command that stops it, such as `systemctl stop waypost`.
        package let stopCommand: ReportedText

        package init(name: ReportedText, stopCommand: ReportedText) {
            self.name = name
            self.stopCommand = stopCommand
        }
    }

    package let code: Code
    /// The database; empty if no file is concerned.
    package let path: String
    package let cause: Cause?

    package init(_ code: Code, path: String = "", _ cause: Cause? = nil) {
        self.code = code
        self.path = path
        self.cause = cause
    }

    /// The process that owns the outbox, if that is the cause and the process is known.
    package var holder: Holder? { if case .held(let holder) = cause { holder } else { nil } }

    /// Whether no space or no inode is left.
    package var isFull: Bool { code == .full || code == .noInodes }
}

/// A state of the outbox that an operator should know of although updates are stored. Paths are those of the files.
package enum OutboxWarning: Sendable, Hashable {
    /// The outbox was older at the start than it had been: its log was removed, or an old copy restored. `previously`
    /// is the number of updates that it had accepted before.
    case olderStore(path: String, accepted: Int64, previously: Int64)
    /// The log was removed or replaced while the outbox was in use.
    case removedLog(path: String)
    /// Another program keeps the log from starting over, so that it grows.
    case longLog(path: String, bytes: Int64)
    /// There is no reserve for a full disk, because another file is in its place and isn't touched for a reason that
    /// has a remedy.
    case noReserve(ReportedText, remedy: ReportedText)
}

/// The outcome of a repair: the operator is notified of it, and the ledger counts it.
package struct OutboxRecovery: Sendable, Hashable {
    /// The database that was damaged.
    package let path: String
    package let cause: OutboxError.Cause?
    /// The new path of the damaged files; `nil` if there was none left.
    package let renamedTo: String?
    /// The number of updates that are pending again.
    package let salvaged: Int64
    /// The minimum and maximum number of pending updates that weren't found again. The ledger counts the maximum as
    /// evicted, so that no loss is hidden; some of them may have been delivered before.
    package let lost: ClosedRange<Int64>
    /// Whether the damaged outbox still had its account of what was delivered.
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
