/// Numbers as ASCII, appended to a buffer that the caller keeps: no allocation once it has its size.
enum DecimalText {
    /// Appends `value` rounded to `decimals`, without trailing zeros: `52.5`, `-0.25`, `7`.
    @inline(__always)
    static func append(_ value: Double, decimals: Int, to bytes: inout [UInt8]) {
        let scale = Decimal.powerOfTen(decimals)
        let scaled = (value * Double(scale)).rounded()
        guard let number = Int64(exactly: scaled) else {
            bytes.append(UInt8(ascii: "0"))
            return
        }
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        let magnitude = number.magnitude
        let whole = magnitude / UInt64(scale)
        append(whole, to: &bytes)
        var fraction = magnitude - whole * UInt64(scale)
        guard fraction > 0 else { return }
        var digits = decimals
        while fraction % 10 == 0 {
            fraction /= 10
            digits -= 1
        }
        bytes.append(UInt8(ascii: "."))
        append(fraction, width: digits, to: &bytes)
    }

    @inline(__always)
    static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var (width, rest) = (1, value)
        while rest >= 10 {
            rest /= 10
            width += 1
        }
        append(value, width: width, to: &bytes)
    }

    /// Appends the lowest `width` digits, zeros in front.
    @inline(__always)
    static func append(_ value: UInt64, width: Int, to bytes: inout [UInt8]) {
        let start = bytes.count
        for _ in 0..<width { bytes.append(UInt8(ascii: "0")) }
        var (rest, place) = (value, start + width)
        while place > start {
            place -= 1
            bytes[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
    }

    /// Appends text known at compile time.
    @inline(__always)
    static func append(_ text: StaticString, to bytes: inout [UInt8]) {
        text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }
}
