/// Who makes a receiver, told by the sentences of its maker's own.
package enum ReceiverMaker {
    /// Name of the maker whose sentence has that address, as `Garmin` for `PGRME`; `nil` when none is known.
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
