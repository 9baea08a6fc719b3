import TimeAndChance

/// ZDA and PUBX,04: a time of day with its date, valid or not; whether there is a fix others say.
struct DateSentence: Hashable {
    let timeOfDay: TimeOfDay
    /// Days since 1970-01-01.
    let date: Int32

    /// The moment that it states.
    var instant: UTCTime {
        UTCTime(millisecondsSince1970: Int64(date) * UTCTime.millisecondsPerDay + timeOfDay.posixMilliseconds)
    }
}

extension DateSentence {
    /// Reads ZDA or PUBX,04; `nil` if it is of no use.
    init?(_ type: SentenceType, _ fields: inout FieldCursor) {
        if type == .zda { self.init(zda: &fields) } else { self.init(pubx04: &fields) }
    }

    /// ZDA: time, day, month, year; the zone fields do not change that the time is UTC.
    private init?(zda fields: inout FieldCursor) {
        guard let timeOfDay = fields.timeOfDay(),
            let day = fields.number(in: 1...31), let month = fields.number(in: 1...12),
            let year = fields.number(in: 1980...2999),
            let date = FieldCursor.days(year: Int(year), month: Int(month), day: Int(day))
        else {
            fields.requireEveryField()
            return nil
        }
        self.init(timeOfDay: timeOfDay, date: date)
    }

    /// PUBX,04: time and `ddmmyy`.
    private init?(pubx04 fields: inout FieldCursor) {
        guard let timeOfDay = fields.timeOfDay(), let date = fields.date() else { return nil }
        self.init(timeOfDay: timeOfDay, date: date)
    }
}

/// UTC time of day as a sentence states it, in milliseconds.
///
/// The leap second 23:59:60 has values from 86,400,000 on, so that it is neither 23:59:59 nor midnight.
struct TimeOfDay: Sendable, Hashable {
    let milliseconds: Int32

    static let millisecondsPerDay: Int32 = 86_400_000
    /// Sentences of one epoch differ by up to 5 ms on some receivers; epochs are 50 ms apart at least.
    static let tolerance: Int32 = 10
    private static let quarterOfAnHour: Int32 = 900_000
    /// A local clock is set to the second at best.
    private static let zoneTolerance: Int32 = 2000

    var isLeapSecond: Bool { milliseconds >= Self.millisecondsPerDay }

    /// Milliseconds since midnight in POSIX time, which has no leap second: it is held at 23:59:59.999.
    var posixMilliseconds: Int64 { Int64(min(milliseconds, Self.millisecondsPerDay - 1)) }

    /// Whether both name the same epoch.
    @inline(__always)
    func isSameEpoch(as other: TimeOfDay) -> Bool {
        let difference = abs(milliseconds - other.milliseconds)
        if difference <= Self.tolerance { return true }
        return difference >= Self.millisecondsPerDay - Self.tolerance && !isLeapSecond && !other.isLeapSecond
    }

    /// Whether clocks that differ by so many milliseconds may both be right, in two time zones: by quarters of an hour.
    static func isZoneOffset(_ milliseconds: Int32) -> Bool {
        let remainder = abs(milliseconds) % quarterOfAnHour
        return abs(milliseconds) >= quarterOfAnHour - zoneTolerance
            && (remainder <= zoneTolerance || remainder >= quarterOfAnHour - zoneTolerance)
    }

    /// Signed time from `other` to this, the short way round the day.
    func milliseconds(since other: TimeOfDay) -> Int32 {
        let difference = milliseconds - other.milliseconds
        if difference > Self.millisecondsPerDay / 2 { return difference - Self.millisecondsPerDay }
        if difference < -Self.millisecondsPerDay / 2 { return difference + Self.millisecondsPerDay }
        return difference
    }
}
