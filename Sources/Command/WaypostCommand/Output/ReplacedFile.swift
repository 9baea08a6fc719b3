import LinuxPlatform

/// A check that a command replaces only files that look like its own earlier results.
enum ReplacedFile {
    /// Throws if the file at `path`, the argument of `-o`, doesn't look like an earlier result of the command. Empty
    /// files, devices and pipes may be overwritten.
    ///
    /// `isOurs` receives the first bytes of the file, and returns whether the file is an earlier result.
    static func require(
        _ path: String, as result: String, of command: String, isOurs: ([UInt8]) -> Bool
    ) throws(UsageError) {
        guard path != "-", let status = try? FileStatus(followingLinksAt: path), status.kind == .file, status.bytes > 0
        else {
            return
        }
        if let bytes = try? FileSystem.read(512, at: 0, of: path), isOurs(bytes) { return }
        throw UsageError(
            "-o \(path) exists and is not a \(result) written by waypost; choose another file, or remove this file",
            command: command)
    }
}
