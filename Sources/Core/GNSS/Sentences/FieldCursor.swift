import TimeAndChance

/// Reads the fields of one framed sentence from left to right.
///
/// Fields behind the last one read as empty, as the standard's later additions require. How a number is read
/// `SentenceText` knows: nothing but the cursor's own functions, all of them inlined, ever changes a cursor, so that it
/// stays in registers.
@safe struct FieldCursor {
    /// What is wrong with the fields read so far.
    enum Fault: UInt8 {
        case none, malformed, outOfRange
        /// A latitude without a longitude, or the reverse.
        case halfPosition
        /// The flag that says whether the position is valid: the sentence then says nothing about it.
        case unreadableFlag
    }

    /// What one field comes to.
    @safe struct Reading<Value> {
        /// `nil` when the field is empty or at fault.
        var value: Value?
        /// The first byte behind the field's comma.
        let next: UnsafePointer<UInt8>
        var fault = Fault.none
    }

    private let text: SentenceText
    private var position: UnsafePointer<UInt8>
    /// The first fault in a field that the sentence can't do without.
    var fault = Fault.none
    /// The last fault in a field that the sentence can do without; that field counts as empty.
    private(set) var omission = Fault.none
    /// The end of the field at fault, its comma included.
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

    /// Whether no field is left.
    var isAtEnd: Bool { unsafe position == end }

    /// How many fields are left; where nothing is left, one that is empty.
    var fieldsLeft: Int {
        var place = unsafe position
        var count = 1
        while unsafe place != end {
            if unsafe place.pointee == UInt8(ascii: ",") { count += 1 }
            unsafe place += 1
        }
        return count
    }

    @inline(__always)
    mutating func note(_ fault: Fault) {
        guard self.fault == .none else { return }
        self.fault = fault
        unsafe faultEnd = position
    }

    /// Notes that the flag just read is none that its sentence type has.
    @inline(__always)
    mutating func noteUnreadableFlag() {
        fault = .unreadableFlag
        unsafe faultEnd = position
    }

    /// Notes a fault in a field that the sentence can do without.
    @inline(__always)
    mutating func noteOmission(_ fault: Fault) {
        omission = fault
        unsafe omissionEnd = position
    }

    /// Whether a fault was noted in any field.
    @inline(__always)
    var hasFault: Bool { fault.rawValue | omission.rawValue != 0 }

    /// Forgets all faults: the numbers of a void sentence don't matter.
    @inline(__always)
    mutating func forgiveFaults() {
        fault = .none
        omission = .none
    }

    /// Makes a fault in any field a fault of the sentence, which is no use without all of them.
    mutating func requireEveryField() {
        guard fault == .none, omission != .none else { return }
        fault = omission
        unsafe faultEnd = omissionEnd
    }

    /// Steps over `count` fields.
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

    /// Steps over `count` fields, which are so many that they fill several words.
    @inline(__always)
    mutating func skipMany(_ count: Int) { unsafe position = text.place(behind: count, from: position) }

    /// Steps over `text` and gives `true`, if the sentence goes on with it.
    @inline(__always)
    mutating func step(over text: RecentText) -> Bool {
        guard unsafe text.length <= end - position, unsafe text.isRepeated(from: position) else { return false }
        unsafe position += text.length
        return true
    }

    /// The text from here to where `other` is, if that is behind a comma and it has a length to be remembered.
    @inline(__always)
    func text(until other: FieldCursor) -> RecentText? {
        let length = unsafe other.position - position
        guard RecentText.lengths.contains(length), unsafe other.position[-1] == UInt8(ascii: ",") else { return nil }
        return unsafe RecentText(from: position, length: length)
    }

    /// The first byte of a field, 0 when it is empty.
    @inline(__always)
    mutating func letter() -> UInt8 { letter(isFlag: false) }

    /// The byte of a flag, 0 when the field is empty; a longer field can't be read, which is noted.
    @inline(__always)
    mutating func flag() -> UInt8 { letter(isFlag: true) }

