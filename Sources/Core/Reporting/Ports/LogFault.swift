/// The reason why a recorded log can't be read, or contains no fix.
package enum LogFault: Sendable, Hashable {
    /// The reason why a file can't be opened.
    package enum Obstacle: Sendable, Hashable {
        /// The path is a URL.
        case url
        /// The path is a shell pattern that the shell didn't expand, for example because it was quoted.
        case pattern
        case missing
        /// This user isn't allowed to read the file. `closedDirectory` is the directory that denies access, if one
        /// does.
        case forbidden(closedDirectory: String?)
        /// The path leads to a socket, or to a device file whose device is missing.
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
    /// A gzip archive that Waypost was asked to follow as it grows, which isn't supported.
    case followedArchive
    /// UTF-16 text, with `iconv`'s name for its encoding.
    case utf16(encoding: String)
    case archiveCutShort
    case archiveWithoutContents
    /// The archive is followed by other data, which begins at this byte.
    case archiveFollowedByOtherData(at: Int64)
    case archiveDamaged(reason: String, near: Int64)
    case readFailed(reason: String, afterBytes: Int64)
    /// A log that can be read only once, because it isn't a file. A replay must read it twice.
    case readableOnce
    case tooManyFixes(maximum: Int)
    case foreign(ForeignLogKind)
    /// The checksums of all sentences in the log are wrong. `sentences` is the number of these sentences.
    case wrongChecksums(sentences: Int)
    case noSentence
    /// The logs contain no fix, but this many sentences without a checksum.
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

/// The reason why logs that contain sentences contain no fix.
package struct FixAbsence: Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
        /// Sentences with a position were rejected: `rejected` of `stated`. `field` is the most frequent reason, such
        /// as `longitude out of range`. It applies to `count` sentences, the first of which is in line `firstLine` of
        /// `log`.
        case rejectedPositions(rejected: Int, stated: Int, field: String, count: Int, log: String, firstLine: Int)
        /// There are this many fixes, but no sentence contains their date.
        case undated(Int)
        /// The input consists of AIS messages from other ships.
        case otherShips
        case noPositionSentences
        /// There are this many epochs, none with a valid position.
        case invalidEpochs(Int)
    }

    /// The number of sentences that were left out because their checksum is wrong.
    package struct OmittedSentences: Sendable, Hashable {
        package let count: Int
        /// The total number of sentences in the logs.
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
    package let leftOut: OmittedSentences?

    package init(_ cause: Cause, isRecorded: Bool, leftOut: OmittedSentences?) {
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
    /// The file that describes a run recorded by Waypost.
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

    /// Sentences of a log were left out because of their checksums. `firstLine` is the number of the first such line.
    case leftOut(log: String, FixAbsence.OmittedSentences, Checksums, firstLine: Int)
    /// The log `next` begins, at `start`, before the log `previous` ends, at `end`.
    case outOfOrder(previous: String, end: String, next: String, start: String)
    /// The log's timestamps jump backwards this many times.
    case timeGoesBack(log: String, times: Int)
}
