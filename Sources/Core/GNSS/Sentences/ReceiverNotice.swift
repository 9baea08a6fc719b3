import ReportedText

/// DTM and TXT: sentences in which a receiver reports something about itself.
enum ReceiverNotice {
    /// The maximum shift of positions that is ignored. It is less than a receiver's error; the shift of the datum P90
    /// (PZ-90.11) is 4 cm.
    private static let tolerableShiftMeters = 1.0
    private static let metersPerMinute = 1852.0

    /// Returns a warning if the datum in DTM shifts positions, otherwise `nil`. `W84` and an empty field mean WGS 84.
    /// For any other datum, its offsets from WGS 84 in minutes decide. A missing offset is considered large.
    static func warning(dtm fields: inout FieldCursor) -> ReceiverWarning? {
        let datum = fields.readWord()
        guard datum != 0, datum != SentenceType.code("W84") else { return nil }
        fields.skip()
        let north = fields.readNumber(in: 0...60)
        fields.skip()
        let east = fields.readNumber(in: 0...60)
        guard let north, let east else { return .foreignDatum }
        let isSmall = max(north, east) * metersPerMinute < tolerableShiftMeters
        return isSmall ? nil : .foreignDatum
    }

    /// Returns a warning if TXT reports a problem with the antenna or the output buffer, otherwise `nil`. Recognises
    /// the wording of u-blox, MTK and Unicore.
    static func warning(txt fields: inout FieldCursor) -> ReceiverWarning? {
        fields.skip(3)
        if fields.contains("ANT") {
            if fields.contains("OPEN") { return .antennaOpen }
            if fields.contains("SHORT") { return .antennaShort }
        }
        return fields.contains("TXBUF") ? .transmitBufferFull : nil
    }
}

/// The makers of receivers, recognised by their proprietary sentences.
package enum ReceiverMaker {
    /// Returns the maker whose receivers send sentences with the given address, such as `Garmin` for `PGRME`; `nil` if
    /// the maker is unknown.
    package static func name(ofAddress address: String) -> String? {
        makers.first { address.hasPrefix($0.prefix) }?.name
    }

    private static let makers: [(prefix: String, name: String)] = [
        ("PUBX", "u-blox"), ("PMTK", "MediaTek"), ("PAIR", "Airoha"), ("PSRF", "SiRF"), ("PGRM", "Garmin"),
        ("PQTM", "Quectel"), ("PSTM", "STMicroelectronics"), ("PSTI", "SkyTraq"), ("PDTINFO", "Unicore"),
        ("GYOACC", "Unicore"), ("SNRSTAT", "Unicore"), ("PASHR", "Ashtech"), ("PTNL", "Trimble"), ("PMGN", "Magellan"),
        ("PFEC", "Furuno"), ("PERD", "Furuno"), ("PGLOR", "Broadcom"), ("PRWI", "Rockwell"), ("PSAT", "Hemisphere"),
        ("PTNTA", "Spectratime"), ("PMOT", "Motorola"), ("PJK", "Jackson Labs"), ("PXEM", "Xsens"),
    ]
}

/// A problem with a receiver or its output about which the operator should know. Some problems prevent fixes
/// (`preventsFix`).
package enum ReceiverWarning: Int, Sendable, Hashable, CaseIterable {
    /// The receiver's positions refer to a datum other than WGS 84, according to DTM.
    case foreignDatum
    case antennaOpen, antennaShort
    /// The receiver's serial port is too slow for its output.
    case transmitBufferFull
    /// Dates were off by a multiple of 1024 weeks and have been repaired.
    case weekRolloverRepaired
    /// Dates are implausibly early, and moving them by a multiple of 1024 weeks doesn't repair them.
    case dateTooEarly
    /// The receiver hasn't sent a date for a while, so fixes are dated by the host's clock, which is synchronised.
    case datedByHost
    /// The track contradicts the speeds or courses that the receiver reports (`DerivedMotion`).
    case motionContradicted
    /// Positions were simulated or entered by hand, so they don't become fixes.
    case simulatedOrManual
    /// The position is latitude 0, longitude 0, which gateways send when they have no data. It doesn't become a fix.
    case nullIsland
    /// The bytes are UTF-16 text, for example because an editor saved the log.
    case utf16Text
    /// The sentences of one burst contain times in two time zones.
    case localTime
    /// Most sentences with a position contain a field that can't be read.
    case positionsRejected

    /// Whether the sentences that cause the warning can't become a fix.
    package var preventsFix: Bool {
        switch self {
        case .dateTooEarly, .simulatedOrManual, .nullIsland, .utf16Text, .positionsRejected: true
        case .foreignDatum, .antennaOpen, .antennaShort, .transmitBufferFull, .weekRolloverRepaired, .datedByHost,
            .localTime, .motionContradicted:
            false
        }
    }

    /// The value of the label for this warning in metrics.
    package var label: String {
        switch self {
        case .foreignDatum: "foreign_datum"
        case .antennaOpen: "antenna_open"
        case .antennaShort: "antenna_short"
        case .transmitBufferFull: "transmit_buffer_full"
        case .weekRolloverRepaired: "week_rollover_repaired"
        case .dateTooEarly: "date_too_early"
        case .datedByHost: "dated_by_host"
        case .motionContradicted: "motion_contradicted"
        case .simulatedOrManual: "simulated_or_manual"
        case .nullIsland: "zero_position"
        case .utf16Text: "utf16_text"
        case .localTime: "local_time"
        case .positionsRejected: "positions_rejected"
        }
    }
}

