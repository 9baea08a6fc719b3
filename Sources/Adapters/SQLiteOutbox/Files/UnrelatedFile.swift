import LinuxPlatform
import ReportedText
import Reporting

/// A check of a file's first bytes that recognises files that have never been an outbox.
/// A damaged outbox is renamed and replaced. If the configured path is wrong, this must not happen to a log of
/// sentences or to another program's database. A damaged outbox doesn't look like such a file, because power cuts and
/// failing disks zero a block, truncate it, flip bits, or fill it with noise.
enum UnrelatedFile {
    /// The number of bytes that are examined, which is the size of an SQLite database header.
    static let headerCount = 100

    private static let magic = Array("SQLite format 3\0".utf8)
    private static let signatures: [(bytes: [UInt8], kind: String)] = [
        (Array("$G".utf8), "a log of NMEA sentences"), (Array("$P".utf8), "a log of NMEA sentences"),
        (Array("!A".utf8), "a log of NMEA sentences"), ([0xb5, 0x62], "a log of UBX messages"),
        ([0x1f, 0x8b], "a gzip file"), ([0x50, 0x4b, 3, 4], "a zip file"),
        ([0xfd, 0x37, 0x7a, 0x58, 0x5a], "an xz file"),
        ([0x28, 0xb5, 0x2f, 0xfd], "a zstd file"), ([0x7f, 0x45, 0x4c, 0x46], "a program"), ([0xff, 0xfe], "text"),
    ]

    /// Returns a description of the file whose first bytes are `bytes` (at most 100). Returns `nil` if it may be an
    /// outbox, whether intact or damaged.
    static func kind(beginningWith bytes: [UInt8]) -> String? {
        if magic.starts(with: bytes) { return nil }
        if bytes.starts(with: magic) {
            return bytes.count == headerCount && belongsToAnotherProgram(bytes) ? "a database of another program" : nil
        }
        if let signature = signatures.first(where: { bytes.starts(with: $0.bytes) }) { return signature.kind }
        return bytes.allSatisfy(isTextByte) ? "text" : nil
    }

    /// Whether the database header contains another program's application ID. A single byte may differ, because a bit
    /// may have been flipped.
    private static func belongsToAnotherProgram(_ header: [UInt8]) -> Bool {
        let own = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: StoreFormat.applicationID >> $0) }
        return zip(header[68..<72], own).filter { $0 != $1 }.count > 1
    }

    /// Whether the byte can occur in text of any encoding. The only control characters in text are tabs, line breaks
    /// and form feeds.
    private static func isTextByte(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7f || [0x09, 0x0a, 0x0c, 0x0d].contains(byte)
    }
}

extension StoreFiles {
    /// Makes sure that the file at `path` may be an outbox, whether intact or damaged. A repair would replace the file.
    ///
    /// If one of the outbox's other files exists, the file has been an outbox, even if its first bytes don't show it.
    /// So call this before those files are created. A file that can't be examined is accepted, because opening it
    /// reports the reason.
    ///
    /// - Throws: a refusal, and no other error.
    func requireOutbox() throws(OutboxError) {
        let bytes: [UInt8]
        do throws(SystemError) {
            guard try disk.entry(at: path)?.kind == .file else { return }
            for name in [lock, reserve, rebuilt] where try disk.entry(at: name) != nil { return }
            bytes = try disk.read(UnrelatedFile.headerCount, at: 0, of: path)
        } catch { return }
        guard let kind = UnrelatedFile.kind(beginningWith: bytes) else { return }
        throw OutboxError(.refused, path: path, .unrelated(ReportedText(kind)))
    }
}
