/// A decimal number exactly as written: `mantissa` / 10^`decimals`.
struct Decimal {
    let mantissa: Int64
    /// 0...9; further decimals were dropped.
    let decimals: Int

    /// Nearest double: both operands are exact, so that one division rounds once.
    @inline(__always)
    var value: Double { Double(mantissa) / Double(Self.powerOfTen(decimals)) }

    /// Digits before the decimal point.
    @inline(__always)
    var whole: Int64 { mantissa / Self.powerOfTen(decimals) }

    /// 10^`exponent` for 0...9.
    @inline(__always)
    static func powerOfTen(_ exponent: Int) -> Int64 {
        switch exponent {
        case 0: 1
        case 1: 10
        case 2: 100
        case 3: 1000
        case 4: 10_000
        case 5: 100_000
        case 6: 1_000_000
        case 7: 10_000_000
        case 8: 100_000_000
        default: 1_000_000_000
        }
    }
}
