/// An instant in UTC, in milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted (POSIX time).
///
/// Core knows neither Foundation nor the system clock: a time comes from the receiver, from a server, or is handed in.
package struct UTCTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var millisecondsSince1970: Int64

    @inlinable
    package init(millisecondsSince1970: Int64) { self.millisecondsSince1970 = millisecondsSince1970 }

    /// A civil date and time of day; nothing is range-checked.
    package init(year: Int, month: Int, day: Int, millisecondOfDay: Int = 0) {
        // Days from civil: the year begins in March, so that the leap day is its last.
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        millisecondsSince1970 = Int64(days) * Self.millisecondsPerDay + Int64(millisecondOfDay)
    }

    package static let millisecondsPerDay: Int64 = 86_400_000

    @inlinable
    package static func < (one: Self, other: Self) -> Bool {
        one.millisecondsSince1970 < other.millisecondsSince1970
    }

    /// With milliseconds.
    package var secondsSince1970: Double { Double(millisecondsSince1970) / 1000 }

    /// At most to the end, or the beginning, of what can be written as a date: the years 0 to 9999.
    package func advanced(by duration: Duration) -> Self {
        let (seconds, attoseconds) = duration.components
        let (first, last) = (Self.writable.lowerBound, Self.writable.upperBound - 1)
        let limit = (last - first) / 1000 + 1
        let step = min(max(seconds, -limit), limit) * 1000 + attoseconds / 1_000_000_000_000_000
        let here = min(max(millisecondsSince1970, first), last)
        return Self(millisecondsSince1970: min(max(here + step, first), last))
    }

    /// Milliseconds since 1970 that can be written as a date: the years 0 to 9999.
    package static let writable: Range<Int64> = -62_167_219_200_000..<253_402_300_800_000

    package func duration(to other: Self) -> Duration {
        .milliseconds(other.millisecondsSince1970 - millisecondsSince1970)
    }

    /// Year, month 1...12 and day 1...31 in the Gregorian calendar.
    package var civilDate: (year: Int, month: Int, day: Int) {
        let days = Int(daysSince1970) + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// Whether the Gregorian calendar has that day.
    package static func hasDay(_ day: Int, ofMonth month: Int, in year: Int) -> Bool {
        guard (1...12).contains(month) else { return false }
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        // From July to August the long months change from odd to even.
        let last = month == 2 ? (isLeapYear ? 29 : 28) : 30 + (month ^ month >> 3) & 1
        return (1...last).contains(day)
    }

    /// Milliseconds since midnight, 0..<86,400,000.
    package var millisecondOfDay: Int { Int(millisecondsSince1970 - daysSince1970 * Self.millisecondsPerDay) }

    /// Whole days since 1970-01-01, negative before.
    package var daysSince1970: Int64 {
        let (days, rest) = millisecondsSince1970.quotientAndRemainder(dividingBy: Self.millisecondsPerDay)
        return rest < 0 ? days - 1 : days
    }
}
