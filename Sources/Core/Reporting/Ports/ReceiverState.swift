package import ReportedText

/// What a receiver is doing, as typed facts. The program around the reporter puts them into words.
package enum ReceiverState: Sendable, Hashable {
    /// The line is open and nothing is wrong so far, but no sentence has come.
    case starting(source: String, ReceiverStart)
    /// Sentences are arriving, at the given baud rate if it was searched for.
    case receiving(source: String, foundBaudRate: Int? = nil)
    /// Sentences are arriving, but have not led to a position for long; `hadOne`: there has been one since the start.
    case noPosition(source: String, hadOne: Bool)
    /// Nothing usable arrives.
    case waiting(source: String, ReceiverFault)
    /// A recorded log has been read to its end.
    case ended(source: String)

    /// The kinds of state, by the words of status and metrics.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case starting, receiving
        case noPosition = "no_position"
        case waiting, ended
    }

    package var kind: Kind {
        switch self {
        case .starting: .starting
        case .receiving: .receiving
        case .noPosition: .noPosition
        case .waiting: .waiting
        case .ended: .ended
        }
    }

    package var source: String {
        switch self {
        case .starting(let source, _), .receiving(let source, _), .noPosition(let source, _),
            .waiting(let source, _), .ended(let source):
            source
        }
    }

    /// Whether an operator may have to act.
    package var isTrouble: Bool { kind == .noPosition || kind == .waiting }
}

/// How a line is open that has brought no sentence yet.
package enum ReceiverStart: Sendable, Hashable {
    case opened
    case openedAt(baudRate: Int)
    /// The baud rate is being searched for; these were tried in vain.
    case searching(baudRate: Int, tried: [Int])
    case connected
    case listening(port: Int)
    /// A file is open, and what is appended is read.
    case following
}

/// Why a receiver gives no fixes.
package enum ReceiverFault: Sendable, Hashable {
    case deviceMissing
    case deviceForbidden
    case deviceBusy(DeviceHolders)
    case notASerialPort
    case unsupportedBaudRate(Int, supported: [Int])
    /// The driver kept another rate.
    case baudRateRejected(Int)
    /// The system gives this reason.
    case notOpened(ReportedText)
    /// With the resolver's message; `nil` if it gave no answer.
    case hostNotFound(String, ReportedText?)
    case notConnected(ReportedText, isGPSD: Bool)
    case notListening(ReportedText)
    case fileMissing
    /// The file isn't a receiver's output; with the remedy.
    case fileUnusable(LogFault)
    /// The line ended, for this reason, and is opened again.
    case lost(ReportedText)
    case closedByOtherSide

    /// Nothing has come for the given time.
    case silent(ReceiverLineKind, Duration, alsoOpenIn: DeviceHolders?)
    /// Bytes come, but no sentence has for the given time.
    case noSentence(ReceiverLineKind, Duration, alsoOpenIn: DeviceHolders?)
    /// Text comes that a person could read, with its beginning if that may be shown.
    case readableText(ReceiverLineKind, ReportedText?, Duration, alsoOpenIn: DeviceHolders?)
    /// Every baud rate was tried; with the best that came, and at which rate.
    case noBaudRate(BaudRateEvidence, baudRate: Int, tried: [Int])
    case noChecksums
    /// Frames of UBX or RTCM.
    case binaryFrames
    case wrongChecksums
    case otherSpeaker(OtherSpeaker)

    /// Most sentences with a position are rejected, or all of them, for this field.
    case positionsRejected(ReportedText, areAll: Bool)
    case noPositionSentences(NoPosition)
    /// Positions come without a date, and this host's clock isn't synchronized.
    case noDate
    case gpsd(GPSDFault)

    /// What comes instead of sentences with a position.
    package enum NoPosition: Sendable, Hashable { case otherSentences, wrongChecksums, otherShips }
}

/// What a line is, as far as its remedy depends on it.
package enum ReceiverLineKind: Sendable, Hashable {
    case serial(baudRate: Int, wasFound: Bool)
    case tcp
    /// Listening on this host's address.
    case udp(host: String)
    case gpsd
    case file
    case standardInput
}

/// The best that came while a serial line was open at one baud rate.
package enum BaudRateEvidence: Int, Sendable, Hashable, Comparable {
    case silence, noise
    /// Text that a person could read: the right rate, but no receiver, or one that is not set to NMEA.
    case text
    /// Whole frames of UBX or RTCM 3: the right rate, but the wrong protocol.
    case binaryFrames
    /// Sentences that lack nothing but their checksums: the right rate, but they are not accepted.
    case withoutChecksum
    /// The rate was right, and then nothing usable came for long.
    case sentences

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

/// The programs that have a device open.
package struct DeviceHolders: Sendable, Hashable {
    /// Such as `gpsd (process 812)`.
    package let names: ReportedText
    /// What to do about each.
    package let remedy: ReportedText

    package init(names: ReportedText, remedy: ReportedText) {
        self.names = names
        self.remedy = remedy
    }
}

/// What answers in a receiver's place, by its first bytes.
package enum OtherSpeaker: Sendable, Hashable, CaseIterable {
    case gpsd, webServer, secureShell
    /// An NTRIP caster, which sends corrections.
    case caster
    /// NMEA sentences where gpsd's reports are expected.
    case nmeaServer
}

/// A reason why gpsd gives no fixes.
package enum GPSDFault: Sendable, Hashable {
    case requestRejected(ReportedText)
    case deviceLost(ReportedText)
    case noPosition(ReportedText)
    /// The receiver states dates in the past.
    case pastDates(ReportedText)
    case unknownDevice(ReportedText, others: [ReportedText])
    case noDevice
    case deviceNotOpened([ReportedText])
}
