import Glibc

/// A file that is written aside and takes its place at once when it is complete; otherwise nothing is left of it.
package final class FileReplacement: Sendable {
    /// Where it belongs, links followed.
    private let target: String
    /// Where it is until then; `nil` for a device or pipe, which cannot be replaced and is written to.
    private let temporary: Locked<String?>
    private let descriptor: OwnedDescriptor

    /// Takes the place: what is there stays as it is until `commit`.
    ///
    /// `mode`: who may read and write it, less what the umask takes.
    ///
    /// - Throws: when the folder is missing or may not be written, or `path` is a folder.
    package init(at path: String, mode: UInt32 = 0o666) throws(SystemError) {
        target = Self.resolved(path)
        switch try FileSystem.entry(at: target) {
        case .folder: throw SystemError(call: "write \(path)", number: EISDIR)
        case .other:
            temporary = Locked(nil)
            descriptor = try OwnedDescriptor(opening: target, O_WRONLY | O_NOCTTY)
        case .file, nil:
            let aside = "\(target).\(getpid()).part"
            try FileSystem.removeFile(at: aside)
            descriptor = try OwnedDescriptor(opening: aside, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
            temporary = Locked(aside)
        }
    }

    deinit { discard() }

    /// Leaves nothing behind and gives the place up. Whoever ends the process after a failure calls this: another
    /// thread may still hold the value then.
    package func discard() {
        temporary.withLock { aside in
            if let path = aside { unsafe unlink(path) }
            aside = nil
        }
    }

    /// Writes the contents and puts the file in its place; both are on the disk when this returns, and nothing is left
    /// of them when it throws.
    package func commit(_ bytes: [UInt8]) throws(SystemError) {
        do throws(SystemError) { try write(bytes) } catch {
            discard()
            throw error
        }
    }

    private func write(_ bytes: [UInt8]) throws(SystemError) {
        try descriptor.writeAll(bytes.span)
        guard let aside = temporary.withLock({ $0 }) else { return }
        let raw = descriptor.raw
        try valueOrSystemError("sync \(aside)") { fsync(raw) }
        try FileSystem.rename(aside, to: target)
        temporary.withLock { $0 = nil }
        try FileSystem.synchronizeFolder(at: FileSystem.parent(of: target))
    }

    private static func resolved(_ path: String) -> String {
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
