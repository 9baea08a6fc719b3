/// Gives times of day their date.
///
/// Only RMC, ZDA and PUBX,04 state dates. Every other time gets the date that puts it within twelve hours of the
/// last dated instant, so that midnight counts once, whichever sentence crosses it first.
struct FixCalendar {
    /// A date stated outside the position sentences; believed once a fix stands beside it.
    private var offer: DateSentence?
    /// The last dated instant.
    private var last: UTCTime?
    private var dates: NMEADecoderOptions.Dates
    private var warning: ReceiverWarning?

    /// A date sentence this far from a fix still belongs to it: some receivers send it a second ahead.
    private static let offerToleranceMilliseconds: Int32 = 5000

    init(dates: NMEADecoderOptions.Dates) { self.dates = dates }

    /// What the last date was found guilty of.
    mutating func takeWarning() -> ReceiverWarning? {
        defer { warning = nil }
        return warning
    }

    mutating func adoptReference(_ reference: UTCTime) {
        if case .repaired = dates { dates = .repaired(reference: reference) }
    }

    /// Keeps a date that no flag vouches for.
    mutating func consider(_ sentence: DateSentence) { offer = sentence }

    /// The instant of a valid fix; `nil` while no date is known. `dated` is the date that a valid sentence of the same
    /// epoch states, with its own time of day.
    mutating func instant(of timeOfDay: TimeOfDay, dated: DateSentence?) -> UTCTime? {
        if let dated, let stated = believed(dated) {
            last = Self.nearest(to: stated, timeOfDay)
        } else if let offer, abs(offer.timeOfDay.milliseconds(since: timeOfDay)) <= Self.offerToleranceMilliseconds,
            let stated = believed(offer)
        {
            last = Self.nearest(to: stated, timeOfDay)
        } else if let last {
            self.last = Self.nearest(to: last, timeOfDay)
        }
        return last
    }

    /// The instant of an earlier fix that came before the first date.
    func instant(ofEarlier timeOfDay: TimeOfDay) -> UTCTime? { last.map { Self.nearest(to: $0, timeOfDay) } }

    /// The stated instant, repaired where that is wanted; `nil` when it cannot be right.
    private mutating func believed(_ dated: DateSentence) -> UTCTime? {
        let stated = Int64(dated.date) * UTCTime.millisecondsPerDay + dated.timeOfDay.posixMilliseconds
        let meant = dates.instant(meantBy: UTCTime(millisecondsSince1970: stated))
        if let found = meant.warning { warning = found }
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
