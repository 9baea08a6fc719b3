package import GNSS

extension UTCTime {
    /// A date and time of RFC 3339 in UTC, as `2026-03-31T10:30:23.000Z`; a leap second is held at the end of the one
    /// before.
    package init?(rfc3339 text: String) {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>, _ allowed: ClosedRange<Int>) -> Int? {
            guard range.upperBound <= bytes.count else { return nil }
            var value = 0
            for byte in bytes[range] {
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int(byte - 0x30)
            }
            return allowed.contains(value) ? value : nil
        }
        guard let year = number(0..<4, 1970...9999), let month = number(5..<7, 1...12),
            let day = number(8..<10, 1...31),
            let hour = number(11..<13, 0...23), let minute = number(14..<16, 0...59),
            let second = number(17..<19, 0...60),
            [4, 7, 10, 13, 16].map({ bytes[$0] }) == Array("--T::".utf8), bytes.last == UInt8(ascii: "Z")
        else { return nil }
        let fraction = bytes[19..<(bytes.count - 1)]
        var milliseconds = 0
        if !fraction.isEmpty {
            guard fraction.first == UInt8(ascii: "."), fraction.dropFirst().allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            let digits = (fraction.dropFirst() + [0x30, 0x30, 0x30]).prefix(3)
            milliseconds = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        if second == 60 { milliseconds = 999 }
        let secondOfDay = (hour * 60 + minute) * 60 + min(second, 59)
        self.init(year: year, month: month, day: day, millisecondOfDay: secondOfDay * 1000 + milliseconds)
        guard civilDate == (year, month, day) else { return nil }
    }
}
