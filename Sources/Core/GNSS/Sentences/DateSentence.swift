import TimeAndRandomness

/// ZDA and PUBX,04: a date with a time of day. These sentences have no flag that says whether the date is valid.
struct DateSentence: Hashable {
    let timeOfDay: TimeOfDay
    /// The number of days since 1970-01-01.
    let date: Int32

    var instant: UTCTime {
        UTCTime(millisecondsSince1970: Int64(date) * UTCTime.millisecondsPerDay + timeOfDay.posixMilliseconds)
    }
}

extension DateSentence {
    /// Reads ZDA or PUBX,04; `nil` if a value is missing or faulty.
    init?(_ type: SentenceType, _ fields: inout FieldCursor) {
        if type == .zda { self.init(zda: &fields) } else { self.init(pubx04: &fields) }
    }

    /// Reads ZDA: time, day, month and year. The time is UTC, whatever the zone fields contain.
    private init?(zda fields: inout FieldCursor) {
        guard let timeOfDay = fields.readTimeOfDay(),
            let day = fields.readNumber(in: 1...31), let month = fields.readNumber(in: 1...12),
            let year = fields.readNumber(in: 1980...2999),
            let date = FieldCursor.daysSince1970(year: Int(year), month: Int(month), day: Int(day))
        else {
            fields.requireEveryField()
            return nil
        }
        self.init(timeOfDay: timeOfDay, date: date)
    }

    /// Reads PUBX,04: a time, and a date in the form `ddmmyy`.
    private init?(pubx04 fields: inout FieldCursor) {
        guard let timeOfDay = fields.readTimeOfDay(), let date = fields.readDate() else { return nil }
        self.init(timeOfDay: timeOfDay, date: date)
    }
}

/// A UTC time of day in milliseconds.
///
/// The values of the leap second 23:59:60 begin at 86,400,000, so that it differs from both 23:59:59 and midnight.
struct TimeOfDay: Sendable, Hashable {
    let milliseconds: Int32

    static let millisecondsPerDay: Int32 = 86_400_000
    /// The maximum difference between the times in the sentences of one epoch. Some receivers' times differ by up to 5
    /// ms. Epochs are at least 50 ms apart.
    static let tolerance: Int32 = 10
    private static let quarterOfAnHour: Int32 = 900_000
    /// The tolerance for recognising a time zone's offset. Local clocks are set to the second at best.
    private static let zoneTolerance: Int32 = 2000

    var isLeapSecond: Bool { milliseconds >= Self.millisecondsPerDay }

    /// The milliseconds since midnight in POSIX time. POSIX time has no leap second, so a leap second becomes
    /// 23:59:59.999.
    var posixMilliseconds: Int64 { Int64(min(milliseconds, Self.millisecondsPerDay - 1)) }

    /// Whether both times belong to the same epoch.
    @inline(__always)
    func isSameEpoch(as other: TimeOfDay) -> Bool {
        let difference = abs(milliseconds - other.milliseconds)
        if difference <= Self.tolerance { return true }
        return difference >= Self.millisecondsPerDay - Self.tolerance && !isLeapSecond && !other.isLeapSecond
    }

    /// Whether the difference between two clocks is close to a multiple of a quarter of an hour, so that it may be due
    /// to time zones.
    static func isZoneOffset(milliseconds: Int32) -> Bool {
        let remainder = abs(milliseconds) % quarterOfAnHour
        return abs(milliseconds) >= quarterOfAnHour - zoneTolerance
            && (remainder <= zoneTolerance || remainder >= quarterOfAnHour - zoneTolerance)
    }

    /// Returns the time from `other` to this time, going the shorter way around midnight: -12 h...12 h.
    func milliseconds(since other: TimeOfDay) -> Int32 {
        let difference = milliseconds - other.milliseconds
        if difference > Self.millisecondsPerDay / 2 { return difference - Self.millisecondsPerDay }
        if difference < -Self.millisecondsPerDay / 2 { return difference + Self.millisecondsPerDay }
        return difference
    }
}
