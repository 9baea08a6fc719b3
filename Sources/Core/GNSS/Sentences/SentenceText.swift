/// The text of a sentence's fields, and the parsing of the numbers in it.
///
/// Nearly all numbers have fewer than eight characters, or are times and coordinates with fewer than sixteen. Such
/// numbers are parsed eight bytes at a time. All others are parsed one character at a time, with the same results.
@safe struct SentenceText {
    /// The first byte of the first field.
    let fields: UnsafePointer<UInt8>
    /// The byte after the last field. It is readable, and neither a digit nor a comma.
    let end: UnsafePointer<UInt8>
    /// The end of the readable bytes. Reading eight bytes at once may go beyond the sentence, but not beyond this
    /// end.
    let readableEnd: UnsafePointer<UInt8>

    /// Returns a pointer to the first byte after the field at `place` and its comma.
    @inline(__always)
    private func startOfField(after place: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var place = unsafe place
        while unsafe place != end {
            let isComma = unsafe place.pointee == UInt8(ascii: ",")
            unsafe place += 1
            if isComma { break }
        }
        return unsafe place
    }

    /// Returns a pointer to the first byte after the `count` fields that begin at `start`. Scans eight bytes at a time.
    @inline(never)
    func startOfField(afterSkipping count: Int, from start: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var place = unsafe start
        var left = count
        while unsafe end - place >= 8 {
            let commas = unsafe SWAR.count(of: UInt8(ascii: ","), in: SWAR.word(at: place))
            guard commas < left else { break }
            left -= commas
            unsafe place += 8
        }
        for _ in 0..<left { unsafe place = startOfField(after: place) }
        return unsafe place
    }

    /// Returns the number at `place`. The result contains a fault if the number is malformed or outside `range`.
    @inline(never)
    func number(at place: UnsafePointer<UInt8>, in range: ClosedRange<Double>) -> FieldCursor.Reading<Double> {
        guard let length = unsafe shortFieldLength(at: place) else { return unsafe anyNumber(at: place, in: range) }
        guard length > 0 else { return unsafe FieldCursor.Reading(value: nil, nextField: place + 1) }
        let word = unsafe PackedDigits(SWAR.word(at: place))
        guard let value = Decimal(plain: word.first(length), length: length)?.value, range.contains(value) else {
            return unsafe anyNumber(at: place, in: range)
        }
        return unsafe FieldCursor.Reading(value: value, nextField: place + length + 1)
    }

    /// Returns the number at `place`, which may have any form and length.
    @inline(never)
    private func anyNumber(
        at place: UnsafePointer<UInt8>, in range: ClosedRange<Double>
    ) -> FieldCursor.Reading<Double> {
        let decimal = unsafe anyDecimal(at: place)
        guard let value = decimal.value?.value else {
            return unsafe FieldCursor.Reading(value: nil, nextField: decimal.nextField, fault: decimal.fault)
        }
        let isInRange = range.contains(value)
        return unsafe FieldCursor.Reading(
            value: isInRange ? value : nil, nextField: decimal.nextField, fault: isInRange ? .none : .outOfRange)
    }

    /// Returns the length of the field at `place`; `nil` if it is eight or more, or if no comma follows the field.
    @inline(__always)
    private func shortFieldLength(at place: UnsafePointer<UInt8>) -> Int? {
        guard unsafe readableEnd - place >= 8 else { return nil }
        let comma = unsafe SWAR.marks(of: UInt8(ascii: ","), in: SWAR.word(at: place))
        // Without a comma, the length is 8.
        let length = comma.trailingZeroBitCount / 8
        return unsafe length < min(8, end - place) ? length : nil
    }

    @inline(__always)
    func decimal(at place: UnsafePointer<UInt8>) -> FieldCursor.Reading<Decimal> {
        guard let length = unsafe shortFieldLength(at: place) else { return unsafe anyDecimal(at: place) }
        guard length > 0 else { return unsafe FieldCursor.Reading(value: nil, nextField: place + 1) }
        let word = unsafe PackedDigits(SWAR.word(at: place))
        guard let decimal = Decimal(plain: word.first(length), length: length) else {
            return unsafe anyDecimal(at: place)
        }
        return unsafe FieldCursor.Reading(value: decimal, nextField: place + length + 1)
    }

    /// Returns the number at `place`, whatever its form, length and value.
    @inline(never)
    private func anyDecimal(at place: UnsafePointer<UInt8>) -> FieldCursor.Reading<Decimal> {
        let next = unsafe startOfField(after: place)
        // There is no comma after the last field.
        let isClosed = unsafe next != place && next[-1] == UInt8(ascii: ",")
        let length = unsafe place.distance(to: next) - (isClosed ? 1 : 0)
        guard length > 0 else { return unsafe FieldCursor.Reading(value: nil, nextField: next) }
        let decimal = unsafe Decimal(UnsafeBufferPointer(start: place, count: length))
        return unsafe FieldCursor.Reading(value: decimal, nextField: next, fault: decimal == nil ? .malformed : .none)
    }

    /// Returns the number in a field that consists only of digits. For any other text, the value is `nil`, but this
    /// isn't a fault.
    @inline(never)
    func digits(at place: UnsafePointer<UInt8>) -> FieldCursor.Reading<Int64> {
        let number = unsafe decimal(at: place)
        guard let value = number.value, value.decimals == 0, !value.isNegative else {
            return unsafe FieldCursor.Reading(value: nil, nextField: number.nextField)
        }
        return unsafe FieldCursor.Reading(value: value.digits, nextField: number.nextField)
    }

    @inline(never)
    func sexagesimal(at place: UnsafePointer<UInt8>) -> FieldCursor.Reading<Sexagesimal> {
        guard unsafe readableEnd - place >= 16 else { return unsafe anySexagesimal(at: place) }
        let comma = unsafe SWAR.marks(of: UInt8(ascii: ","), in: SWAR.word(at: place + 8))
        let length = 8 + comma.trailingZeroBitCount / 8
        guard unsafe length < min(16, end - place),
            let number = unsafe Sexagesimal(
                plain: PackedDigits(SWAR.word(at: place)), PackedDigits(SWAR.word(at: place + length - 8)),
                length: length)
        else { return unsafe anySexagesimal(at: place) }
        return unsafe FieldCursor.Reading(value: number, nextField: place + length + 1)
    }

    @inline(never)
    private func anySexagesimal(at place: UnsafePointer<UInt8>) -> FieldCursor.Reading<Sexagesimal> {
        let decimal = unsafe decimal(at: place)
        return unsafe FieldCursor.Reading(
            value: decimal.value.map { Sexagesimal($0) }, nextField: decimal.nextField, fault: decimal.fault)
    }
}
