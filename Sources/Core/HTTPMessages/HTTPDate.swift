/// Dates as HTTP writes them (RFC 9110, section 5.6.7), read into seconds since 1970.
package enum HTTPDate {
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT` and the two obsolete forms; `nil` for anything else.
    package static func secondsSince1970(_ text: String) -> Double? {
        let words = text.lowercased().split { $0 == " " || $0 == "," || $0 == "-" }
        guard words.count >= 5 else { return nil }
        let isUnixForm = months.contains(String(words[1]))  // Sun Nov  6 08:49:37 1994
        guard isUnixForm ? words.count == 5 : words.count == 6 && words[5] == "gmt" else { return nil }
        let (dayText, monthText, yearText, timeText) =
            isUnixForm ? (words[2], words[1], words[4], words[3]) : (words[1], words[2], words[3], words[4])
        guard let month = months.firstIndex(of: String(monthText)), let day = number(dayText, 1...31),
            let year = year(yearText), let secondOfDay = secondOfDay(timeText)
        else { return nil }
        return Double(daysSince1970(year: year, month: month + 1, day: day) * 86_400 + secondOfDay)
    }

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
