/// A decimal number exactly as written.
struct Decimal {
    let isNegative: Bool
    /// The digits before the point.
    let whole: Int64
    /// The digits behind the point, as a number.
    let fraction: Int64
    /// How many digits `fraction` has: 0...9; further ones were dropped.
    let decimals: Int

    /// All digits as one number: units of the last decimal, without sign.
    @inline(__always)
    var mantissa: Int64 { whole * Self.powerOfTen(decimals) + fraction }

    /// Nearest double: both operands are exact, so that one division rounds once.
    @inline(__always)
    var value: Double {
        let magnitude = decimals == 0 ? Double(whole) : Double(mantissa) / Double(Self.powerOfTen(decimals))
        return isNegative ? -magnitude : magnitude
    }

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
