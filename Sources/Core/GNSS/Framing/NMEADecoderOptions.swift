package import TimeAndRandomness

/// The options of `NMEADecoder`. The defaults suit recorded logs.
package struct NMEADecoderOptions: Sendable {
    /// The treatment of a receiver's dates.
    package enum Dates: Sendable {
        /// Every date is kept unchanged, which suits recorded logs.
        case asStated
        /// Each date is moved by the multiple of 1024 weeks that brings it nearest to `reference`, which suits live
        /// receivers.
        ///
        /// A date is rejected if it is still more than two days before `earliest`. A date that had to be moved is also
        /// rejected if the result is more than a year after `reference`.
        ///
        /// `reference` returns the current time, accurate to a few years, and is called for each date. `earliest` is a
        /// time that has certainly passed. `hostTime` returns the host's time, or `nil` if the host's clock isn't
        /// synchronised. The host's time dates the fixes of a receiver that sends no date.
        case repaired(
            reference: @Sendable () -> UTCTime, earliest: UTCTime, hostTime: @Sendable () -> UTCTime? = { nil })
    }

    package var dates: Dates
    /// Whether sentences without a checksum are accepted. Some old receivers send no checksums.
    package var acceptsMissingChecksum: Bool
    /// Whether GSV and GSA are read for `NMEADecoder.takeSky`. Fixes don't depend on this option.
    package var readsSky: Bool

    package init(dates: Dates = .asStated, acceptsMissingChecksum: Bool = false, readsSky: Bool = false) {
        self.dates = dates
        self.acceptsMissingChecksum = acceptsMissingChecksum
        self.readsSky = readsSky
    }
}

extension NMEADecoderOptions.Dates {
    /// The maximum time by which an accepted date may be before `earliest`, because clocks differ a little.
    private static let toleranceMilliseconds = 2 * UTCTime.millisecondsPerDay
    /// The maximum time by which a moved date may be after `reference`, because the host's clock may have been stopped
    /// for a long time. A date further ahead isn't due to a week roll-over.
    private static let maximumAheadMilliseconds = 366 * UTCTime.millisecondsPerDay
    /// The end of GPS week 0, in January 1980. A receiver that doesn't know the time yet reports dates in that week.
    private static let earliestStatedMilliseconds: Int64 = 316_569_600_000
    /// The period after which the week number in the GPS message starts again, because it has only ten bits.
    private static let rolloverMilliseconds = 1024 * 7 * UTCTime.millisecondsPerDay

    /// Returns the instant that a receiver means by `stated`, and a warning if `stated` is wrong. The instant is
    /// repaired if these options require it, and `nil` if it can't be repaired.
    package func instant(meantBy stated: UTCTime) -> (instant: UTCTime?, warning: ReceiverWarning?) {
        guard stated.millisecondsSince1970 >= Self.earliestStatedMilliseconds else { return (nil, .dateTooEarly) }
        guard case .repaired(let reference, _, _) = self else { return (stated, nil) }
        let present = reference().millisecondsSince1970
        let gap = present - stated.millisecondsSince1970
        let half = Self.rolloverMilliseconds / 2
        let periods = (gap >= 0 ? gap + half : gap - half) / Self.rolloverMilliseconds
        let repaired = stated.millisecondsSince1970 + periods * Self.rolloverMilliseconds
        let instant = UTCTime(millisecondsSince1970: repaired)
        let isMovedTooFar = periods != 0 && repaired > present + Self.maximumAheadMilliseconds
        guard isPlausible(instant), !isMovedTooFar else { return (nil, .dateTooEarly) }
        return (instant, periods == 0 ? nil : .weekRolloverRepaired)
    }

    /// Whether `instant` is at most the tolerance before `earliest`, or later, so that it may be right. If dates aren't
    /// repaired, any instant may be right.
    func isPlausible(_ instant: UTCTime) -> Bool {
        guard case .repaired(_, let earliest, _) = self else { return true }
        return instant.millisecondsSince1970 >= earliest.millisecondsSince1970 - Self.toleranceMilliseconds
    }
}
