/// A moment as protobuf's JSON mapping writes it: RFC 3339 with a zone, years 1 to 9999.
package struct WireTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let millisecondsSince1970: Int64
    /// Below the millisecond, 0..<1,000,000.
    private let nanoseconds: Int64

    package init(millisecondsSince1970: Int64) {
        (self.millisecondsSince1970, nanoseconds) = (millisecondsSince1970, 0)
    }

    /// Reads `2026-01-05T10:15:30.25Z` or with an offset; `nil` for anything else, as a blank instead of the `T`.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int64? {
            guard range.upperBound <= bytes.count else { return nil }
            return bytes[range].reduce(into: Int64?(0)) { sum, byte in
                sum = (0x30...0x39).contains(byte) ? sum.map { $0 * 10 + Int64(byte - 0x30) } : nil
            }
        }
        func has(_ character: Unicode.Scalar, at index: Int) -> Bool {
            index < bytes.count && bytes[index] == UInt8(ascii: character)
        }
        guard has("-", at: 4), has("-", at: 7), has("T", at: 10), has(":", at: 13), has(":", at: 16),
            let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19), year >= 1, (1...12).contains(month),
            (1...Self.days(inMonth: month, of: year)).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        var index = 19
        var fraction: Int64 = 0
        if has(".", at: index) {
            let digits = bytes[(index + 1)...].prefix { (0x30...0x39).contains($0) }
            guard (1...9).contains(digits.count) else { return nil }
            fraction = digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
            for _ in digits.count..<9 { fraction *= 10 }
            index += 1 + digits.count
        }
        var offset: Int64 = 0
        if has("Z", at: index) {
            index += 1
        } else {
            guard has("+", at: index) || has("-", at: index), has(":", at: index + 3),
                let hours = number(index + 1..<index + 3), let minutes = number(index + 4..<index + 6), hours < 24,
                minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * (has("-", at: index) ? -60 : 60)
            index += 6
        }
        guard index == bytes.count else { return nil }
        let seconds = Self.daysSince1970(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset
        millisecondsSince1970 = seconds * 1000 + fraction / 1_000_000
        nanoseconds = fraction % 1_000_000
    }

    package static func < (one: Self, other: Self) -> Bool {
        (one.millisecondsSince1970, one.nanoseconds) < (other.millisecondsSince1970, other.nanoseconds)
    }

    /// In UTC with 3, 6 or 9 digits of fraction.
    package var description: String {
        let milliseconds = Self.remainder(millisecondsSince1970, 86_400_000)
        let (year, month, day) = Self.civilDate((millisecondsSince1970 - milliseconds) / 86_400_000)
        var fraction = Self.padded(milliseconds % 1000, 3)
        if nanoseconds > 0 {
            fraction += nanoseconds % 1000 == 0 ? Self.padded(nanoseconds / 1000, 3) : Self.padded(nanoseconds, 6)
        }
        return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))T"
            + "\(Self.padded(milliseconds / 3_600_000, 2)):\(Self.padded(milliseconds / 60_000 % 60, 2)):"
            + "\(Self.padded(milliseconds / 1000 % 60, 2)).\(fraction)Z"
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    private static func remainder(_ value: Int64, _ divisor: Int64) -> Int64 {
        let remainder = value % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        month == 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Days before a year, counted from year 1.
    private static func days(before year: Int64) -> Int64 {
        let past = year - 1
        return past * 365 + past / 4 - past / 100 + past / 400
    }

    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        days(before: year) - days(before: 1970) + (1..<month).reduce(0) { $0 + days(inMonth: $1, of: year) } + day - 1
    }

    private static func civilDate(_ daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = daysSince1970 + Self.days(before: 1970)
        var year = days / 365 + 1  // at least the right one, for no year is shorter
        while Self.days(before: year) > days { year -= 1 }
        var day = days - Self.days(before: year) + 1
        var month: Int64 = 1
        while day > Self.days(inMonth: month, of: year) {
            day -= Self.days(inMonth: month, of: year)
            month += 1
        }
        return (year, month, day)
    }
}
