import LinuxPlatform

/// What lies where a command is to write its result, and would be lost.
enum ReplacedFile {
    /// Refuses to replace what is none of our own results at `path`, which `-o` names: an earlier one and an empty file
    /// may go; a device or pipe keeps nothing.
    ///
    /// `isOurs` judges by the first bytes of a file whether it is such a `result`.
    static func require(
        _ path: String, as result: String, of command: String, isOurs: ([UInt8]) -> Bool
    ) throws(UsageError) {
        guard path != "-", let status = try? FileStatus(behind: path), status.kind == .file, status.bytes > 0 else {
            return
        }
        if let bytes = try? FileSystem.read(512, at: 0, of: path), isOurs(bytes) { return }
        throw UsageError(
            "-o \(path) is there, and it is no \(result) of ours to replace; name another file, or remove this one",
            command: command)
    }
}
