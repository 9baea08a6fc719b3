package import TimeAndChance

/// Files as one, in the format that every system opens: ustar (POSIX.1-1988).
package struct TarArchive: Sendable {
    package private(set) var bytes: [UInt8] = []
    private let modified: Int64

    private static let block = 512

    /// All files have the time `modified`, belong to nobody in particular, and only their owner may read them.
    package init(modified: UTCTime) { self.modified = max(0, modified.millisecondsSince1970 / 1000) }

    /// Adds a file under a name of at most 100 bytes, folders with `/` in it; what is longer is cut.
    package mutating func add(_ name: String, _ contents: [UInt8]) {
        bytes += header(name, size: contents.count)
        bytes += contents
        let rest = contents.count % Self.block
        if rest > 0 { bytes += [UInt8](repeating: 0, count: Self.block - rest) }
    }

    /// Ends the archive; nothing can be added to it any more.
    package mutating func finish() { bytes += [UInt8](repeating: 0, count: 2 * Self.block) }

    /// The name of the first file of an archive that begins with `bytes`; `nil` when that is none.
    static func firstName(in bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= block, bytes[257...].starts(with: magic.utf8) else { return nil }
        return Array(bytes.prefix(100).prefix { $0 != 0 })
    }

    private static let magic = "ustar\u{0}00"

    private func header(_ name: String, size: Int) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: Self.block)
        func put(_ text: some Sequence<UInt8>, at offset: Int, _ width: Int) {
            for (index, byte) in text.prefix(width).enumerated() { header[offset + index] = byte }
        }
        /// Octal digits, and a zero byte.
        func putOctal(_ number: Int64, at offset: Int, _ width: Int) {
            let digits = String(number, radix: 8)
            put((String(repeating: "0", count: max(0, width - 1 - digits.count)) + digits).utf8, at: offset, width - 1)
        }
        put(name.utf8, at: 0, 100)
        putOctal(0o600, at: 100, 8)
        putOctal(0, at: 108, 8)
        putOctal(0, at: 116, 8)
        putOctal(Int64(size), at: 124, 12)
        putOctal(modified, at: 136, 12)
        put("        ".utf8, at: 148, 8)  // the checksum's own place counts as blanks
        put("0".utf8, at: 156, 1)
        put(Self.magic.utf8, at: 257, 8)
        let sum = header.reduce(Int64(0)) { $0 + Int64($1) }
        putOctal(sum, at: 148, 7)
        header[154] = 0
        return header
    }
}
