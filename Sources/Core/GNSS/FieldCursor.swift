/// Reads the fields of one framed sentence from left to right.
///
/// The byte behind the last field (`*`, CR or LF) stops every run of digits, so that only steps over unknown text
/// need to look at `end`. Fields behind the last one read as empty, as the standard's later additions require.
@safe struct FieldCursor {
    /// What is wrong with the fields read so far.
    enum Fault: UInt8 {
        case none, malformed, outOfRange
        /// A latitude without a longitude, or the reverse.
        case halfPosition
    }

    private var position: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>
    var fault = Fault.none
    /// Behind the field at fault, its comma included; serves explanations alone.
    private var faultEnd: UnsafePointer<UInt8>

    /// - Parameters:
    ///   - position: the first byte of the first field.
    ///   - end: the byte that ends the sentence; readable, neither digit nor comma.
    @inline(__always)
    init(from position: UnsafePointer<UInt8>, to end: UnsafePointer<UInt8>) {
        unsafe (self.position, self.end, faultEnd) = (position, end, position)
    }

    /// Whether no field is left.
    var isAtEnd: Bool { unsafe position == end }

    @inline(__always)
    mutating func note(_ fault: Fault) {
        guard self.fault == .none else { return }
        self.fault = fault
        unsafe faultEnd = position
    }

    /// How many bytes behind `start`, the first field, the field at fault ends, its comma included.
    func faultOffset(from start: UnsafePointer<UInt8>) -> Int { unsafe faultEnd - start }

    /// Steps over `count` fields.
    @inline(__always)
    mutating func skip(_ count: Int = 1) {
        var (place, left) = unsafe (position, count)
        while left > 0, unsafe place != end {
            if unsafe place.pointee == UInt8(ascii: ",") { left -= 1 }
            unsafe place += 1
        }
        unsafe position = place
    }

    /// The first byte of a field, 0 when it is empty.
    @inline(__always)
    mutating func letter() -> UInt8 {
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
        }
        return byte
    }

    /// The bytes of a field of up to eight, first byte lowest; longer fields are cut.
    mutating func word() -> UInt64 {
        var (word, shift) = (UInt64(0), UInt64(0))
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
    mutating func decimal() -> Decimal? {
        var place = unsafe position
        var first = unsafe place.pointee
        if first == UInt8(ascii: ",") {
            unsafe position = place + 1
            return nil
        }
        if unsafe place == end { return nil }
        var isNegative = false
        if first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
            isNegative = first == UInt8(ascii: "-")
            unsafe place += 1
            first = unsafe place.pointee
        }
        var whole: Int64 = 0
        let start = unsafe place
        var digit = first &- UInt8(ascii: "0")
        while digit < 10 {
            whole = whole &* 10 &+ Int64(digit)
            unsafe place += 1
            digit = unsafe place.pointee &- UInt8(ascii: "0")
        }
        let wholeDigits = unsafe place - start
        var fraction: Int64 = 0
        var decimals = 0
        if unsafe place.pointee == UInt8(ascii: ".") {
            unsafe place += 1
            digit = unsafe place.pointee &- UInt8(ascii: "0")
            while digit < 10 {
                if decimals < 9 {
                    fraction = fraction &* 10 &+ Int64(digit)
                    decimals += 1
                }
                unsafe place += 1
                digit = unsafe place.pointee &- UInt8(ascii: "0")
            }
        }
        var hasDigits = wholeDigits + decimals > 0
        if unsafe place == end {
            unsafe position = place
        } else if unsafe place.pointee == UInt8(ascii: ",") {
            unsafe position = place + 1
        } else {
            unsafe position = place
            skip()
            hasDigits = false
        }
        guard hasDigits, wholeDigits <= 9 else {
            note(.malformed)
            return nil
        }
        return Decimal(isNegative: isNegative, whole: whole, fraction: fraction, decimals: decimals)
    }

    /// A number in `range`; `nil` when the field is empty or at fault, which is noted.
    @inline(__always)
    mutating func number(in range: ClosedRange<Double>) -> Double? {
        guard let value = decimal()?.value else { return nil }
        guard range.contains(value) else {
            note(.outOfRange)
            return nil
        }
        return value
    }
}
