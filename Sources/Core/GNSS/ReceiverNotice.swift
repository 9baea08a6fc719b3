/// DTM and TXT: what a receiver says about itself.
enum ReceiverNotice {
    /// DTM: a datum that shifts positions. `W84` is WGS 84; the field may also be empty.
    static func warning(dtm fields: inout FieldCursor) -> ReceiverWarning? {
        let datum = fields.word()
        let wgs84: UInt64 = 0x34_38_57  // "W84", first byte lowest
        return datum == 0 || datum == wgs84 ? nil : .foreignDatum
    }

    /// TXT: antenna supervisor and output buffer; the words are those of u-blox, MTK and Unicore.
    static func warning(txt fields: inout FieldCursor) -> ReceiverWarning? {
        fields.skip(3)
        if fields.contains("ANT") {
            if fields.contains("OPEN") { return .antennaOpen }
            if fields.contains("SHORT") { return .antennaShort }
        }
        return fields.contains("TXBUF") ? .transmitBufferFull : nil
    }
}
