import CLinux

/// The program's and its libraries' code and constants in memory.
package enum ResidentCode {
    /// Gives back the pages of them that have been touched so far; what is needed again comes back from the page cache.
    ///
    /// Starting (dynamic linking, TLS set-up, reading the configuration) touches several times the code that the
    /// service needs for the months after. Only pages that are as they are in the file are given back (madvise(2),
    /// `MADV_DONTNEED` on segments that are not writable).
    package static func giveBack() { clinux_forget_code() }
}
