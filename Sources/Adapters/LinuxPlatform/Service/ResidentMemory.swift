import CLinux
import Glibc

/// The memory of this process.
package enum ResidentMemory {
    /// The resident bytes, including code and libraries; `nil` if the kernel doesn't report them (proc(5), `statm`).
    package static var bytes: Int64? {
        guard let text = try? FileSystem.read(128, at: 0, of: "/proc/self/statm") else { return nil }
        // The second field is the number of resident pages.
        let pages = text.split(separator: UInt8(ascii: " ")).dropFirst().first
        return pages.map { digits in digits.reduce(Int64(0)) { $0 * 10 + Int64($1) - 0x30 } * Int64(getpagesize()) }
    }

    /// Releases the pages of code and constants that have been touched so far. Pages that are needed again come from
    /// the page cache.
    ///
    /// Starting (dynamic linking, TLS set-up, reading the configuration) touches several times as much code as the
    /// service needs afterwards. Only unmodified file pages are released (madvise(2), `MADV_DONTNEED` on segments that
    /// aren't writable).
    package static func releaseStartupPages() { clinux_forget_code() }
}
