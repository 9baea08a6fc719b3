import LinuxPlatform

/// A check of the file that a command's result would replace.
enum ReplacedFile {
    /// Throws if `path`, the argument of `-o`, is a file that isn't an earlier result. Empty files, devices and pipes
    /// may be overwritten.
    ///
    /// `isOurs` decides from the first bytes of the file whether it is an earlier result.
    static func require(
        _ path: String, as result: String, of command: String, isOurs: ([UInt8]) -> Bool
    ) throws(UsageError) {
        guard path != "-", let status = try? FileStatus(behind: path), status.kind == .file, status.bytes > 0 else {
            return
        }
        if let bytes = try? FileSystem.read(512, at: 0, of: path), isOurs(bytes) { return }
        throw UsageError(
            "-o \(path) exists and is not a \(result) written by waypost; choose another file, or remove this one",
            command: command)
    }
}
