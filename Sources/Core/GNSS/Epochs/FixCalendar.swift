import TimeAndRandomness

/// A calendar that determines the dates of fixes. Most sentences contain only a time of day.
///
/// Only RMC, ZDA and PUBX,04 contain dates. Every other time gets the date that puts it within twelve hours of the last
/// dated instant. So the date changes once at midnight, whichever sentence is the first after midnight.
///
/// Before the first date, a tag block's time of transmission is used instead of the last dated instant. The time of
/// transmission is from another clock, so it is never used after the receiver has sent a date. If a live receiver sends
/// no date for a while, the host's clock is used, provided that it is synchronised.
struct FixCalendar {
    /// The source of the last fix's date.
    enum Basis: UInt8 {
        /// A position sentence of the same epoch.
        case ownEpoch
        /// A date sentence (ZDA or PUBX,04) whose time is close to the fix's time.
        case dateSentence
        /// The receiver's last known date.
        case lastDate
        /// A sentence that contains a date, but whose flags say that there is no position.
        case voidSentence
        case tagBlock
        case hostClock
    }

    /// The last date sentence; `nil` if there was none. It has no validity flag, so it dates only fixes whose time is
    /// close to the sentence's time.
    private(set) var candidate: DateSentence?
    /// The date in a sentence whose flags say that there is no position; `nil` if there was none. It is used only until
    /// there is a better date.
    private(set) var voidDate: DateSentence?
    /// The last time whose date came from the receiver; `nil` until the receiver has sent a date.
    private var lastInstant: UTCTime?
    /// The time of transmission from the last tag block that applies to the current epoch or an earlier one; `nil` if
    /// there was none.
    private(set) var transmissionTime: UTCTime?
    /// The time of transmission from a tag block whose sentence may begin the next epoch; `nil` if there is none.
    private var nextTransmissionTime: UTCTime?
    private(set) var basis = Basis.lastDate
    private let dates: NMEADecoderOptions.Dates
    private var warning: ReceiverWarning?
    /// The earliest time of day for which no date is known yet; `nil` if there is none.
    private var undatedSince: TimeOfDay?
    /// Whether `dateTimeout` has passed without a date.
    private var hasTimedOut = false
    /// Whether the receiver has sent no date within the timeout and the host's clock can't be used, so that fixes can't
    /// be dated.
    private(set) var lacksDate = false

    /// The maximum difference in milliseconds between the time of a date sentence and the time of a fix that it dates.
    /// Some receivers send the date a second ahead.
    private static let candidateTolerance: Int32 = 5000
    /// The time in milliseconds after which the host's clock is used if the receiver has sent no date. Many receivers
    /// send a date only every few seconds.
    private static let dateTimeout: Int32 = 5000

    /// The time in milliseconds before and after midnight in which a date may be off by a day. Some receivers change
    /// the date late.
    private static let midnightTolerance: Int64 = 10_000

    init(dates: NMEADecoderOptions.Dates) { self.dates = dates }

    /// Removes and returns the warning about the last date; `nil` if there is none.
    mutating func takeWarning() -> ReceiverWarning? { warning.take() }

    mutating func recordDate(_ sentence: DateSentence) { candidate = sentence }

    /// Keeps the date in a sentence without a position, unless the date can't be right.
    mutating func recordVoidDate(_ sentence: DateSentence) {
        if dates.instant(meantBy: sentence.instant).instant != nil { voidDate = sentence }
    }

    /// Keeps a time of transmission, unless it is before the earliest possible time. It is never repaired, because the
    /// sender's clock doesn't count GPS weeks and so has no week roll-over.
    mutating func recordTransmission(at time: UTCTime, ofNextEpoch isOfNext: Bool) {
        if isOfNext { nextTransmissionTime = time } else if dates.isPlausible(time) { transmissionTime = time }
    }

    mutating func beginEpoch() {
        if let time = nextTransmissionTime { recordTransmission(at: time, ofNextEpoch: false) }
        nextTransmissionTime = nil
    }

