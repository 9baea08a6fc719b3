/// An instant in UTC, stored as POSIX milliseconds since 1970-01-01T00:00:00Z. POSIX time doesn't count leap seconds.
///
/// Core uses neither Foundation nor the system clock. Times come from the receiver, from a server, or from the caller.
package struct UTCTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var millisecondsSince1970: Int64

    @inlinable
    package init(millisecondsSince1970: Int64) { self.millisecondsSince1970 = millisecondsSince1970 }

    /// Creates the instant for a date and a time of day, without checking their ranges.
    package init(year: Int, month: Int, day: Int, millisecondOfDay: Int = 0) {
        // In this computation, years begin in March, so that the leap day is the last day of a year.
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

    /// The seconds since 1970-01-01T00:00:00Z, including the fraction of a second.
    package var secondsSince1970: Double { Double(millisecondsSince1970) / 1000 }

    /// Returns this time plus `duration`. The result is limited to the years 0 to 9999, because other years can't be
    /// written as dates.
    package func advanced(by duration: Duration) -> Self {
        let (seconds, attoseconds) = duration.components
        let first = Self.writable.lowerBound
        let last = Self.writable.upperBound - 1
        let limit = (last - first) / 1000 + 1
        let step = min(max(seconds, -limit), limit) * 1000 + attoseconds / 1_000_000_000_000_000
        let here = min(max(millisecondsSince1970, first), last)
        return Self(millisecondsSince1970: min(max(here + step, first), last))
    }

    /// The range of milliseconds since 1970 that can be written as dates: the years 0 to 9999.
    package static let writable: Range<Int64> = -62_167_219_200_000..<253_402_300_800_000

    package func duration(to other: Self) -> Duration {
        .milliseconds(other.millisecondsSince1970 - millisecondsSince1970)
    }

    /// The year, month (1...12) and day (1...31) in the Gregorian calendar.
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

    /// Whether the given day exists in the Gregorian calendar.
    package static func hasDay(_ day: Int, ofMonth month: Int, in year: Int) -> Bool {
        guard (1...12).contains(month) else { return false }
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        // From July to August, the months with 31 days change from odd to even numbers.
        let last = month == 2 ? (isLeapYear ? 29 : 28) : 30 + (month ^ month >> 3) & 1
        return (1...last).contains(day)
    }

    /// The milliseconds since midnight, 0..<86,400,000.
    package var millisecondOfDay: Int { Int(millisecondsSince1970 - daysSince1970 * Self.millisecondsPerDay) }

    /// The whole days since 1970-01-01; negative for earlier dates.
    package var daysSince1970: Int64 {
        let (days, rest) = millisecondsSince1970.quotientAndRemainder(dividingBy: Self.millisecondsPerDay)
        return rest < 0 ? days - 1 : days
    }
}

extension UTCTime {
    /// The time in RFC 3339 format, in UTC with milliseconds, such as `2026-01-05T10:15:30.250Z`.
    package var description: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The time in RFC 3339 format, without the fraction if it is zero, such as `2026-01-05T10:15:30Z`.
    package var shortestDescription: String {
        millisecondOfDay % 1000 == 0 ? "\(description.dropLast(5))Z" : description
    }

    /// Appends `description` to a buffer.
    package func append(to bytes: inout [UInt8]) {
        func append(lastDigitOf value: Int) { bytes.append(UInt8(ascii: "0") + UInt8(value % 10)) }
        func append(lastTwoDigitsOf value: Int, followedBy end: Unicode.Scalar) {
            append(lastDigitOf: value / 10)
            append(lastDigitOf: value)
            bytes.append(UInt8(ascii: end))
        }
        let (year, month, day) = civilDate
        let time = millisecondOfDay
        let yearNumber = Int(year.magnitude)
        append(lastDigitOf: yearNumber / 1000)
        append(lastDigitOf: yearNumber / 100)
        append(lastTwoDigitsOf: yearNumber, followedBy: "-")
        append(lastTwoDigitsOf: month, followedBy: "-")
        append(lastTwoDigitsOf: day, followedBy: "T")
        append(lastTwoDigitsOf: time / 3_600_000, followedBy: ":")
        append(lastTwoDigitsOf: time / 60_000 % 60, followedBy: ":")
        append(lastTwoDigitsOf: time / 1000 % 60, followedBy: ".")
        append(lastDigitOf: time / 100)
        append(lastTwoDigitsOf: time, followedBy: "Z")
    }

    /// Parses a time in RFC 3339 format. Digits after the milliseconds are dropped.
    package init?(rfc3339 text: String) {
        guard let time = RFC3339Time(text)?.time else { return nil }
        self = time
    }
}

