import TimeAndRandomness

/// A cursor that reads the fields of one framed sentence from left to right.
///
/// Fields after the last one are read as empty, because newer versions of the standard add fields. `SentenceText`
/// parses the numbers. Only the cursor's own functions change a cursor. They are all inlined, so that the cursor stays
/// in registers.
@safe struct FieldCursor {
    enum Fault: UInt8 {
        case none, malformed, outOfRange
        /// A latitude without a longitude, or a longitude without a latitude.
        case incompletePosition
        /// The flag for the position's validity can't be read, so the sentence is treated as if it said nothing about
        /// the position.
        case unreadableFlag
    }

    /// The parsed value of one field.
    @safe struct Reading<Value> {
        /// The field's value; `nil` if the field is empty or faulty.
        var value: Value?
        /// The first byte after the field's comma.
        let nextField: UnsafePointer<UInt8>
        var fault = Fault.none
    }

    private let text: SentenceText
    private var position: UnsafePointer<UInt8>
    /// The first fault in a required field.
    var fault = Fault.none
    /// The last fault in an optional field. A faulty optional field is treated as empty.
    private(set) var omission = Fault.none
    /// The first byte after the faulty field and its comma.
    private(set) var faultEnd: UnsafePointer<UInt8>
    private(set) var omissionEnd: UnsafePointer<UInt8>

    @inline(__always)
    init(_ text: SentenceText) {
        self.text = text
        unsafe position = text.fields
        unsafe faultEnd = text.fields
        unsafe omissionEnd = text.fields
    }

    private var end: UnsafePointer<UInt8> { unsafe text.end }

    /// Whether all fields have been read.
    var isAtEnd: Bool { unsafe position == end }

    /// The number of fields that haven't been read. It is at least 1, because an empty rest counts as one empty field.
    var remainingFieldCount: Int {
        var place = unsafe position
        var count = 1
        while unsafe place != end {
            if unsafe place.pointee == UInt8(ascii: ",") { count += 1 }
            unsafe place += 1
        }
        return count
    }

    @inline(__always)
    mutating func recordFault(_ fault: Fault) {
        guard self.fault == .none else { return }
        self.fault = fault
        unsafe faultEnd = position
    }

    /// Records that the flag that was just read has a value that its sentence type doesn't define.
    @inline(__always)
    mutating func recordUnreadableFlag() {
        fault = .unreadableFlag
        unsafe faultEnd = position
    }

    /// Records a fault in an optional field.
    @inline(__always)
    mutating func recordOmission(_ fault: Fault) {
        omission = fault
        unsafe omissionEnd = position
    }

    /// Whether a fault has been recorded in any field.
    @inline(__always)
    var hasFault: Bool { fault.rawValue | omission.rawValue != 0 }

    /// Discards all recorded faults, because the numbers of a void sentence aren't used.
    @inline(__always)
    mutating func clearFaults() {
        fault = .none
        omission = .none
    }

    /// Treats a fault in an optional field like a fault in a required field.
    mutating func requireEveryField() {
        guard fault == .none, omission != .none else { return }
        fault = omission
        unsafe faultEnd = omissionEnd
    }

    @inline(__always)
    mutating func skip(_ count: Int = 1) {
        var place = unsafe position
        var left = count
        while left > 0, unsafe place != end {
            if unsafe place.pointee == UInt8(ascii: ",") { left -= 1 }
            unsafe place += 1
        }
        unsafe position = place
    }

    /// Skips `count` fields, eight bytes at a time, which is faster than `skip` for many fields.
    @inline(__always)
    mutating func skipMany(_ count: Int) { unsafe position = text.startOfField(afterSkipping: count, from: position) }

    /// Skips `text` if the sentence continues with it. Returns whether `text` was skipped.
    @inline(__always)
    mutating func skipIfRepeated(_ text: CachedText) -> Bool {
        guard unsafe text.length <= end - position, unsafe text.matchesBytes(at: position) else { return false }
        unsafe position += text.length
        return true
    }

