/// A date of a header field in the one form that senders may generate, IMF-fixdate (RFC 9110, section 5.6.7):
/// `Sun, 06 Nov 1994 08:49:37 GMT`.
package struct HTTPDate: Sendable, Hashable, CustomStringConvertible {
    package let secondsSince1970: Int64

    package init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

    /// `nil` when `text` has another form or names a moment that does not exist.
    package init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let day = Int(words[1]),
            let month = Self.months.firstIndex(of: String(words[2])), let year = Int(words[3])
        else { return nil }
        let time = words[4].split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
        guard (1...31).contains(day), (1970...9999).contains(year), time.count == 3, (0...23).contains(time[0]),
            (0...59).contains(time[1]), (0...60).contains(time[2])
        else { return nil }
        let days = Self.days(toYear: year) + Self.days(toMonth: month, ofYear: year) + day - 1
        secondsSince1970 = Int64(days * 86_400 + time[0] * 3600 + time[1] * 60 + time[2])
    }

    package var description: String {
        var days = Int(secondsSince1970 / 86_400)
        let second = Int(secondsSince1970 % 86_400)
        let weekday = Self.weekdays[(days + 4) % 7]  // 1970 began on a Thursday
        var year = 1970 + days / 366
        while Self.days(toYear: year + 1) <= days { year += 1 }
        days -= Self.days(toYear: year)
        let month = Self.months.indices.last { Self.days(toMonth: $0, ofYear: year) <= days } ?? 0
        days -= Self.days(toMonth: month, ofYear: year)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(weekday), \(two(days + 1)) \(Self.months[month]) \(year) "
            + "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let daysBeforeMonth = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]

    /// Days from 1970-01-01 to the first of January of `year`.
    private static func days(toYear year: Int) -> Int {
        let before = year - 1
        return (year - 1970) * 365 + (before / 4 - before / 100 + before / 400) - 477  // leap days before 1970
    }

    /// Days from the first of January to the first of the month with index 0...11.
    private static func days(toMonth month: Int, ofYear year: Int) -> Int {
        let isLeap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
        return daysBeforeMonth[month] + (isLeap && month > 1 ? 1 : 0)
    }
}
