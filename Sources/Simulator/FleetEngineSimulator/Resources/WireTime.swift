package import TimeAndChance

/// A moment as protobuf's JSON mapping writes it: RFC 3339 with a zone, to the nanosecond, without leap seconds.
package struct WireTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let time: UTCTime
    /// Below the millisecond, 0..<1,000,000.
    private let nanoseconds: Int

    package init(_ time: UTCTime) { (self.time, nanoseconds) = (time, 0) }

    /// Reads `2026-01-05T10:15:30.25Z` or with an offset; `nil` for anything else.
    package init?(_ text: String) {
        guard let read = RFC3339Time(text), !read.isLeapSecond else { return nil }
        (time, nanoseconds) = (read.time, read.nanoseconds)
    }

    package static func < (one: Self, other: Self) -> Bool {
        (one.time, one.nanoseconds) < (other.time, other.nanoseconds)
    }

    /// In UTC with 3, 6 or 9 digits of fraction.
    package var description: String {
        guard nanoseconds > 0 else { return time.description }
        let digits = String(1_000_000 + nanoseconds).dropFirst()
        return "\(time.description.dropLast())\(nanoseconds % 1000 == 0 ? digits.dropLast(3) : digits)Z"
    }
}