    /// Returns the text between this cursor and `other`; `nil` if the text doesn't end with a comma, or if its length
    /// prevents caching.
    @inline(__always)
    func cachedText(until other: FieldCursor) -> CachedText? {
        let length = unsafe other.position - position
        guard CachedText.possibleLengths.contains(length), unsafe other.position[-1] == UInt8(ascii: ",") else {
            return nil
        }
        return unsafe CachedText(from: position, length: length)
    }

    /// Reads a field and returns its first byte; 0 if the field is empty.
    @inline(__always)
    mutating func readLetter() -> UInt8 { readLetter(isFlag: false) }

    /// Reads a one-byte flag; 0 if the field is empty. Records a fault if the field is longer.
    @inline(__always)
    mutating func readFlag() -> UInt8 { readLetter(isFlag: true) }

    @inline(__always)
    private mutating func readLetter(isFlag: Bool) -> UInt8 {
        guard unsafe position != end else { return 0 }
        let byte = unsafe position.pointee
        if byte == UInt8(ascii: ",") {
            unsafe position += 1
            return 0
        }
        if unsafe position + 1 == end {
            unsafe position = end
        } else if unsafe position[1] == UInt8(ascii: ",") {
            unsafe position += 2
        } else {
            skip()
            if isFlag { recordUnreadableFlag() }
        }
        return byte
    }

    /// Reads up to eight bytes of a field, with the first byte in the lowest bits. The rest of a longer field is
    /// skipped.
    mutating func readWord() -> UInt64 {
        var word = UInt64(0)
        var shift = UInt64(0)
        while unsafe position != end, unsafe position.pointee != UInt8(ascii: ",") {
            if shift < 64 { unsafe word |= UInt64(position.pointee) << shift }
            shift += 8
            unsafe position += 1
        }
        if unsafe position != end { unsafe position += 1 }
        return word
    }

    /// Whether the rest of the sentence contains `text` in upper or lower case. `text` itself must be in capitals.
    func contains(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            var place = unsafe position
            while unsafe end - place >= text.count {
                if text.indices.allSatisfy({ unsafe Self.uppercased(place[$0]) == text[$0] }) { return true }
                unsafe place += 1
            }
            return false
        }
    }

    private static func uppercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 0x20 : byte
    }

    /// Reads a required number. Returns `nil` if the field is empty or malformed, and records a fault if it is
    /// malformed.
    @inline(__always)
    mutating func readDecimal() -> Decimal? { unsafe consume(text.decimal(at: position)) }

    /// Reads an optional number in `range`; `nil` if the field is empty or faulty.
    @inline(__always)
    mutating func readNumber(in range: ClosedRange<Double>) -> Double? {
        let reading = unsafe text.number(at: position, in: range)
        unsafe position = reading.nextField
        if reading.fault != .none { recordOmission(reading.fault) }
        return reading.value
    }

    /// Moves past the field of `reading`, records the field's fault, and returns its value.
    @inline(__always)
    private mutating func consume<Value>(_ reading: Reading<Value>) -> Value? {
        unsafe position = reading.nextField
        if reading.fault != .none { recordFault(reading.fault) }
        return reading.value
    }
}

/// The reading of fields with units.
extension FieldCursor {
    /// Reads a time `hhmmss`, with or without a fraction. The standard allows a decimal point without digits after it.
    @inline(__always)
    mutating func readTimeOfDay() -> TimeOfDay? {
        guard let number = unsafe consume(text.sexagesimal(at: position)) else { return nil }
        let hour = number.whole / 10_000
        let minute = number.whole / 100 % 100
        let second = number.whole % 100
        let isLeapSecond = second == 60 && minute == 59 && hour == 23
        guard !number.isNegative, hour < 24, minute < 60, second < 60 || isLeapSecond else {
            recordFault(.outOfRange)
            return nil
        }
        let milliseconds =
            number.decimals <= 3
            ? Int64(number.fraction) * Decimal.powersOfTen[3 - number.decimals]
            : Int64(number.fraction) / Decimal.powersOfTen[number.decimals - 3]
        return TimeOfDay(milliseconds: Int32((hour * 3600 + minute * 60 + second) * 1000) + Int32(milliseconds))
    }

