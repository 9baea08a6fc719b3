/// Fields with a unit of their own.
extension FieldCursor {
    /// `hhmmss`, with or without a fraction; a bare dot is legal.
    @inline(__always)
    mutating func timeOfDay() -> TimeOfDay? {
        guard let number = decimal() else { return nil }
        let (hour, minute, second) = (number.whole / 10_000, number.whole / 100 % 100, number.whole % 100)
        let isLeapSecond = second == 60 && minute == 59 && hour == 23
        guard !number.isNegative, hour < 24, minute < 60, second < 60 || isLeapSecond else {
            note(.outOfRange)
            return nil
        }
        let milliseconds =
            number.decimals <= 3
            ? number.fraction * Decimal.powerOfTen(3 - number.decimals)
            : number.fraction / Decimal.powerOfTen(number.decimals - 3)
        return TimeOfDay(milliseconds: Int32((hour * 3600 + minute * 60 + second) * 1000 + milliseconds))
    }

    /// A coordinate and its letter, as `5231.50000,N`: degrees and minutes written as one number.
    @inline(__always)
    mutating func coordinate(positive: UInt8, negative: UInt8, maximumDegrees: Int64) -> Double? {
        let number = decimal()
        let hemisphere = letter()
        guard let number else {
            if hemisphere != 0, hemisphere != positive, hemisphere != negative { note(.malformed) }
            return nil
        }
        guard hemisphere == positive || hemisphere == negative else {
            note(.malformed)
            return nil
        }
        let scale = Decimal.powerOfTen(number.decimals)
        let (degrees, minutes) = (number.whole / 100, number.whole % 100)
        let total = (degrees * 60 + minutes) * scale + number.fraction
        guard !number.isNegative, minutes < 60, total <= maximumDegrees * 60 * scale else {
            note(.outOfRange)
            return nil
        }
        let value = Double(total) / Double(60 * scale)
        return hemisphere == negative ? -value : value
    }

    @inline(__always)
    mutating func latitude() -> Double? {
        coordinate(positive: UInt8(ascii: "N"), negative: UInt8(ascii: "S"), maximumDegrees: 90)
    }

    @inline(__always)
    mutating func longitude() -> Double? {
        coordinate(positive: UInt8(ascii: "E"), negative: UInt8(ascii: "W"), maximumDegrees: 180)
    }

    /// Knots to metres per second; up to 1,000 kn, the limit of receivers that may be exported.
    @inline(__always)
    mutating func speedInKnots() -> Double? {
        number(in: 0...1000).map { $0 * 1852 / 3600 }
    }

    @inline(__always)
    mutating func speedInKilometersPerHour() -> Double? {
        number(in: 0...1852).map { $0 / 3.6 }
    }

    /// Degrees from north, 0..<360.
    @inline(__always)
    mutating func course() -> Double? {
        number(in: 0...360).map { $0 == 360 ? 0 : $0 }
    }

    /// A dilution of precision; 0 and 99 upwards stand for unknown.
    @inline(__always)
    mutating func dilution() -> Double? {
        guard let value = number(in: 0...9999) else { return nil }
        return value > 0 && value < 99 ? value : nil
    }

    /// An error estimate in metres; 0 stands for unknown.
    @inline(__always)
    mutating func errorInMeters() -> Double? {
        guard let value = number(in: 0...999_999_999) else { return nil }
        return value > 0 ? value : nil
    }

    /// `ddmmyy` as days since 1970-01-01; two-digit years from 80 on are of the last century (GPS began in 1980).
    ///
    /// A bad date is no fault: receivers with a right position state dates of month 0 and the like.
    mutating func date() -> Int32? {
        let faultBefore = fault
        let number = decimal()
        fault = faultBefore
        guard let number, number.decimals == 0, !number.isNegative else { return nil }
        let (day, month, year) = (number.whole / 10_000, number.whole / 100 % 100, number.whole % 100)
        return Self.days(year: Int(year < 80 ? year + 2000 : year + 1900), month: Int(month), day: Int(day))
    }

    /// Days since 1970-01-01 of a date that exists; `nil` for any other.
    static func days(year: Int, month: Int, day: Int) -> Int32? {
        guard (1...12).contains(month), (1...31).contains(day), (1980...2999).contains(year) else { return nil }
        let time = UTCTime(year: year, month: month, day: day)
        let date = time.civilDate
        guard date.month == month, date.day == day else { return nil }
        return Int32(time.millisecondsSince1970 / UTCTime.millisecondsPerDay)
    }
}
