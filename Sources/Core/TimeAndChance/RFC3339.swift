extension UTCTime {
    /// RFC 3339 in UTC with milliseconds, as `2026-01-05T10:15:30.250Z`.
    package var description: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The same without a fraction of a second that is zero, as `2026-01-05T10:15:30Z`.
    package var shortestDescription: String {
        let text = description
        return text.hasSuffix(".000Z") ? "\(text.dropLast(5))Z" : text
    }

    /// Appends `description` to a buffer that the caller keeps.
    package func append(to bytes: inout [UInt8]) {
        func append(_ value: Int, _ width: Int, _ end: Unicode.Scalar) {
            var divisor = width == 4 ? 1000 : width == 3 ? 100 : 10
            while divisor > 0 {
                bytes.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
                divisor /= 10
            }
            bytes.append(UInt8(ascii: end))
        }
        let ((year, month, day), time) = (civilDate, millisecondOfDay)
        append(Int(year.magnitude), 4, "-")
        append(month, 2, "-")
        append(day, 2, "T")
        append(time / 3_600_000, 2, ":")
        append(time / 60_000 % 60, 2, ":")
        append(time / 1000 % 60, 2, ".")
        append(time % 1000, 3, "Z")
    }

    /// Reads RFC 3339; what is below the millisecond is dropped.
    package init?(rfc3339 text: String) {
        guard let time = RFC3339Time(text)?.time else { return nil }
        self = time
    }
}

/// A date and time of RFC 3339, read: `2026-01-05T10:15:30.25Z`, or with an offset; years 1 to 9999.
package struct RFC3339Time: Sendable, Hashable {
    package let time: UTCTime
    /// Below the millisecond, 0..<1,000,000.
    package let nanoseconds: Int
    /// POSIX time has no 23:59:60: `time` is held at the end of the second before.
    package let isLeapSecond: Bool

    /// `nil` for anything else, as a blank instead of the `T`, or more than nine digits of fraction.
    package init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        func take(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }
        func digits(_ count: ClosedRange<Int>) -> (value: Int, count: Int)? {
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard count.contains(digits.count) else { return nil }
            rest.removeFirst(digits.count)
            return (digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }, digits.count)
        }
        func number(_ range: ClosedRange<Int>, digits width: Int = 2) -> Int? {
            digits(width...width).flatMap { range.contains($0.value) ? $0.value : nil }
        }
        guard let year = number(1...9999, digits: 4), take("-"), let month = number(1...12), take("-"),
            let day = number(1...31), UTCTime.hasDay(day, ofMonth: month, in: year), take("T"),
            let hour = number(0...23), take(":"), let minute = number(0...59), take(":"), let second = number(0...60)
        else { return nil }
        var fraction = 0
        if take(".") {
            guard let (value, count) = digits(1...9) else { return nil }
            fraction = (count..<9).reduce(value) { nanoseconds, _ in nanoseconds * 10 }
        }
        var offset = 0
        if !take("Z") {
            let isWest = rest.first == UInt8(ascii: "-")
            guard take("+") || take("-"), let hours = number(0...23), take(":"), let minutes = number(0...59) else {
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
