import FoundationEssentials

/// The number of bytes that this process has written, as counted by the kernel (proc(5), `/proc/pid/io`).
struct DiskUse {
    /// The bytes passed to `write`.
    let written: Int
    /// The bytes scheduled for the device.
    let scheduled: Int

    static func now() throws -> DiskUse {
        let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
        func value(_ name: String) -> Int {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
            return line.split(separator: " ").last.flatMap { Int($0) } ?? 0
        }
        return DiskUse(written: value("wchar"), scheduled: value("write_bytes"))
    }

    func since(_ earlier: DiskUse) -> DiskUse {
        DiskUse(written: written - earlier.written, scheduled: scheduled - earlier.scheduled)
    }

    func divided(by count: Int) -> (written: Double, scheduled: Double) {
        (Double(written) / Double(count), Double(scheduled) / Double(count))
    }
}
