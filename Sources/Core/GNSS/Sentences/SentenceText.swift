/// Where the fields of a sentence lie, and how the number at a place among them is read.
///
/// Nearly all numbers have fewer than eight characters, or are times and coordinates of fewer than sixteen: these are
/// read in words of eight. What does not look like that is read by the character, which comes to the same.
@safe struct SentenceText {
    /// The first byte of the first field.
    let fields: UnsafePointer<UInt8>
    /// The byte that ends the sentence; readable, neither digit nor comma.
    let end: UnsafePointer<UInt8>
    /// The end of what is readable: words are read beyond the sentence, if there is more.
    let limit: UnsafePointer<UInt8>

    /// The place behind the field at `place`, its comma included.
    @inline(__always)
    private func next(behind place: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var place = unsafe place
        while unsafe place != end {
            let isComma = unsafe place.pointee == UInt8(ascii: ",")
            unsafe place += 1
            if isComma { break }
        }
        return unsafe place
    }

    /// The place behind `count` fields from `start` on: eight bytes at a time while they do not end there.
    @inline(never)
    func place(behind count: Int, from start: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var place = unsafe start
        var left = count
        while unsafe end - place >= 8 {
            let commas = unsafe WordScan.count(of: UInt8(ascii: ","), in: WordScan.word(at: place))
            guard commas < left else { break }
            left -= commas
            unsafe place += 8
        }
        for _ in 0..<left { unsafe place = next(behind: place) }
        return unsafe place
    }

    /// The number at `place`, which has to be in `range`.
    @inline(never)
    func number(at place: UnsafePointer<UInt8>, in range: ClosedRange<Double>) -> FieldCursor.Reading<Double> {
        guard let length = unsafe plainLength(at: place) else { return unsafe anyNumber(at: place, in: range) }
        guard length > 0 else { return unsafe FieldCursor.Reading(value: nil, next: place + 1) }
        let word = unsafe DigitWord(WordScan.word(at: place))
        guard let value = Decimal(plain: word.first(length), length: length)?.value, range.contains(value) else {
            return unsafe anyNumber(at: place, in: range)
        }
        return unsafe FieldCursor.Reading(value: value, next: place + length + 1)
    }

    /// A number of any form and length, in `range` or not.
    @inline(never)
    private func anyNumber(
        at place: UnsafePointer<UInt8>, in range: ClosedRange<Double>
    ) -> FieldCursor.Reading<Double> {
        let decimal = unsafe anyDecimal(at: place)
        guard let value = decimal.value?.value else {
            return unsafe FieldCursor.Reading(value: nil, next: decimal.next, fault: decimal.fault)
        }
        let isInRange = range.contains(value)
        return unsafe FieldCursor.Reading(
            value: isInRange ? value : nil, next: decimal.next, fault: isInRange ? .none : .outOfRange)
    }

    /// How many characters the field at `place` has, if these are fewer than eight with a comma behind them.
    @inline(__always)
    private func plainLength(at place: UnsafePointer<UInt8>) -> Int? {
        guard unsafe limit - place >= 8 else { return nil }
        let comma = unsafe WordScan.marks(of: UInt8(ascii: ","), in: WordScan.word(at: place))
        // Without a comma all eight.
        let length = comma.trailingZeroBitCount / 8
        return unsafe length < min(8, end - place) ? length : nil
    }

    /// The number at `place`.
    @inline(__always)
    func decimal(at place: UnsafePointer<UInt8>) -> FieldCursor.Reading<Decimal> {
        guard let length = unsafe plainLength(at: place) else { return unsafe anyDecimal(at: place) }
        guard length > 0 else { return unsafe FieldCursor.Reading(value: nil, next: place + 1) }
        let word = unsafe DigitWord(WordScan.word(at: place))
        guard let decimal = Decimal(plain: word.first(length), length: length) else {
            return unsafe anyDecimal(at: place)
        }
        return unsafe FieldCursor.Reading(value: decimal, next: place + length + 1)
    }

    /// A number of any form and length.
    @inline(never)
    private func anyDecimal(at place: UnsafePointer<UInt8>) -> FieldCursor.Reading<Decimal> {
        let next = unsafe next(behind: place)
        // Behind the last field there is no comma.
        let isClosed = unsafe next != place && next[-1] == UInt8(ascii: ",")
        let length = unsafe place.distance(to: next) - (isClosed ? 1 : 0)
        guard length > 0 else { return unsafe FieldCursor.Reading(value: nil, next: next) }
        let decimal = unsafe Decimal(UnsafeBufferPointer(start: place, count: length))
        return unsafe FieldCursor.Reading(value: decimal, next: next, fault: decimal == nil ? .malformed : .none)
    }

    /// The digits at `place` and no more, as a number; nothing else is a fault.
    @inline(never)
    func digits(at place: UnsafePointer<UInt8>) -> FieldCursor.Reading<Int64> {
        let number = unsafe decimal(at: place)
        guard let value = number.value, value.decimals == 0, !value.isNegative else {
            return unsafe FieldCursor.Reading(value: nil, next: number.next)
        }
        return unsafe FieldCursor.Reading(value: value.digits, next: number.next)
    }

    /// The number of base sixty at `place`.
    @inline(never)
    func sexagesimal(at place: UnsafePointer<UInt8>) -> FieldCursor.Reading<Sexagesimal> {
        guard unsafe limit - place >= 16 else { return unsafe anySexagesimal(at: place) }
        let comma = unsafe WordScan.marks(of: UInt8(ascii: ","), in: WordScan.word(at: place + 8))
        let length = 8 + comma.trailingZeroBitCount / 8
        guard unsafe length < min(16, end - place),
            let number = unsafe Sexagesimal(
                plain: DigitWord(WordScan.word(at: place)), DigitWord(WordScan.word(at: place + length - 8)),
                length: length)
        else { return unsafe anySexagesimal(at: place) }
        return unsafe FieldCursor.Reading(value: number, next: place + length + 1)
    }

    @inline(never)
    private func anySexagesimal(at place: UnsafePointer<UInt8>) -> FieldCursor.Reading<Sexagesimal> {
        let decimal = unsafe decimal(at: place)
        return unsafe FieldCursor.Reading(
            value: decimal.value.map { Sexagesimal($0) }, next: decimal.next, fault: decimal.fault)
    }
}
