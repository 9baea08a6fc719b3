import ReportedText

/// A faulty field of a sentence.
package struct FieldFault: Sendable, Hashable {
    private let type: SentenceType
    /// The field's number, counted from 1 after the address. It is 0 if a latitude comes without a longitude, or the
    /// reverse.
    let number: UInt8
    /// Whether the field contains a number outside its range. If not, the field is malformed.
    package let isOutOfRange: Bool
    /// Whether the sentence was rejected because of the field. If not, the field was treated as empty.
    package let isRejection: Bool

    var containsPosition: Bool { type.containsPosition }

    /// Creates the fault of a sentence of `type`; `nil` if no field is faulty. The initializer reads the sentence
    /// again, because keeping the position of every fault would slow down the reading of all sentences.
    init?(in text: SentenceText, of type: SentenceType) {
        var fields = FieldCursor(text)
        Self.read(&fields, of: type)
        guard fields.hasFault else { return nil }
        self.init(fields, of: type, in: text)
    }

    /// Describes the fault that `fields` has recorded. `fields` must have been read from the start of `text`.
    init(_ fields: FieldCursor, of type: SentenceType, in text: SentenceText) {
        self.type = type
        isRejection = fields.fault != .none
        let fault = isRejection ? fields.fault : fields.omission
        isOutOfRange = fault == .outOfRange
        number =
            fault == .incompletePosition
            ? 0
            : unsafe Self.number(
                ofFieldBefore: isRejection ? fields.faultEnd : fields.omissionEnd, in: text, of: type,
                isOutOfRange: isOutOfRange)
    }

    @inline(never)
    private static func read(_ fields: inout FieldCursor, of type: SentenceType) {
        var cache = FieldCache()
        if type == .pubx00 || type == .pubx04 { fields.skip() }
        switch type {
        case .rmc, .gga, .gns, .gll, .pubx00: _ = PositionSentence(type, &fields, &cache)
        case .vtg: _ = MotionSentence(vtg: &fields)
        case .gsa: _ = SatellitesSentence(gsa: &fields)
        case .gst, .gbs, .pgrme, .pqtmepe, .psrfepe: _ = AccuracySentence(type, &fields)
        case .zda, .pubx04: _ = DateSentence(type, &fields)
        case .hdt, .ths: _ = HeadingSentence(type, &fields)
        case .dtm, .txt, .other: break
        }
    }

    private static func number(
        ofFieldBefore end: UnsafePointer<UInt8>, in text: SentenceText, of type: SentenceType, isOutOfRange: Bool
    ) -> UInt8 {
        let read = unsafe UnsafeBufferPointer(start: text.fields, count: end - text.fields)
        let isClosed = unsafe read.last == UInt8(ascii: ",")
        let number = unsafe read.count { $0 == UInt8(ascii: ",") } + (isClosed ? 0 : 1)
        // A coordinate's range is checked only after its hemisphere letter (a field named "N or S") has been read.
        let isLetter = isOutOfRange && type.fieldName(number)?.contains(" or ") ?? false
        return UInt8(clamping: isLetter ? number - 1 : number)
    }

    /// The field's name, such as `longitude`; `position` if the latitude or the longitude is missing.
    package var name: String { number == 0 ? "position" : type.fieldName(Int(number)) ?? "field \(number)" }
}