    /// Reads a coordinate and its hemisphere letter, such as `5231.50000,N`. Degrees and minutes are written as one
    /// number.
    @inline(__always)
    mutating func readCoordinate(positive: UInt8, negative: UInt8, maximumDegrees: Int64) -> Double? {
        let number = unsafe consume(text.sexagesimal(at: position))
        let hemisphere = readLetter()
        guard let number else {
            if hemisphere != 0, hemisphere != positive, hemisphere != negative { recordFault(.malformed) }
            return nil
        }
        guard hemisphere == positive || hemisphere == negative else {
            recordFault(.malformed)
            return nil
        }
        let scale = Decimal.powersOfTen[number.decimals]
        let degrees = number.whole / 100
        let minutes = number.whole % 100
        let total = Int64(degrees * 60 + minutes) * scale + Int64(number.fraction)
        guard !number.isNegative, minutes < 60, total <= maximumDegrees * 60 * scale else {
            recordFault(.outOfRange)
            return nil
        }
        let value = Double(total) / Double(60 * scale)
        return hemisphere == negative ? -value : value
    }

    @inline(__always)
    mutating func readLatitude() -> Double? {
        readCoordinate(positive: UInt8(ascii: "N"), negative: UInt8(ascii: "S"), maximumDegrees: 90)
    }

    @inline(__always)
    mutating func readLongitude() -> Double? {
        readCoordinate(positive: UInt8(ascii: "E"), negative: UInt8(ascii: "W"), maximumDegrees: 180)
    }

    /// Reads a speed in knots and returns it in metres per second. The maximum is 1,000 knots, which is the limit for
    /// receivers that may be exported.
    @inline(__always)
    mutating func readSpeedInKnots() -> Double? {
        readNumber(in: 0...1000).map { $0 * 1852 / 3600 }
    }

    /// Reads a speed in km/h and returns it in metres per second.
    @inline(__always)
    mutating func readSpeedInKilometersPerHour() -> Double? {
        readNumber(in: 0...1852).map { $0 / 3.6 }
    }

    /// Reads a course in degrees from north; 360 becomes 0.
    @inline(__always)
    mutating func readCourse() -> Double? {
        readNumber(in: 0...360).map { $0 == 360 ? 0 : $0 }
    }

    /// Reads a dilution of precision; `nil` if it is 0 or at least 99, because receivers send such values for an
    /// unknown dilution.
    @inline(__always)
    mutating func readDilution() -> Double? {
        guard let value = readNumber(in: 0...9999) else { return nil }
        return value > 0 && value < 99 ? value : nil
    }

    /// Reads an error estimate in metres; `nil` if it is 0, because receivers send 0 for an unknown error.
    @inline(__always)
    mutating func readErrorInMeters() -> Double? {
        guard let value = readNumber(in: 0...999_999_999) else { return nil }
        return value > 0 ? value : nil
    }

    /// Reads a date `ddmmyy` and returns the days since 1970-01-01. Years from 80 on are in the twentieth century,
    /// because GPS began in 1980.
    ///
    /// A date that can't be right isn't a fault, because some receivers send a correct position with such a date, for
    /// example in month 0.
    mutating func readDate() -> Int32? { readDateDigits().flatMap { Self.daysSince1970(ofDateDigits: $0) } }

    /// Reads a field that consists only of digits as one number; `nil` for any other field.
    @inline(__always)
    mutating func readDateDigits() -> Int64? { unsafe consume(text.digits(at: position)) }

    /// Returns the date `ddmmyy` whose digits form the number `digits`, in days since 1970-01-01; `nil` if the date
    /// doesn't exist.
    @inline(never)
    static func daysSince1970(ofDateDigits digits: Int64) -> Int32? {
        let day = digits / 10_000
        let month = digits / 100 % 100
        let year = digits % 100
        return Self.daysSince1970(year: Int(year < 80 ? year + 2000 : year + 1900), month: Int(month), day: Int(day))
    }

    /// Returns the days since 1970-01-01; `nil` if the date doesn't exist or is before 1980.
    static func daysSince1970(year: Int, month: Int, day: Int) -> Int32? {
        guard (1980...2999).contains(year), UTCTime.hasDay(day, ofMonth: month, in: year) else { return nil }
        return Int32(UTCTime(year: year, month: month, day: day).daysSince1970)
    }
}
