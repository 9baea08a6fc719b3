package import ReportedText

/// The state of a receiver. It contains only facts, which `Conditions` turns into text.
package enum ReceiverState: Sendable, Hashable {
    /// The connection to the receiver is open and has no fault so far, but no sentence has arrived yet.
    case starting(source: ReportedText, ReceiverStart)
    /// Sentences are arriving. `foundBaudRate` is the baud rate if it was found by a search.
    case receiving(source: ReportedText, foundBaudRate: Int? = nil)
    /// Sentences are arriving, but there has been no position for some time. `hadOne` says whether there was a position
    /// earlier in this run.
    case noPosition(source: ReportedText, hadOne: Bool)
    /// Nothing usable is arriving.
    case waiting(source: ReportedText, ReceiverFault)
    /// A recorded log has been read to its end.
    case ended(source: ReportedText)

    /// The kind of a state. The raw values appear in the status and the metrics.
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

    package var source: ReportedText {
        switch self {
        case .starting(let source, _), .receiving(let source, _), .noPosition(let source, _),
            .waiting(let source, _), .ended(let source):
            source
        }
    }
}

/// The state of an open connection to a receiver before the first sentence.
package enum ReceiverStart: Sendable, Hashable {
    case opened
    case openedAt(baudRate: Int)
    /// The baud rate is being searched for. `tried` lists the rates that have failed so far.
    case searching(baudRate: Int, tried: [Int])
    case connected
    case listening(port: Int)
    /// A file is open and is read as it grows.
    case following
}

/// The reason why a receiver delivers no fixes.
package enum ReceiverFault: Sendable, Hashable {
    case deviceMissing
    case deviceForbidden
    /// The service's systemd unit, or the container, doesn't allow the device with this path.
    case deviceNotAllowed(ReportedText)
    case deviceBusy(DeviceHolders)
    case notASerialPort
    case unsupportedBaudRate(Int, supported: [Int])
    /// The serial driver has kept a different baud rate.
    case baudRateRejected(Int)
    /// Opening the connection failed with the system's message.
    case notOpened(ReportedText)
    /// Resolving the host's name failed with the resolver's message; `nil` if the resolver didn't answer.
    case hostNotFound(String, ReportedText?)
    case notConnected(ReportedText, isGPSD: Bool)
    case notListening(ReportedText)
    case fileMissing
    /// The file isn't a receiver's output.
    case fileUnusable(LogFault)
    /// The connection was lost for the given reason, and will be reopened.
    case lost(ReportedText)
    case closedByOtherSide

    /// Nothing has arrived for the given time.
    case silent(ReceiverLineKind, Duration, alsoOpenIn: DeviceHolders?)
    /// Bytes arrive, but no sentence has arrived for the given time.
    case noSentence(ReceiverLineKind, Duration, alsoOpenIn: DeviceHolders?)
    /// Readable text arrives. Its first characters are included if they may be shown.
    case readableText(ReceiverLineKind, ReportedText?, Duration, alsoOpenIn: DeviceHolders?)
    /// Every baud rate has been tried. `baudRate` is the rate with the best evidence of a receiver.
    case noBaudRate(BaudRateEvidence, baudRate: Int, tried: [Int])
    case noChecksums
    /// UBX or RTCM frames arrive instead of sentences.
    case binaryFrames
    case wrongChecksums
    case otherSpeaker(OtherSpeaker)

    /// Most or all sentences with a position are rejected because of the given field.
    case positionsRejected(ReportedText, areAll: Bool)
    case noPositionSentences(NoPosition)
    /// Positions arrive without a date, and the clock of this host isn't synchronised.
    case noDate
    case gpsd(GPSDFault)

    /// This fault without the details that change while it lasts, so that a lasting fault is logged only once.
    package var topic: Self {
        switch self {
        case .silent(let line, _, let holders): .silent(line, .zero, alsoOpenIn: holders)
        case .noSentence(let line, _, let holders): .noSentence(line, .zero, alsoOpenIn: holders)
        case .readableText(let line, _, _, let holders): .readableText(line, nil, .zero, alsoOpenIn: holders)
        case .noBaudRate(let evidence, _, _): .noBaudRate(evidence, baudRate: 0, tried: [])
        default: self
        }
    }

    /// The input that arrives instead of sentences with a position.
    package enum NoPosition: Sendable, Hashable { case otherSentences, wrongChecksums, otherShips }
}

/// The kind of connection to a receiver, which decides the remedy.
package enum ReceiverLineKind: Sendable, Hashable {
    case serial(baudRate: Int, wasFound: Bool)
    case tcp
    /// A UDP socket at the given address on this host.
    case udp(host: String)
    case gpsd
    case file
    case standardInput
}

/// The best evidence of a receiver that has arrived at one baud rate. The cases are in ascending order.
package enum BaudRateEvidence: Int, Sendable, Hashable, Comparable {
    case silence, noise
    /// Readable text: the rate is right, but there is no receiver, or its output isn't NMEA.
    case text
    /// Complete UBX or RTCM 3 frames: the rate is right, but the protocol isn't.
    case binaryFrames
    /// Sentences without checksums: the rate is right, but the sentences aren't accepted.
    case withoutChecksum
    /// Sentences: the rate is right, but nothing usable has arrived for some time.
    case sentences

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

/// The programs that have a device open.
package struct DeviceHolders: Sendable, Hashable {
    /// The kind of a program, which decides the remedy.
    package enum Program: Sendable, Hashable {
        case gpsd, modemManager, brltty
        /// A login console on the given terminal, such as `ttyS0`.
        case loginConsole(ReportedText)
        /// Another Waypost process, which the given command stops.
        case waypost(ReportedText)
        case other
        /// A program that has the given device open, but that this user can't see.
        case hidden(ReportedText)
    }

    /// The names of the programs, such as `gpsd (process 812)`.
    package let names: ReportedText
    package let programs: [Program]

    package init(names: ReportedText, programs: [Program]) {
        self.names = names
        self.programs = programs
    }
}

/// A program that answers instead of a receiver, as identified by its first bytes.
package enum OtherSpeaker: Sendable, Hashable, CaseIterable {
    case gpsd, webServer, secureShell
    /// An NTRIP caster, which sends corrections.
    case caster
    /// A server that sends NMEA sentences, at the address configured for gpsd.
    case nmeaServer
}

/// The reason why gpsd delivers no fixes.
package enum GPSDFault: Sendable, Hashable {
    case requestRejected(ReportedText)
    case deviceLost(ReportedText)
    case unknownDevice(ReportedText, others: [ReportedText])
    case noDevice
    case deviceNotOpened([ReportedText])
}
