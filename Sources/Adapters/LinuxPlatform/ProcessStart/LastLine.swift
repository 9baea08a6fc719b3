import Glibc

/// The end of a process that lacks what it cannot be without.
enum LastLine {
    /// Says why in one line and ends the process with status 69, service unavailable; nothing accepted is lost by that.
    static func end(_ words: String) -> Never {
        let line = Array("waypost: \(words)\n".utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
        ChildTable.endAll()
        _exit(69)
    }
}
