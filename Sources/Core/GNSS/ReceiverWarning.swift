/// What a receiver says or shows that the operator should know, though fixes go on.
package enum ReceiverWarning: Int, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// DTM names a datum other than WGS 84.
    case foreignDatum
    case antennaOpen, antennaShort
    /// The receiver's serial port is too slow for what it has to say.
    case transmitBufferFull
    /// Dates were off by a multiple of 1024 weeks and have been repaired.
    case weekRolloverRepaired
    /// Dates before any that can be true, which no number of 1024 weeks explains.
    case dateTooEarly
    /// Positions of a simulator or typed in by hand; they give no fix.
    case simulatedOrManual
    /// Position 0, 0: a gateway without data; gives no fix.
    case nullIsland
    /// The bytes are UTF-16 text: a log saved by an editor.
    case utf16Text

    /// One word for a metric's label.
    package var label: String {
        switch self {
        case .foreignDatum: "foreign_datum"
        case .antennaOpen: "antenna_open"
        case .antennaShort: "antenna_short"
        case .transmitBufferFull: "transmit_buffer_full"
        case .weekRolloverRepaired: "week_rollover_repaired"
        case .dateTooEarly: "date_too_early"
        case .simulatedOrManual: "simulated_or_manual"
        case .nullIsland: "zero_position"
        case .utf16Text: "utf16_text"
        }
    }

    package var description: String {
        switch self {
        case .foreignDatum: "the receiver's datum is not WGS 84: positions are shifted; set it to W84"
        case .antennaOpen: "the receiver reports an open antenna line: check the antenna's plug"
        case .antennaShort: "the receiver reports a short circuit in the antenna line: check cable and antenna"
        case .transmitBufferFull: "the receiver drops sentences: raise its baud rate or switch sentences off"
        case .weekRolloverRepaired:
            "the receiver's dates are off by a multiple of 1024 weeks: repaired; update its firmware"
        case .dateTooEarly: "the receiver states dates that lie in the past: its fixes wait for a right date"
        case .simulatedOrManual: "the receiver sends simulated or manually entered positions: not used"
        case .nullIsland: "the receiver states the position 0, 0: not used"
        case .utf16Text: "the input is UTF-16 text: convert it to plain text, as with iconv -f UTF-16 -t ASCII"
        }
    }
}
