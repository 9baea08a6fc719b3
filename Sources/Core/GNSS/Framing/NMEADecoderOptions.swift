package import TimeAndChance

/// How `NMEADecoder` treats what receivers do not do alike; the defaults suit recorded logs.
package struct NMEADecoderOptions: Sendable {
    /// Which dates are trusted.
    package enum Dates: Sendable {
        /// Every date is kept as stated: for recorded logs.
        case asStated
        /// Dates are moved by the multiple of 1024 weeks that brings them nearest to `reference`, which is asked at
        /// each date. Rejected is what then still lies more than two days before `earliest`, or has been moved to
        /// more than a year after `reference`. For live receivers.
        ///
        /// `reference` is the present to within years, `earliest` a moment that has certainly passed. `hostTime` is the
        /// host's time while something keeps that right, else `nil`: it dates what a receiver states no date for.
        case repaired(
            reference: @Sendable () -> UTCTime, earliest: UTCTime, hostTime: @Sendable () -> UTCTime? = { nil })
    }

    package var dates: Dates
    /// Whether sentences without a checksum count; old receivers send none.
    package var acceptsMissingChecksum: Bool
    /// Whether the satellites in view are read, for `NMEADecoder.takeSky`; nothing of them is in a fix.
    package var readsSky: Bool

    package init(dates: Dates = .asStated, acceptsMissingChecksum: Bool = false, readsSky: Bool = false) {
        self.dates = dates
        self.acceptsMissingChecksum = acceptsMissingChecksum
        self.readsSky = readsSky
    }
}

extension NMEADecoderOptions.Dates {
    /// Dates further before the earliest than this are rejected: clocks differ a little.
    private static let toleranceMilliseconds = 2 * UTCTime.millisecondsPerDay
    /// A date that had to be moved may lie so far after the present as it is known: the host may have slept for long.
    /// Further, the receiver's date was wrong for another reason.
    private static let longestAheadMilliseconds = 366 * UTCTime.millisecondsPerDay
    /// The end of GPS week 0, in January 1980: a receiver that doesn't know the time yet counts from its beginning.
    private static let earliestStatedMilliseconds: Int64 = 316_569_600_000
    /// The week number in the GPS message has ten bits.
    private static let rolloverMilliseconds = 1024 * 7 * UTCTime.millisecondsPerDay

    /// The instant that a receiver means by a stated one, repaired where that is wanted, and what the stated one is
    /// guilty of; no instant when the stated one cannot be right.
    package func instant(meantBy stated: UTCTime) -> (instant: UTCTime?, warning: ReceiverWarning?) {
        guard stated.millisecondsSince1970 >= Self.earliestStatedMilliseconds else { return (nil, .dateTooEarly) }
        guard case .repaired(let reference, _, _) = self else { return (stated, nil) }
        let present = reference().millisecondsSince1970
        let gap = present - stated.millisecondsSince1970
        let half = Self.rolloverMilliseconds / 2
        let periods = (gap >= 0 ? gap + half : gap - half) / Self.rolloverMilliseconds
        let repaired = stated.millisecondsSince1970 + periods * Self.rolloverMilliseconds
        let instant = UTCTime(millisecondsSince1970: repaired)
        let isMovedTooFar = periods != 0 && repaired > present + Self.longestAheadMilliseconds
        guard canBeTrue(instant), !isMovedTooFar else { return (nil, .dateTooEarly) }
        return (instant, periods == 0 ? nil : .weekRolloverRepaired)
    }

    /// Whether an instant is not before the earliest that can be true.
    func canBeTrue(_ instant: UTCTime) -> Bool {
        guard case .repaired(_, let earliest, _) = self else { return true }
        return instant.millisecondsSince1970 >= earliest.millisecondsSince1970 - Self.toleranceMilliseconds
    }
}