    @inline(__always)
    private mutating func letter(isFlag: Bool) -> UInt8 {
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
            if isFlag { noteUnreadableFlag() }
        }
        return byte
    }

    /// The bytes of a field of up to eight, first byte lowest; longer fields are cut.
    mutating func word() -> UInt64 {
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

    /// Whether the rest of the sentence holds `text`, which is in capitals; case does not matter.
    func contains(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            var place = unsafe position
            while unsafe end - place >= text.count {
                if text.indices.allSatisfy({ unsafe Self.capital(place[$0]) == text[$0] }) { return true }
                unsafe place += 1
            }
            return false
        }
    }

    private static func capital(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 0x20 : byte
    }

    /// A number; `nil` when the field is empty, or malformed, which is noted.
    @inline(__always)
    mutating func decimal() -> Decimal? { unsafe take(text.decimal(at: position)) }

    /// A number in `range`, which the sentence can do without; `nil` when the field is empty or at fault.
    @inline(__always)
    mutating func number(in range: ClosedRange<Double>) -> Double? {
        let reading = unsafe text.number(at: position, in: range)
        unsafe position = reading.next
        if reading.fault != .none { noteOmission(reading.fault) }
        return reading.value
    }

    /// A number of base sixty; `nil` when the field is empty, or malformed, which is noted.
    @inline(__always)
    private mutating func sexagesimal() -> Sexagesimal? { unsafe take(text.sexagesimal(at: position)) }

    /// Steps over a field that has been read, and notes its fault.
    @inline(__always)
    private mutating func take<Value>(_ reading: Reading<Value>) -> Value? {
        unsafe position = reading.next
        if reading.fault != .none { note(reading.fault) }
        return reading.value
    }
}

/// Fields with a unit of their own.
extension FieldCursor {
    /// `hhmmss`, with or without a fraction; a bare dot is legal.
    @inline(__always)
    mutating func timeOfDay() -> TimeOfDay? {
        guard let number = sexagesimal() else { return nil }
        let hour = number.whole / 10_000
        let minute = number.whole / 100 % 100
        let second = number.whole % 100
        let isLeapSecond = second == 60 && minute == 59 && hour == 23
        guard !number.isNegative, hour < 24, minute < 60, second < 60 || isLeapSecond else {
            note(.outOfRange)
            return nil
        }
        let milliseconds =
            number.decimals <= 3
            ? Int64(number.fraction) * Decimal.powersOfTen[3 - number.decimals]
            : Int64(number.fraction) / Decimal.powersOfTen[number.decimals - 3]
        return TimeOfDay(milliseconds: Int32((hour * 3600 + minute * 60 + second) * 1000) + Int32(milliseconds))
    }

    /// A coordinate and its letter, as `5231.50000,N`: degrees and minutes written as one number.
    @inline(__always)
    mutating func coordinate(positive: UInt8, negative: UInt8, maximumDegrees: Int64) -> Double? {
        let number = sexagesimal()
        let hemisphere = letter()
        guard let number else {
            if hemisphere != 0, hemisphere != positive, hemisphere != negative { note(.malformed) }
            return nil
        }
        guard hemisphere == positive || hemisphere == negative else {
            note(.malformed)
            return nil
        }
        let scale = Decimal.powersOfTen[number.decimals]
        let degrees = number.whole / 100
        let minutes = number.whole % 100
        let total = Int64(degrees * 60 + minutes) * scale + Int64(number.fraction)
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
    mutating func date() -> Int32? { dateDigits().flatMap { Self.date(ofDigits: $0) } }

    /// The digits of a date, as a number.
    @inline(__always)
    mutating func dateDigits() -> Int64? { unsafe take(text.digits(at: position)) }

    /// The date of which `digits` are the `ddmmyy`.
    @inline(never)
    static func date(ofDigits digits: Int64) -> Int32? {
        let day = digits / 10_000
        let month = digits / 100 % 100
        let year = digits % 100
        return Self.days(year: Int(year < 80 ? year + 2000 : year + 1900), month: Int(month), day: Int(day))
    }

    /// Days since 1970-01-01 of a date that exists; `nil` for any other.
    static func days(year: Int, month: Int, day: Int) -> Int32? {
        guard (1980...2999).contains(year), UTCTime.hasDay(day, ofMonth: month, in: year) else { return nil }
        return Int32(UTCTime(year: year, month: month, day: day).daysSince1970)
    }
}
