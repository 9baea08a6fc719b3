extension NMEADecoderOptions.Dates {
    /// Dates further before the reference than this are not believed: clocks of servers and receivers differ a little.
    private static let toleranceMilliseconds = 2 * UTCTime.millisecondsPerDay
    /// The week number in the GPS message has ten bits.
    private static let rolloverMilliseconds = 1024 * 7 * UTCTime.millisecondsPerDay

    /// The instant that a receiver means by a stated one, repaired where that is wanted, and what the stated one is
    /// guilty of; no instant when the stated one cannot be right.
    package func instant(meantBy stated: UTCTime) -> (instant: UTCTime?, warning: ReceiverWarning?) {
        guard case .repaired(let reference) = self else { return (stated, nil) }
        let gap = reference.millisecondsSince1970 - stated.millisecondsSince1970
        let half = Self.rolloverMilliseconds / 2
        let periods = (gap >= 0 ? gap + half : gap - half) / Self.rolloverMilliseconds
        let repaired = stated.millisecondsSince1970 + periods * Self.rolloverMilliseconds
        guard repaired >= reference.millisecondsSince1970 - Self.toleranceMilliseconds else {
            return (nil, .dateBeforeReference)
        }
        return (UTCTime(millisecondsSince1970: repaired), periods == 0 ? nil : .weekRolloverRepaired)
    }
}
