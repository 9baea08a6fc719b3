/// A moment as HTTP writes it (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
package struct HTTPDate: Sendable, Hashable, CustomStringConvertible {
    package let secondsSince1970: Int64

    package init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

    /// Reads the form above and the two obsolete ones; `nil` for anything else.
    package init?(_ text: String) {
        let words = text.lowercased().split { $0 == " " || $0 == "," || $0 == "-" }
        guard words.count >= 5 else { return nil }
        let isUnixForm = Self.months.contains { $0.lowercased() == words[1] }  // Sun Nov  6 08:49:37 1994
        guard isUnixForm ? words.count == 5 : words.count == 6 && words[5] == "gmt" else { return nil }
        let (dayText, monthText, yearText, timeText) =
            isUnixForm ? (words[2], words[1], words[4], words[3]) : (words[1], words[2], words[3], words[4])
        guard let month = Self.months.firstIndex(where: { $0.lowercased() == monthText }),
            let day = Self.number(dayText, 1...31), let year = Self.year(yearText),
            let secondOfDay = Self.secondOfDay(timeText)
        else { return nil }
        secondsSince1970 = Int64(Self.daysSince1970(year: year, month: month + 1, day: day) * 86_400 + secondOfDay)
    }

    /// The form that senders must write.
    package var description: String {
        var days = Int(secondsSince1970 / 86_400)
        let second = Int(secondsSince1970 % 86_400)
        let weekday = Self.weekdays[(days + 4) % 7]  // 1970 began on a Thursday
        var year = 1970 + days / 366
        while Self.daysSince1970(year: year + 1, month: 1, day: 1) <= days { year += 1 }
        let month = (1...12).last { Self.daysSince1970(year: year, month: $0, day: 1) <= days } ?? 1
        days -= Self.daysSince1970(year: year, month: month, day: 1)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(weekday), \(two(days + 1)) \(Self.months[month - 1]) \(year) "
            + "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Four digits, or two that mean 1970 to 2069.
    private static func year(_ text: Substring) -> Int? {
        guard let value = number(text, 0...9999) else { return nil }
        guard text.utf8.count == 2 else { return text.utf8.count == 4 ? value : nil }
        return value < 70 ? 2000 + value : 1900 + value
    }

    private static func secondOfDay(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(parts[0], 0...23), let minute = number(parts[1], 0...59),
            let second = number(parts[2], 0...60)
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let value = Int(text),
            range.contains(value)
        else { return nil }
        return value
    }

    /// Days of the proleptic Gregorian calendar; the year is taken to begin in March, so that leap days come last.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
