import TimeAndChance

/// Gives times of day their date.
///
/// Only RMC, ZDA and PUBX,04 state dates. Every other time gets the date that puts it within twelve hours of the
/// last dated instant, so that midnight counts once, whichever sentence crosses it first. Before any of them has come,
/// the time of transmission in a tag block does for that instant; it is another clock's, so that it never counts beside
/// a date of the receiver's own. Of a live receiver that states none for a while, the host's clock does, if it is kept
/// right.
struct FixCalendar {
    /// Where the last instant's date is from.
    enum Basis: UInt8 {
        /// A position sentence of the same epoch.
        case ownEpoch
        /// A date sentence beside it.
        case dateSentence
        /// The date before it.
        case lastDate
        /// A sentence that states a date and no position.
        case voidSentence
        case tagBlock
        case hostClock
    }

    /// A date stated outside the position sentences; trusted once a fix stands beside it.
    private(set) var offer: DateSentence?
    /// The date of a sentence that says that there is no position: it counts while nothing better states one.
    private(set) var voidDate: DateSentence?
    /// The last dated instant.
    private var last: UTCTime?
    /// When a sentence was sent, as the last tag block says.
    private(set) var transmitted: UTCTime?
    /// When the first sentence of the next epoch was sent.
    private var nextTransmission: UTCTime?
    private(set) var basis = Basis.lastDate
    private let dates: NMEADecoderOptions.Dates
    private var warning: ReceiverWarning?
    /// The first time of day for which no date is stated, and whether a date has been waited for long enough since.
    private var undatedSince: TimeOfDay?
    private var hasWaited = false
    /// Whether it has, and there is nobody else to ask.
    private(set) var lacksDate = false

    /// A date sentence this far from a fix still belongs to it: some receivers send it a second ahead.
    private static let offerToleranceMilliseconds: Int32 = 5000
    /// How long a receiver may take to state a date: many do only every few seconds.
    private static let patienceMilliseconds: Int32 = 5000

    /// Within so much of midnight a date may be that of the day before or after: some receivers change it late.
    private static let midnightMilliseconds: Int64 = 10_000

    init(dates: NMEADecoderOptions.Dates) { self.dates = dates }

    /// What the last date was found guilty of.
    mutating func takeWarning() -> ReceiverWarning? {
        defer { warning = nil }
        return warning
    }

    /// Keeps a date that no flag vouches for.
    mutating func consider(_ sentence: DateSentence) { offer = sentence }

    /// Keeps the date of a sentence without a position, unless its receiver can't know it yet.
    mutating func considerVoid(_ sentence: DateSentence) {
        if dates.instant(meantBy: sentence.instant).instant != nil { voidDate = sentence }
    }

    /// Keeps a time of transmission. A live receiver's must not lie before the earliest either; roll-overs are not a
    /// sender's trouble, so that nothing is repaired.
    mutating func noteTransmission(at time: UTCTime, ofNextEpoch isOfNext: Bool) {
        if isOfNext { nextTransmission = time } else if dates.canBeTrue(time) { transmitted = time }
    }

    mutating func epochBegan() {
        if let time = nextTransmission { noteTransmission(at: time, ofNextEpoch: false) }
        nextTransmission = nil
    }

    /// The instant of a valid fix; `nil` while no date is known. `dated` is the date that a valid sentence of the same
    /// epoch states, with its own time of day.
    mutating func instant(of timeOfDay: TimeOfDay, dated: DateSentence?) -> UTCTime? {
        lacksDate = false
        if let dated, let stated = trusted(dated) {
            last = onceAtMidnight(Self.nearest(to: stated, timeOfDay))
            basis = .ownEpoch
        } else if let offer, abs(offer.timeOfDay.milliseconds(since: timeOfDay)) <= Self.offerToleranceMilliseconds,
            let stated = trusted(offer)
        {
            last = onceAtMidnight(Self.nearest(to: stated, timeOfDay))
            basis = .dateSentence
        } else if let last {
            self.last = Self.nearest(to: last, timeOfDay)
            basis = .lastDate
        } else if let voidDate, let stated = trusted(voidDate) {
            last = Self.nearest(to: stated, timeOfDay)
            basis = .voidSentence
        } else if let transmitted {
            basis = .tagBlock
            return Self.nearest(to: transmitted, timeOfDay)
        } else {
            return datedByHost(timeOfDay)
        }
        return last
    }