/// A date and time parsed from RFC 3339 format, either in UTC, such as `2026-01-05T10:15:30.25Z`, or with an offset.
/// The year is 1 to 9999.
package struct RFC3339Time: Sendable, Hashable {
    package let time: UTCTime
    /// The nanoseconds after the last whole millisecond, 0..<1,000,000.
    package let nanoseconds: Int
    /// Whether the text specifies a leap second. POSIX time has no 23:59:60, so `time` is the end of the previous
    /// second.
    package let isLeapSecond: Bool

    /// Parses `text`. Returns `nil` for any other format, such as one with a space instead of the `T`, or with more
    /// than nine digits in the fraction.
    package init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        func consume(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }
        func parseDigits(count: ClosedRange<Int>) -> (value: Int, count: Int)? {
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard count.contains(digits.count) else { return nil }
            rest.removeFirst(digits.count)
            return (digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }, digits.count)
        }
        func parseNumber(in range: ClosedRange<Int>, digits width: Int = 2) -> Int? {
            parseDigits(count: width...width).flatMap { range.contains($0.value) ? $0.value : nil }
        }
        guard let year = parseNumber(in: 1...9999, digits: 4), consume("-"),
            let month = parseNumber(in: 1...12), consume("-"),
            let day = parseNumber(in: 1...31), UTCTime.hasDay(day, ofMonth: month, in: year), consume("T"),
            let hour = parseNumber(in: 0...23), consume(":"), let minute = parseNumber(in: 0...59), consume(":"),
            let second = parseNumber(in: 0...60)
        else { return nil }
        var fraction = 0
        if consume(".") {
            guard let (value, count) = parseDigits(count: 1...9) else { return nil }
            fraction = (count..<9).reduce(value) { nanoseconds, _ in nanoseconds * 10 }
        }
        var offset = 0
        if !consume("Z") {
            let isWest = rest.first == UInt8(ascii: "-")
            guard consume("+") || consume("-"), let hours = parseNumber(in: 0...23), consume(":"),
                let minutes = parseNumber(in: 0...59)
            else {
                return nil
            }
            offset = (hours * 60 + minutes) * (isWest ? -60 : 60)
        }
        guard rest.isEmpty else { return nil }
        isLeapSecond = second == 60
        if isLeapSecond { fraction = 999_000_000 }
        let secondOfDay = (hour * 60 + minute) * 60 + min(second, 59) - offset
        time = UTCTime(
            year: year, month: month, day: day, millisecondOfDay: secondOfDay * 1000 + fraction / 1_000_000)
        nanoseconds = fraction % 1_000_000
    }
}

/// The conversion to and from the date format of HTTP (RFC 9110, section 5.6.7).
extension UTCTime {
    /// The time in the format that senders must use, in whole seconds, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    package var httpDate: String {
        let (year, month, day) = civilDate
        let second = millisecondOfDay / 1000
        let weekday = Self.weekdays[Int((daysSince1970 % 7 + 11) % 7)]  // 1970 began on a Thursday
        func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(weekday), \(twoDigits(day)) \(Self.months[month - 1]) \(year) "
            + "\(twoDigits(second / 3600)):\(twoDigits(second / 60 % 60)):\(twoDigits(second % 60)) GMT"
    }

    /// Parses a time in the format of `httpDate` or in one of the two obsolete formats; `nil` for any other text.
    package init?(httpDate text: String) {
        let words = text.lowercased().split { $0 == " " || $0 == "," || $0 == "-" }
        guard words.count >= 5 else { return nil }
        let isUnixForm = Self.months.contains { $0.lowercased() == words[1] }  // Sun Nov  6 08:49:37 1994
        guard isUnixForm ? words.count == 5 : words.count == 6 && words[5] == "gmt" else { return nil }
        let monthText = words[isUnixForm ? 1 : 2]
        let clock = words[isUnixForm ? 3 : 4].split(separator: ":", omittingEmptySubsequences: false)
        guard let month = Self.months.firstIndex(where: { $0.lowercased() == monthText }),
            let day = Self.number(words[isUnixForm ? 2 : 1], in: 1...31),
            let year = Self.year(words[isUnixForm ? 4 : 3]), clock.count == 3,
            let hour = Self.number(clock[0], in: 0...23), let minute = Self.number(clock[1], in: 0...59),
            let second = Self.number(clock[2], in: 0...60)
        else { return nil }
        self.init(
            year: year, month: month + 1, day: day, millisecondOfDay: ((hour * 60 + minute) * 60 + second) * 1000)
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns the year that `text` contains in two or four digits; `nil` for any other text. Two digits mean 1970 to
    /// 2069.
    private static func year(_ text: Substring) -> Int? {
        guard let value = number(text, in: 0...9999) else { return nil }
        guard text.utf8.count == 2 else { return text.utf8.count == 4 ? value : nil }
        return value < 70 ? 2000 + value : 1900 + value
    }

    private static func number(_ text: Substring, in range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let value = Int(text),
            range.contains(value)
        else { return nil }
        return value
    }
}
