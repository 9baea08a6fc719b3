import CLinux
import Glibc

/// The part of this process's memory that is resident in RAM.
package enum ResidentMemory {
    /// The number of resident bytes, including code and libraries; `nil` if the kernel doesn't report it (proc(5),
    /// `statm`).
    package static var bytes: Int64? {
        guard let text = try? FileSystem.read(128, at: 0, of: "/proc/self/statm") else { return nil }
        // The second field is the number of resident pages.
        let pages = text.split(separator: UInt8(ascii: " ")).dropFirst().first
        return pages.map { digits in digits.reduce(Int64(0)) { $0 * 10 + Int64($1) - 0x30 } * Int64(getpagesize()) }
    }

    /// Releases the memory of all code and constants used so far. A page that is needed again is read from the page
    /// cache.
    ///
    /// Starting means dynamic linking, setting up TLS and reading the configuration. It uses several times as much code
    /// as the service needs afterwards. Only unmodified pages of files are released (madvise(2), `MADV_DONTNEED`, on
    /// segments that aren't writable).
    package static func releaseStartupPages() { clinux_forget_code() }
}
