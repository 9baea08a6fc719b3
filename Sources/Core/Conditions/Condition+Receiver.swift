package import GNSS
package import Reporting
import ReportedText

extension Condition {
    /// The condition that a state of the receiver is; `nil` while it is open.
    package init?(_ state: ReceiverState) {
        switch state {
        case .waiting(let source, let fault):
            let wording = fault.wording()
            self.init(.receiverUnavailable, Wording("\(source): \(wording.cause)", wording.remedy))
        case .ended(let source): self.init(.logEnded, "\(ReportedText(source)) has been read to its end")
        case .starting, .receiving, .noPosition: return nil
        }
    }

    /// No fix has come for a while.
    package static let noPosition = Condition(.noPosition, "the receiver sends sentences without a position")

    /// No fix has come for a while, and `sky` shows why.
    package init(noFixUnder sky: Sky) {
        let best = sky.satellites.compactMap(\.signalDecibelHertz).max() ?? 0
        if best == 0 {
            self.init(.noSatellites, "the receiver hears none")
        } else if best < Self.weakSignal {
            self.init(.weakSignals, "\(best) dB-Hz at best, where 40 are good")
        } else {
            self = .noPosition
        }
    }

    /// A satellite that is heard with less has no free way to the antenna, in dB-Hz.
    private static let weakSignal = 30

    /// The condition that a rejected fix shows.
    package init(_ rejection: FixRejection) {
        let code: ConditionCode =
            switch rejection {
            case .before, .after, .unconfirmedTime, .notAdvancing: .fixTimesRejected
            case .positionOutOfRange, .nullIsland, .estimatedBeforeMeasured, .jump, .acceleration: .fixesRejected
            }
        self.init(code, rejection.cause, facts: .rejection(rejection.label))
    }

    /// The condition that a receiver's warning is.
    package init(_ warning: ReceiverWarning) {
        switch warning {
        case .foreignDatum: self.init(.foreignDatum, "the receiver's positions are shifted")
        case .antennaOpen: self.init(.antennaOpen, "the receiver reports it")
        case .antennaShort: self.init(.antennaShort, "the receiver reports it")
        case .transmitBufferFull: self.init(.sentencesDropped, "its serial port is too slow for them")
        case .weekRolloverRepaired: self.init(.weekRolloverRepaired, "they were off by a multiple of 1024 weeks")
        case .dateTooEarly: self.init(.dateTooEarly, "its fixes aren't used until its date is right")
        case .datedByHost: self.init(.datedByHost, "the receiver states no date, and the clock is synchronized")
        case .motionContradicted: self.init(.motionContradicted, "the speed and course of the track are reported")
        case .simulatedOrManual: self.init(.simulatedPositions, "the receiver marks them so")
        case .nullIsland: self.init(.zeroPosition, "a device without a position sends it")
        case .utf16Text: self.init(.utf16Text, "an editor has saved it so")
        case .localTime: self.init(.localTime, "the time of RMC or GGA is used")
        case .positionsRejected: self.init(.positionsUnreadable, "a field can't be read")
        }
    }
}

extension FixRejection {
    fileprivate var cause: ReportedText {
        switch self {
        case .positionOutOfRange: "the position is outside -90...90 or -180...180 degrees"
        case .nullIsland: "the position is exactly 0, 0, which receivers send when they have none"
        case .estimatedBeforeMeasured:
            "the position is an estimate (dead reckoning), and the receiver has measured none since the start"
        case .before(let floor): "the time is before \(floor), when this release was built"
        case .after(let limit): "the time is after \(limit), which is in the future"
        case .notAdvancing: "the time is not after that of the last fix"
        case .unconfirmedTime: "the time is far from the expected one, and no other fix confirms it yet"
        case .acceleration(let rate): "the speed would need an acceleration of \(rate) m/s² since the last fix"
        case .jump(let meters):
            "the position is \(meters) m from the last fix, farther than any vehicle goes in that time"
        }
    }
}
