extension NMEADecoderOptions.Dates {
    /// Dates further before the earliest than this are not believed: clocks differ a little.
    private static let toleranceMilliseconds = 2 * UTCTime.millisecondsPerDay
    /// A date that had to be moved may lie so far after the present as it is known: the host may have slept for long.
    /// Further, the receiver's date was wrong for another reason.
    private static let longestAheadMilliseconds = 366 * UTCTime.millisecondsPerDay
    /// The week number in the GPS message has ten bits.
    private static let rolloverMilliseconds = 1024 * 7 * UTCTime.millisecondsPerDay

    /// The instant that a receiver means by a stated one, repaired where that is wanted, and what the stated one is
    /// guilty of; no instant when the stated one cannot be right.
    package func instant(meantBy stated: UTCTime) -> (instant: UTCTime?, warning: ReceiverWarning?) {
        guard case .repaired(let reference, _) = self else { return (stated, nil) }
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
        guard case .repaired(_, let earliest) = self else { return true }
        return instant.millisecondsSince1970 >= earliest.millisecondsSince1970 - Self.toleranceMilliseconds
    }
}
