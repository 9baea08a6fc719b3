/// A decimal number that keeps all digits as they were written.
struct Decimal {
    var isNegative = false
    /// All digits (at most eighteen) as one number, ignoring the sign and the decimal point.
    let digits: Int64
    /// The number of digits after the decimal point, 0...9. Further digits are dropped.
    let decimals: Int

    /// The powers of ten from 10⁰ to 10⁹.
    static let powersOfTen: InlineArray<10, Int64> = [
        1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
    ]
    private static let scales: InlineArray<10, Double> = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]

    /// The nearest `Double`. Both operands of the division are exact, so the result is rounded only once.
    @inline(__always)
    var value: Double {
        let magnitude = Double(digits) / Self.scales[decimals]
        return isNegative ? -magnitude : magnitude
    }

    /// The part of the number before the decimal point, without the sign.
    @inline(__always)
    var whole: Int64 { decimals == 0 ? digits : digits / Self.powersOfTen[decimals] }
}

extension Decimal {
    /// Parses `length` characters (1...8) that consist of digits and at most one decimal point, as nearly all numbers
    /// do. Returns `nil` for any other text, even if it is a number.
    @inline(__always)
    init?(plain word: PackedDigits, length: Int) {
        let point = word.firstPointBit
        let digits = point == 0 ? word : word.removingCharacter(at: point)
        guard digits.hasOnlyDigits, length > 1 || point == 0 else { return nil }
        self.init(digits: Int64(digits.number), decimals: point == 0 ? 0 : 7 &- point.trailingZeroBitCount / 8)
    }

    /// Parses a number with or without a sign; `nil` if the text isn't a number.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        var index = 0
        var isNegative = false
        if let first = unsafe text.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
            isNegative = first == UInt8(ascii: "-")
            index = 1
        }
        func digit() -> Int64? {
            guard index < text.count else { return nil }
            let digit = unsafe text[index] &- UInt8(ascii: "0")
            return digit < 10 ? Int64(digit) : nil
        }
        var digits = Int64(0)
        var wholeDigits = 0
        var decimals = 0
        while let digit = digit() {
            digits = digits &* 10 &+ digit
            wholeDigits += 1
            index += 1
        }
        if index < text.count, unsafe text[index] == UInt8(ascii: ".") {
            index += 1
            while let digit = digit() {
                if decimals < 9 {
                    digits = digits &* 10 &+ digit
                    decimals += 1
                }
                index += 1
            }
        }
        guard index == text.count, wholeDigits + decimals > 0, wholeDigits <= 9 else { return nil }
        self.init(isNegative: isNegative, digits: digits, decimals: decimals)
    }
}

/// A base-60 number as sentences contain it, without separators between the units: `hhmmss.ss` or `ddmm.mmmmm`.
struct Sexagesimal {
    var isNegative = false
    /// The digits before the decimal point (at most nine) as a number.
    let whole: UInt32
    /// The digits after the decimal point as a number.
    let fraction: UInt32
    /// The number of digits in `fraction`, 0...9.
    let decimals: Int

    /// Parses `length` characters (8...15): up to seven digits, a decimal point, and up to eight digits. `head`
    /// contains the first eight characters and `tail` the last eight. Returns `nil` for any other text.
    @inline(__always)
    init?(plain head: PackedDigits, _ tail: PackedDigits, length: Int) {
        let point = head.firstPointBit
        let wholeDigits = point.trailingZeroBitCount / 8
        let decimals = length - wholeDigits - 1
        guard point != 0, wholeDigits > 0, decimals > 0, decimals <= 8 else { return nil }
        let whole = head.first(wholeDigits)
        let fraction = tail.last(decimals)
        guard whole.hasOnlyDigits, fraction.hasOnlyDigits else { return nil }
        self.whole = whole.number
        self.fraction = fraction.number
        self.decimals = decimals
    }

    init(_ decimal: Decimal) {
        let whole = decimal.whole
        isNegative = decimal.isNegative
        decimals = decimal.decimals
        self.whole = UInt32(whole)
        fraction = UInt32(decimal.digits - whole * Decimal.powersOfTen[decimal.decimals])
    }
}
