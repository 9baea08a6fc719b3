import CLinux
import Glibc

/// What this process has in memory.
package enum ResidentMemory {
    /// In bytes, code and libraries included; `nil` where the kernel does not say (proc(5), `statm`).
    package static var bytes: Int64? {
        guard let text = try? FileSystem.read(128, at: 0, of: "/proc/self/statm") else { return nil }
        // Sizes in pages: of its address space, and of what of it is in memory.
        let pages = text.split(separator: UInt8(ascii: " ")).dropFirst().first
        return pages.map { digits in digits.reduce(Int64(0)) { $0 * 10 + Int64($1) - 0x30 } * Int64(getpagesize()) }
    }

    /// Gives back the pages of code and constants that have been touched so far; what is needed again comes back from
    /// the page cache.
    ///
    /// Starting (dynamic linking, TLS set-up, reading the configuration) touches several times the code that the
    /// service needs for the months after. Only pages that are as they are in the file are given back (madvise(2),
    /// `MADV_DONTNEED` on segments that are not writable).
    package static func giveBackCode() { clinux_forget_code() }
}
