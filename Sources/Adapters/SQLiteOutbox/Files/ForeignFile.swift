import LinuxPlatform

/// Tells a file that never was an outbox from a damaged one, by its first bytes.
///
/// A damaged outbox is renamed and replaced, so a slip in the configuration must not make damage of a recorded log or
/// of another program's database. What power cuts and failing disks leave is none of this: they zero a block, cut it
/// off, flip bits in it, or fill it with noise.
enum ForeignFile {
    /// So many bytes are looked at: the header of a database.
    static let headerCount = 100

    private static let magic = Array("SQLite format 3\0".utf8)
    private static let marks: [(bytes: [UInt8], kind: String)] = [
        (Array("$G".utf8), "a log of NMEA sentences"), (Array("$P".utf8), "a log of NMEA sentences"),
        (Array("!A".utf8), "a log of NMEA sentences"), ([0xb5, 0x62], "a log of UBX messages"),
        ([0x1f, 0x8b], "a gzip file"), ([0x50, 0x4b, 3, 4], "a zip file"),
        ([0xfd, 0x37, 0x7a, 0x58, 0x5a], "an xz file"),
        ([0x28, 0xb5, 0x2f, 0xfd], "a zstd file"), ([0x7f, 0x45, 0x4c, 0x46], "a program"), ([0xff, 0xfe], "text"),
    ]

    /// What a file is that begins with `bytes`, its first 100 or all of it; `nil` when it may be an outbox, sound or
    /// damaged.
    static func kind(beginningWith bytes: [UInt8]) -> String? {
        if magic.starts(with: bytes) { return nil }
        if bytes.starts(with: magic) {
            return bytes.count == headerCount && isOfAnotherProgram(bytes) ? "a database of another program" : nil
        }
        if let mark = marks.first(where: { bytes.starts(with: $0.bytes) }) { return mark.kind }
        return bytes.allSatisfy(isOfText) ? "text" : nil
    }

    /// One byte of the number that differs may be a flipped bit in ours.
    private static func isOfAnotherProgram(_ header: [UInt8]) -> Bool {
        let own = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: StoreFormat.applicationID >> $0) }
        return zip(header[68..<72], own).filter { $0 != $1 }.count > 1
    }

    /// In whatever encoding: no control character but tabulators and ends of lines.
    private static func isOfText(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7f || [0x09, 0x0a, 0x0c, 0x0d].contains(byte)
    }
}

extension StoreFiles {
    /// Makes sure that what lies in the store's place may be an outbox, if a damaged one: it is going to be repaired.
    ///
    /// Where the files lie that an outbox has beside it, there was one, whatever the file begins with. To be asked
    /// before they are made. A file that cannot be looked at is left to whoever opens it, and says why.
    ///
    /// - Throws: a refusal, nothing else.
    func requireOutbox() throws(SystemError) {
        let bytes: [UInt8]
        do throws(SystemError) {
            guard try disk.entry(at: path)?.kind == .file else { return }
            for name in [lock, reserve, rebuilt] where try disk.entry(at: name) != nil { return }
            bytes = try disk.read(ForeignFile.headerCount, at: 0, of: path)
        } catch { return }
        guard let kind = ForeignFile.kind(beginningWith: bytes) else { return }
        throw SystemError(
            refusing: path,
            because: "\(path) is no outbox of Waypost but \(kind), and is left as it is; give another outbox path")
    }
}
