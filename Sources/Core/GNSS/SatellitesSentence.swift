/// GSA: solution mode and dilution of precision.
struct SatellitesSentence {
    var mode: FixMode?
    var hdop: Double?

    @inline(__always)
    init?(gsa fields: inout FieldCursor) {
        fields.skip()
        switch fields.letter() {
        case UInt8(ascii: "2"): mode = .twoDimensional
        case UInt8(ascii: "3"): mode = .threeDimensional
        case 0, UInt8(ascii: "1"): break
        default: fields.note(.malformed)
        }
        // Twelve satellites; one receiver sends twice as many. PDOP, HDOP, VDOP and perhaps a system id follow.
        fields.skip(12)
        var longForm = fields
        fields.skip()
        hdop = fields.dilution()
        fields.skip(2)
        if !fields.isAtEnd {
            longForm.skip(13)
            hdop = longForm.dilution()
            guard longForm.fault == .none else {
                fields = longForm
                return nil
            }
        }
        guard fields.fault == .none else { return nil }
    }
}
