/// HDT and THS: where the vehicle's front points, which at standstill no course over ground can tell.
struct HeadingSentence {
    /// Degrees from true north, 0..<360; `nil` when the receiver knows none.
    var headingDegrees: Double?

    /// HDT: heading and `T`.
    init?(hdt fields: inout FieldCursor) {
        headingDegrees = fields.course()
        let mark = fields.letter()
        if mark != 0, mark != UInt8(ascii: "T") { fields.note(.malformed) }
        guard fields.fault == .none else { return nil }
    }

    /// THS: heading and a mode letter; simulated, manual and void headings are none.
    init?(ths fields: inout FieldCursor) {
        headingDegrees = fields.course()
        switch fields.letter() {
        case UInt8(ascii: "A"), UInt8(ascii: "E"), UInt8(ascii: "D"): break
        case UInt8(ascii: "V"), UInt8(ascii: "M"), UInt8(ascii: "S"), UInt8(ascii: "N"), 0: headingDegrees = nil
        default: fields.note(.malformed)
        }
        guard fields.fault == .none else { return nil }
    }
}
