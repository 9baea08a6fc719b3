package import GNSS
package import Reporting
import ReportedText

extension Condition {
    /// Creates the condition for a receiver that is unavailable or a log that has ended; returns `nil` for other
    /// states. `elapsed` is the time since the state was reported.
    package init?(_ state: ReceiverState, after elapsed: Duration = .zero) {
        switch state {
        case .waiting(let source, let fault):
            let wording = fault.wording(after: elapsed)
            self.init(
                .receiverUnavailable, Wording("\(source): \(wording.cause)", wording.remedy),
                facts: .receiver(fault.topic))
        case .ended(let source): self.init(.logEnded, "\(source) has been read to the end")
        case .starting, .receiving, .noPosition: return nil
        }
    }

    /// The condition for a receiver that hasn't sent a fix for a while, if no specific cause is known.
    package static let noPosition = Condition(.noPosition, "the receiver sends sentences without a position")

    /// Creates the condition for a receiver that hasn't sent a fix for a while. The satellite signals in `sky`
    /// determine the cause.
    package init(noFixWith sky: Sky) {
        let best = sky.satellites.compactMap(\.signalDecibelHertz).max() ?? 0
        if best == 0 {
            self.init(
                .noPosition,
                Wording(
                    "the receiver reports no signal from any satellite",
                    "check the antenna's plug and cable, unless the vehicle is deep inside a building"),
                facts: .sky(hasSignal: false))
        } else if best < Self.weakSignal {
            self.init(
                .noPosition,
                Wording(
                    "the strongest satellite signal is only \(best) dB-Hz; 40 dB-Hz is good",
                    "give the antenna a clear view of the sky and check its cable, unless the vehicle is under a roof"),
                facts: .sky(hasSignal: true))
        } else {
            self = .noPosition
        }
    }

    /// The signal strength in dB-Hz below which something must be blocking the antenna's view of the sky.
    private static let weakSignal = 30

    /// Creates the condition for a rejected fix.
    package init(_ rejection: FixRejection) {
        let code: ConditionCode =
            switch rejection {
            case .before, .after, .unconfirmedTime, .notAdvancing: .fixTimesRejected
            case .positionOutOfRange, .nullIsland, .estimatedBeforeMeasured, .jump, .acceleration: .fixesRejected
            }
        self.init(code, rejection.cause, facts: .rejection(rejection.label))
    }

    /// Creates the condition for a receiver's warning.
    package init(_ warning: ReceiverWarning) {
        switch warning {
        case .foreignDatum: self.init(.foreignDatum, "the receiver's positions are shifted")
        case .antennaOpen:
            self.init(.antennaFault, "the receiver reports an open line", facts: .antenna(isShort: false))
        case .antennaShort:
            self.init(.antennaFault, "the receiver reports a short circuit", facts: .antenna(isShort: true))
        case .transmitBufferFull: self.init(.sentencesDropped, "the serial port is too slow to carry every sentence")
        case .weekRolloverRepaired: self.init(.weekRolloverRepaired, "the dates were off by a multiple of 1024 weeks")
        case .dateTooEarly: self.init(.dateTooEarly, "fixes aren't used until the date is right")
        case .datedByHost: self.init(.datedByHost, "the receiver sends no date, and the clock is synchronised")
        case .motionContradicted:
            self.init(.motionContradicted, "speed and course are calculated from the track instead")
        case .simulatedOrManual:
            self.init(.simulatedPositions, "the receiver marks its positions as simulated or manual")
        case .nullIsland: self.init(.zeroPosition, "some devices send 0, 0 when they have no position")
        case .utf16Text: self.init(.utf16Text, "an editor probably saved the text as UTF-16")
        case .localTime: self.init(.localTime, "the time from RMC or GGA is used")
        case .positionsRejected: self.init(.positionsUnreadable, "one of the fields can't be parsed")
        }
    }
}

extension ConditionCode {
    /// The codes of a receiver's warnings about what prevents fixes.
    static let obstaclesToFix = ReceiverWarning.allCases.filter(\.preventsFix).map { Condition($0).code }
}

extension FixRejection {
    fileprivate var cause: ReportedText {
        switch self {
        case .positionOutOfRange: "the latitude is outside -90...90 degrees, or the longitude outside -180...180"
        case .nullIsland: "the position is exactly 0, 0, which receivers send when they have no position"
        case .estimatedBeforeMeasured:
            "the position is estimated by dead reckoning, and no position has been measured since the start"
        case .before(let floor): "the time is before \(floor), when this release was built"
        case .after(let limit): "the time is after \(limit), which is in the future"
        case .notAdvancing: "the time isn't later than the last fix's"
        case .unconfirmedTime: "the time is far from the last known one, and no other fix has confirmed it yet"
        case .acceleration(let rate):
            "reaching this speed since the last fix would take an acceleration of \(rate) m/s²"
        case .jump(let meters):
            "the position is \(meters) m from the last fix, farther than any vehicle drives in that time"
        }
    }
}
