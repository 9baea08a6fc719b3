/// Why a recorded log can't be read, or gives no fix.
package enum LogFault: Sendable, Hashable {
    /// Why a file can't be opened.
    package enum Obstacle: Sendable, Hashable {
        /// The path is a URL.
        case address
        /// The path is a shell's pattern, in quotes.
        case pattern
        case missing
        /// This user may not read it; `closedDirectory` is the directory that keeps the user out, if one does.
        case forbidden(closedDirectory: String?)
        /// A socket, or a device that is missing.
        case unreadableKind
        /// The system's own reason.
        case other(String)
    }

    case stopped
    case notOpened(Obstacle)
    case directory
    case empty
    /// A device that gives only zeros.
    case zeroDevice
    /// Packed by a program that Waypost doesn't unpack, with the command that does.
    case packed(by: String, command: String)
    case packedTwice
    /// A gzip archive that should be followed while it grows.
    case followedArchive
    /// UTF-16 text, with the name that `iconv` has for its encoding.
    case utf16(encoding: String)
    case archiveCutShort
    case archiveWithoutContents
    /// Something else follows the archive, from this byte on.
    case archiveContinued(at: Int64)
    case archiveDamaged(reason: String, near: Int64)
    case readFailed(reason: String, afterBytes: Int64)
    /// A replay reads its log twice, and this isn't a file.
    case readableOnce
    case tooManyFixes(maximum: Int)
    case foreign(ForeignLogKind)
    /// All checksums of the log are wrong. `sentences` is their number.
    case wrongChecksums(sentences: Int)
    case noSentence
    /// No fix, but this many sentences without a checksum.
    case missingChecksums(sentences: Int, logs: Int)
    case noFix(FixAbsence)

    /// The code of the error that this fault is.
    package var code: FixSourceError.Code {
        switch self {
        case .stopped: .cancelled
        case .notOpened, .readableOnce: .cannotOpen
        case .readFailed: .readFailed
        case .tooManyFixes: .tooLong
        default: .notALog
        }
    }
}

/// Why logs with sentences have no fix.
package struct FixAbsence: Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
        /// Most sentences with a position were rejected for `field`, which is such as `longitude out of range`.
        case rejectedPositions(rejected: Int, stated: Int, field: String, count: Int, log: String, firstLine: Int)
        /// This many fixes have no date.
        case undated(Int)
        /// AIS messages of other ships.
        case otherShips
        case noPositionSentences
        /// None of this many epochs has a valid position.
        case invalidEpochs(Int)
    }

    /// Sentences that were left out because their checksum is wrong.
    package struct LeftOut: Sendable, Hashable {
        package let count: Int
        /// All sentences of these logs.
        package let of: Int

        package init(_ count: Int, of all: Int) {
            self.count = count
            self.of = all
        }
    }

    package let cause: Cause
    /// Whether the input is a recording, not a receiver.
    package let isRecorded: Bool
    /// Set if so many sentences were left out that the fixes may be among them.
    package let leftOut: LeftOut?

    package init(_ cause: Cause, isRecorded: Bool, leftOut: LeftOut?) {
        self.cause = cause
        self.isRecorded = isRecorded
        self.leftOut = leftOut
    }
}

/// A file that is taken for a receiver's log and isn't one.
package enum ForeignLogKind: String, Sendable, Hashable, CaseIterable {
    case gpx, kml
    /// HTML.
    case page
    /// XML.
    case markup
    /// A text with conflict marks of git.
    case conflict
    case gpsdReports
    /// The description of a recorded run.
    case runRecording
    case configuration
    case json
    /// CSV.
    case table
    case rinex
    /// UBX or RTCM.
    case binaryFrames
    case sirf
    /// NMEA 2000.
    case canFrames
    /// A dump in hexadecimal.
    case hexadecimal
    /// SQLite.
    case database
    /// A modem's answers to AT commands.
    case modem
    case token
    case zeros
    /// Sentences without the `$` that begins each.
    case withoutDollar
}

/// A remark about logs that are used although something is wrong with them.
package enum LogRemark: Sendable, Hashable {
    package enum Checksums: Sendable, Hashable { case wrong, cutOff, both }

    /// Sentences of a log were left out, from `firstLine` on, because of their checksums.
    case leftOut(log: String, FixAbsence.LeftOut, Checksums, firstLine: Int)
    /// The log `next` begins before the log `previous` ends; with both times.
    case disordered(previous: String, end: String, next: String, begin: String)
    /// The time goes back this often within the logs.
    case timeGoesBack(log: String, times: Int)
}
