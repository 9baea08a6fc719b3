/// Writes sentences with their checksum, fields from left to right.
struct SentenceWriter {
    private(set) var bytes: [UInt8] = []
    private var start = 0

    mutating func begin(_ address: StaticString) {
        bytes.append(UInt8(ascii: "$"))
        start = bytes.count
        address.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }

    /// An empty field.
    mutating func empty(_ count: Int = 1) {
        for _ in 0..<count { bytes.append(UInt8(ascii: ",")) }
    }

    mutating func text(_ text: StaticString) {
        empty()
        text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }

    /// A number given in units of its last decimal, with at least `width` digits before the point.
    mutating func number(_ value: Int64, decimals: Int = 0, width: Int = 1) {
        empty()
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        digits(value.magnitude, decimals: decimals, width: width)
    }

    /// A coordinate in units of 0.00001 minute, with its letter.
    mutating func coordinate(_ value: Int64, degreeDigits: Int, positive: StaticString, negative: StaticString) {
        let magnitude = value.magnitude
        let (degrees, minutes) = magnitude.quotientAndRemainder(dividingBy: 6_000_000)
        empty()
        digits(degrees * 10_000_000 + minutes, decimals: 5, width: degreeDigits + 2)
        text(value < 0 ? negative : positive)
    }

    mutating func end() {
        let sum = bytes[start...].reduce(0, ^)
        let digits = Array("0123456789ABCDEF".utf8)
        bytes += [UInt8(ascii: "*"), digits[Int(sum >> 4)], digits[Int(sum & 15)], 13, 10]
    }

    private mutating func digits(_ value: UInt64, decimals: Int, width: Int) {
        let text = String(value)
        let zeros = max(0, width + decimals - text.utf8.count)
        let all = [UInt8](repeating: UInt8(ascii: "0"), count: zeros) + Array(text.utf8)
        bytes += all.dropLast(decimals)
        if decimals > 0 {
            bytes.append(UInt8(ascii: "."))
            bytes += all.suffix(decimals)
        }
    }
}