struct WarningSet: Sendable {
    private var bits: UInt64 = 0

    var isEmpty: Bool { bits == 0 }

    mutating func insert(_ warning: ReceiverWarning) { bits |= 1 << UInt64(warning.rawValue) }

    /// Removes and returns one of the warnings; `nil` if the set is empty.
    @inline(__always)
    mutating func takeFirst() -> ReceiverWarning? {
        guard bits != 0 else { return nil }
        defer { bits &= bits - 1 }
        return ReceiverWarning(rawValue: bits.trailingZeroBitCount)
    }
}

/// The messages in which a receiver reports its make and firmware, usually when it starts.
struct ReceiverBanners: Sendable {
    /// The first few messages, without repetitions.
    private var messages: [[UInt8]] = []

    private static let capacity = 8
    private static let maximumLength = 80
    /// The addresses of proprietary sentences that contain a version, each as its first eight bytes.
    private static let addresses: [UInt64] = [
        "PMTK011", "PMTK705", "PSRFTXT", "PGRMT", "PQTMVERN", "PSTMVER", "PDTINFO", "PAIR021", "PMGNVER",
    ].map { (address: String) in
        address.utf8.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The messages as text, in order of arrival.
    var all: [ReportedText] {
        messages.map { text in
            ReportedText(
                bytes: text.split { $0 == UInt8(ascii: ",") }.map { field in
                    field.split(separator: UInt8(ascii: " ")).joined(separator: " ".utf8)
                }.joined(separator: ", ".utf8))
        }
    }

    /// Whether proprietary sentences with the given address contain a version. TXT isn't included, because it may
    /// contain any text.
    @inline(__always)
    static func isBannerAddress(_ address: UInt64) -> Bool {
        UInt8(truncatingIfNeeded: address) == UInt8(ascii: "P") && addresses.contains(address)
    }

    /// Keeps the text of the fields from `start` to `end`, unless it is already known or doesn't describe the receiver.
    mutating func add(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) {
        guard messages.count < Self.capacity, start < end else { return }
        let text = unsafe UnsafeBufferPointer(rebasing: bytes[start..<min(end, start + Self.maximumLength)])
        let isKnown = messages.contains { known in
            known.count == text.count && known.indices.allSatisfy { unsafe known[$0] == text[$0] }
        }
        guard !isKnown, unsafe Self.isInformative(text) else { return }
        unsafe messages.append(Array(text))
    }

    /// Whether the text contains words and isn't a notice about the antenna, a licence, a restart or the output buffer.
    private static func isInformative(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        for start in ["ANTS", "LIC", "txbuf", "Resetting", "$"] as [StaticString] {
            let isStart = start.withUTF8Buffer { word in
                text.count >= word.count && word.indices.allSatisfy { unsafe text[$0] == word[$0] }
            }
            if isStart { return false }
        }
        var letters = 0
        var hasWord = false
        var hasMore = false
        for index in text.indices {
            let isLetter = unsafe (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(text[index] | 0x20)
            letters = isLetter ? letters + 1 : 0
            hasWord = hasWord || letters == 2
            hasMore = hasMore || !isLetter
        }
        return hasWord && hasMore
    }
}
