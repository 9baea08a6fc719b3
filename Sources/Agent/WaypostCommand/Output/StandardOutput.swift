import LinuxPlatform

/// Standard output, for machines: results and nothing else.
struct StandardOutput: Sendable {
    /// Writes `bytes` whole.
    ///
    /// - Throws: when the reader has gone (`waypost fixes | head`) or the disk is full.
    static func write(_ bytes: [UInt8]) throws(SystemError) {
        let descriptor = OwnedDescriptor(owning: 1)
        defer { _ = descriptor.release() }
        try descriptor.writeAll(bytes.span)
    }

    /// Writes `text` and a line feed.
    static func write(line text: String) throws(SystemError) { try write(Array((text + "\n").utf8)) }
}
