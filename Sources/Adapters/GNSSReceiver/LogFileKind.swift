import LocationReporting

/// What a file is, told by its first bytes.
enum LogFileKind: Sendable, Hashable {
    case plain, gzip
    /// Text in UTF-16, as some Windows tools save it; with the name that `iconv` has for it.
    case utf16(encoding: String)
    /// Packed by something that we do not unpack, with the command that does.
    case packed(by: String, remedy: String)

    /// Judges by the first bytes of a file; 64 are enough.
    init(firstBytes bytes: Span<UInt8>) {
        func starts(with magic: [UInt8]) -> Bool {
            bytes.count >= magic.count && magic.indices.allSatisfy { bytes[$0] == magic[$0] }
        }
        if starts(with: [0x1F, 0x8B]) {
            self = .gzip
        } else if starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A]) {
            self = .packed(by: "xz", remedy: "xz -d")
        } else if starts(with: [0x28, 0xB5, 0x2F, 0xFD]) {
            self = .packed(by: "zstd", remedy: "zstd -d")
        } else if starts(with: [0x42, 0x5A, 0x68]) {
            self = .packed(by: "bzip2", remedy: "bunzip2")
        } else if starts(with: [0x50, 0x4B, 0x03, 0x04]) {
            self = .packed(by: "zip", remedy: "unzip")
        } else {
            self = Self.utf16Encoding(of: bytes).map(Self.utf16(encoding:)) ?? .plain
        }
    }

    /// What is wrong with text of this kind in `name`, and what to do; `nil` when nothing is.
    func problem(of name: String) -> FixSourceError? {
        switch self {
        case .plain: nil
        case .gzip: FixSourceError(.notALog, "\(name) is packed twice; unpack it once (gunzip)")
        case .utf16(let encoding):
            FixSourceError(
                .notALog, "\(name) is UTF-16 text; convert it first: iconv -f \(encoding) -t UTF-8 LOG > NEW")
        case .packed(let packer, let remedy):
            FixSourceError(.notALog, "\(name) is packed with \(packer); unpack it first (\(remedy))")
        }
    }

    /// By its mark, or, for text has none of them otherwise, by a zero in every second byte.
    private static func utf16Encoding(of bytes: Span<UInt8>) -> String? {
        guard bytes.count >= 2 else { return nil }
        if bytes[0] == 0xFF, bytes[1] == 0xFE { return "UTF-16" }
        if bytes[0] == 0xFE, bytes[1] == 0xFF { return "UTF-16" }
        let pairs = min(bytes.count, 64) / 2
        guard pairs >= 8 else { return nil }
        func isZeroThroughout(_ offset: Int) -> Bool { (0..<pairs).allSatisfy { bytes[$0 * 2 + offset] == 0 } }
        switch (isZeroThroughout(0), isZeroThroughout(1)) {
        case (false, true): return "UTF-16LE"
        case (true, false): return "UTF-16BE"
        default: return nil
        }
    }
}
