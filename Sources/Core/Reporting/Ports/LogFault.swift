/// The reason why a recorded log can't be read, or contains no fix.
package enum LogFault: Sendable, Hashable {
    /// The reason why a file can't be opened.
    package enum Obstacle: Sendable, Hashable {
        /// The path is a URL.
        case url
        /// The path is a shell pattern that the shell didn't expand, for example because it was quoted.
        case pattern
        case missing
        /// This user may not read the file. `closedDirectory` is the directory that denies access, if one does.
        case forbidden(closedDirectory: String?)
        /// A socket, or a device that is missing.
        case unreadableKind
        /// Any other obstacle, with the system's message.
        case other(String)
    }

    case stopped
    case notOpened(Obstacle)
    case directory
    case empty
    /// A device that returns only zeros.
    case zeroDevice
    /// An archive in a format that Waypost can't decompress, with the command that can.
    case compressed(with: String, command: String)
    case compressedTwice
    /// A gzip archive that was to be followed while it grows, which isn't supported.
    case followedArchive
    /// UTF-16 text, with `iconv`'s name for its encoding.
    case utf16(encoding: String)
    case archiveCutShort
    case archiveWithoutContents
    /// Other data follows the archive, from this byte on.
    case archiveFollowedByOtherData(at: Int64)
    case archiveDamaged(reason: String, near: Int64)
    case readFailed(reason: String, afterBytes: Int64)
    /// A replay must read its log twice, but this log isn't a file.
    case readableOnce
    case tooManyFixes(maximum: Int)
    case foreign(ForeignLogKind)
    /// All checksums of the log are wrong. `sentences` is the number of sentences.
    case wrongChecksums(sentences: Int)
    case noSentence
    /// There is no fix, but there are this many sentences without a checksum.
    case missingChecksums(sentences: Int, logs: Int)
    case noFix(FixAbsence)

    /// The code of an error with this fault.
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

/// The reason why logs that have sentences contain no fix.
package struct FixAbsence: Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
        /// Most sentences with a position were rejected because of `field`, for example `longitude out of range`.
        case rejectedPositions(rejected: Int, stated: Int, field: String, count: Int, log: String, firstLine: Int)
        /// This many fixes have no date.
        case undated(Int)
        /// The input consists of AIS messages from other ships.
        case otherShips
        case noPositionSentences
        /// There are this many epochs, none with a valid position.
        case invalidEpochs(Int)
    }

    /// The number of sentences that were left out because their checksum is wrong.
    package struct LeftOut: Sendable, Hashable {
        package let count: Int
        /// The number of all sentences in these logs.
        package let total: Int

        package init(_ count: Int, of total: Int) {
            self.count = count
            self.total = total
        }
    }

    package let cause: Cause
    /// Whether the input is a recording, not a receiver.
    package let isRecorded: Bool
    /// The sentences left out, if there are so many that the fixes may be among them; otherwise `nil`.
    package let leftOut: LeftOut?

    package init(_ cause: Cause, isRecorded: Bool, leftOut: LeftOut?) {
        self.cause = cause
        self.isRecorded = isRecorded
        self.leftOut = leftOut
    }
}

/// The kind of a file that was mistaken for a receiver's log.
package enum ForeignLogKind: String, Sendable, Hashable, CaseIterable {
    case gpx, kml
    /// HTML.
    case page
    /// XML.
    case markup
    /// Text with git's conflict markers.
    case conflict
    case gpsdReports
    /// The description of a recorded run.
    case runRecording
    case configuration
    case json
    /// Comma-separated values.
    case table
    case rinex
    /// The binary protocols UBX and RTCM.
    case binaryFrames
    case sirf
    /// NMEA 2000.
    case canFrames
    /// A hexadecimal dump.
    case hexadecimal
    /// SQLite.
    case database
    /// A modem's answers to AT commands.
    case modem
    case token
    case zeros
    /// Sentences without their leading `$`.
    case withoutDollar
}

/// A remark about logs that can be used despite a fault.
package enum LogRemark: Sendable, Hashable {
    package enum Checksums: Sendable, Hashable { case wrong, cutOff, both }

    /// Sentences of a log were left out because of their checksums. `firstLine` is the line of the first one.
    case leftOut(log: String, FixAbsence.LeftOut, Checksums, firstLine: Int)
    /// The log `next` begins, at `start`, before the log `previous` ends, at `end`.
    case outOfOrder(previous: String, end: String, next: String, start: String)
    /// The time goes back within the logs, this many times.
    case timeGoesBack(log: String, times: Int)
}