    /// The instant by the host's clock. Each is asked for anew: that clock is no date of the receiver's own.
    private mutating func datedByHost(_ timeOfDay: TimeOfDay) -> UTCTime? {
        guard case .repaired = dates else { return nil }
        let since = undatedSince ?? timeOfDay
        undatedSince = since
        // Once it has, a day later the times of day are near each other again.
        hasWaited = hasWaited || abs(timeOfDay.milliseconds(since: since)) >= Self.patienceMilliseconds
        guard hasWaited else { return nil }
        guard let host = hostTime else {
            lacksDate = true
            return nil
        }
        basis = .hostClock
        warning = .datedByHost
        return Self.nearest(to: host, timeOfDay)
    }

    /// The instant of an earlier fix that came before the first date.
    func instant(ofEarlier timeOfDay: TimeOfDay) -> UTCTime? {
        (last ?? transmitted ?? hostTime).map { Self.nearest(to: $0, timeOfDay) }
    }

    /// The host's time, once it may date a fix and while it is kept right.
    private var hostTime: UTCTime? {
        guard hasWaited, case .repaired(_, _, let hostTime) = dates else { return nil }
        return hostTime()
    }

    /// The instant that follows the last one, if `stated` is a day off it at midnight.
    @inline(__always)
    private func onceAtMidnight(_ stated: UTCTime) -> UTCTime {
        guard let last else { return stated }
        let onward = stated.millisecondsSince1970 - last.millisecondsSince1970
        return onward >= 0 && onward < UTCTime.millisecondsPerDay / 2 ? stated : following(last, stated: stated)
    }

    @inline(never)
    private func following(_ last: UTCTime, stated: UTCTime) -> UTCTime {
        let day = UTCTime.millisecondsPerDay
        let sinceMidnight = Int64(stated.millisecondOfDay)
        guard min(sinceMidnight, day - sinceMidnight) <= Self.midnightMilliseconds else { return stated }
        for following in [stated.millisecondsSince1970 + day, stated.millisecondsSince1970 - day] {
            let step = following - last.millisecondsSince1970
            if step > 0, step <= Self.midnightMilliseconds { return UTCTime(millisecondsSince1970: following) }
        }
        return stated
    }

    /// The stated instant, repaired where that is wanted; `nil` when it cannot be right.
    private mutating func trusted(_ dated: DateSentence) -> UTCTime? {
        let meant = dates.instant(meantBy: dated.instant)
        if let found = meant.warning { warning = found }
        // A receiver whose date is wrong may be wrong about the time of day as well: the host does not complete that.
        if meant.instant == nil {
            undatedSince = nil
            hasWaited = false
        }
        return meant.instant
    }

    /// The instant with this time of day within twelve hours of `instant`.
    private static func nearest(to instant: UTCTime, _ timeOfDay: TimeOfDay) -> UTCTime {
        let day = UTCTime.millisecondsPerDay
        let midnight = instant.millisecondsSince1970 - Int64(instant.millisecondOfDay)
        let sameDay = midnight + timeOfDay.posixMilliseconds
        let difference = sameDay - instant.millisecondsSince1970
        if difference > day / 2 { return UTCTime(millisecondsSince1970: sameDay - day) }
        if difference < -day / 2 { return UTCTime(millisecondsSince1970: sameDay + day) }
        return UTCTime(millisecondsSince1970: sameDay)
    }
}
