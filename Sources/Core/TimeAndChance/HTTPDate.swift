/// Moments as HTTP writes them (RFC 9110, section 5.6.7).
extension UTCTime {
    /// The form that senders must write, in whole seconds: `Sun, 06 Nov 1994 08:49:37 GMT`.
    package var httpDate: String {
        let ((year, month, day), second) = (civilDate, millisecondOfDay / 1000)
        let weekday = Self.weekdays[Int((daysSince1970 % 7 + 11) % 7)]  // 1970 began on a Thursday
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(weekday), \(two(day)) \(Self.months[month - 1]) \(year) "
            + "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
    }

    /// Reads the form above and the two obsolete ones; `nil` for anything else.
    package init?(httpDate text: String) {
        let words = text.lowercased().split { $0 == " " || $0 == "," || $0 == "-" }
        guard words.count >= 5 else { return nil }
        let isUnixForm = Self.months.contains { $0.lowercased() == words[1] }  // Sun Nov  6 08:49:37 1994
        guard isUnixForm ? words.count == 5 : words.count == 6 && words[5] == "gmt" else { return nil }
        let (dayText, monthText, yearText, timeText) =
            isUnixForm ? (words[2], words[1], words[4], words[3]) : (words[1], words[2], words[3], words[4])
        let clock = timeText.split(separator: ":", omittingEmptySubsequences: false)
        guard let month = Self.months.firstIndex(where: { $0.lowercased() == monthText }),
            let day = Self.number(dayText, 1...31), let year = Self.year(yearText), clock.count == 3,
            let hour = Self.number(clock[0], 0...23), let minute = Self.number(clock[1], 0...59),
            let second = Self.number(clock[2], 0...60)
        else { return nil }
        self.init(
            year: year, month: month + 1, day: day, millisecondOfDay: ((hour * 60 + minute) * 60 + second) * 1000)
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Four digits, or two that mean 1970 to 2069.
    private static func year(_ text: Substring) -> Int? {
        guard let value = number(text, 0...9999) else { return nil }
        guard text.utf8.count == 2 else { return text.utf8.count == 4 ? value : nil }
        return value < 70 ? 2000 + value : 1900 + value
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let value = Int(text),
            range.contains(value)
        else { return nil }
        return value
    }
}