    /// Returns the instant of a valid fix; `nil` while no date is known. `ownDate` is the date in a valid sentence of
    /// the same epoch, together with that sentence's time of day.
    mutating func instant(of timeOfDay: TimeOfDay, ownDate: DateSentence?) -> UTCTime? {
        lacksDate = false
        if let ownDate, let stated = trustedInstant(of: ownDate) {
            lastInstant = midnightCorrected(Self.instant(of: timeOfDay, nearestTo: stated))
            basis = .ownEpoch
        } else if let candidate, abs(candidate.timeOfDay.milliseconds(since: timeOfDay)) <= Self.candidateTolerance,
            let stated = trustedInstant(of: candidate)
        {
            lastInstant = midnightCorrected(Self.instant(of: timeOfDay, nearestTo: stated))
            basis = .dateSentence
        } else if let lastInstant {
            self.lastInstant = Self.instant(of: timeOfDay, nearestTo: lastInstant)
            basis = .lastDate
        } else if let voidDate, let stated = trustedInstant(of: voidDate) {
            lastInstant = Self.instant(of: timeOfDay, nearestTo: stated)
            basis = .voidSentence
        } else if let transmissionTime {
            basis = .tagBlock
            return Self.instant(of: timeOfDay, nearestTo: transmissionTime)
        } else {
            return hostInstant(of: timeOfDay)
        }
        return lastInstant
    }

    /// Returns the instant according to the host's clock. It isn't stored in `lastInstant`, because its date isn't the
    /// receiver's.
    private mutating func hostInstant(of timeOfDay: TimeOfDay) -> UTCTime? {
        guard case .repaired = dates else { return nil }
        let since = undatedSince ?? timeOfDay
        undatedSince = since
        // `hasTimedOut` stays true even if the times of day are close to each other again, as they are a day later.
        hasTimedOut = hasTimedOut || abs(timeOfDay.milliseconds(since: since)) >= Self.dateTimeout
        guard hasTimedOut else { return nil }
        guard let host = hostTime else {
            lacksDate = true
            return nil
        }
        basis = .hostClock
        warning = .datedByHost
        return Self.instant(of: timeOfDay, nearestTo: host)
    }

    /// Returns the instant of a fix that was received before the first date; `nil` if no date is known.
    func instant(ofEarlierFixAt timeOfDay: TimeOfDay) -> UTCTime? {
        (lastInstant ?? transmissionTime ?? hostTime).map { Self.instant(of: timeOfDay, nearestTo: $0) }
    }

    /// The host's time; `nil` before the timeout, or if the host's clock isn't synchronised or isn't allowed to date
    /// fixes.
    private var hostTime: UTCTime? {
        guard hasTimedOut, case .repaired(_, _, let hostTime) = dates else { return nil }
        return hostTime()
    }

    /// Returns `stated`; or, if `stated` is near midnight and a day off, the instant a day earlier or later that
    /// follows `lastInstant`.
    @inline(__always)
    private func midnightCorrected(_ stated: UTCTime) -> UTCTime {
        guard let lastInstant else { return stated }
        let onward = stated.millisecondsSince1970 - lastInstant.millisecondsSince1970
        return onward >= 0 && onward < UTCTime.millisecondsPerDay / 2
            ? stated : dayCorrected(stated, toFollow: lastInstant)
    }

    @inline(never)
    private func dayCorrected(_ stated: UTCTime, toFollow lastInstant: UTCTime) -> UTCTime {
        let day = UTCTime.millisecondsPerDay
        let sinceMidnight = Int64(stated.millisecondOfDay)
        guard min(sinceMidnight, day - sinceMidnight) <= Self.midnightTolerance else { return stated }
        for corrected in [stated.millisecondsSince1970 + day, stated.millisecondsSince1970 - day] {
            let step = corrected - lastInstant.millisecondsSince1970
            if step > 0, step <= Self.midnightTolerance { return UTCTime(millisecondsSince1970: corrected) }
        }
        return stated
    }

    /// Returns the instant that the receiver means, repaired if necessary; `nil` if the date can't be right.
    private mutating func trustedInstant(of date: DateSentence) -> UTCTime? {
        let meant = dates.instant(meantBy: date.instant)
        if let found = meant.warning { warning = found }
        // If the receiver's date is wrong, its time of day may be wrong too. The host's date would be no help, so the
        // wait for a date starts over.
        if meant.instant == nil {
            undatedSince = nil
            hasTimedOut = false
        }
        return meant.instant
    }

    /// Returns the instant with this time of day that is within twelve hours of `reference`.
    private static func instant(of timeOfDay: TimeOfDay, nearestTo reference: UTCTime) -> UTCTime {
        let day = UTCTime.millisecondsPerDay
        let midnight = reference.millisecondsSince1970 - Int64(reference.millisecondOfDay)
        let sameDay = midnight + timeOfDay.posixMilliseconds
        let difference = sameDay - reference.millisecondsSince1970
        if difference > day / 2 { return UTCTime(millisecondsSince1970: sameDay - day) }
        if difference < -day / 2 { return UTCTime(millisecondsSince1970: sameDay + day) }
        return UTCTime(millisecondsSince1970: sameDay)
    }
}
