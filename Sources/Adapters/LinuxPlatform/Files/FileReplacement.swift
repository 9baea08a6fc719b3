import Glibc
import Reporting

/// A file that is written under a temporary name and takes its final name once it is complete. If writing fails, the
/// temporary file is removed.
package final class FileReplacement: Sendable {
    /// The final path, with symbolic links resolved.
    private let target: String
    /// The path of the temporary file. It is `nil` after `commit` or `discard`, and for a device or pipe, which is
    /// written directly because it can't be replaced.
    private let temporary: Locked<String?>
    private let descriptor: OwnedDescriptor

    /// Creates the temporary file, readable only by its owner. An existing file at `path` isn't changed before
    /// `commit`.
    ///
    /// - Throws: an error if the directory is missing or not writable, or if `path` is a directory.
    package init(at path: String) throws(SystemError) {
        // Other users may have write access to the directory, because the file is created under a new name and then
        // renamed.
        target = try DirectoryTrust.destination(of: path, .any)
        switch try FileSystem.entry(at: path)?.kind {
        case .directory: throw SystemError(call: "write \(path)", number: EISDIR)
        case .link, .socket, .fifo, .device:
            temporary = Locked(nil)
            descriptor = try OwnedDescriptor(device: path)
        case .file, nil:
            if let status = try FileStatus(at: target), status.owner != geteuid() {
                throw SystemError(refusing: path, because: .notReplaced(owner: status.ownerName))
            }
            Self.removeAbandoned(inDirectory: FileSystem.parent(of: target))
            let aside = "\(target).waypost-\(getpid()).part"
            try FileSystem.removeFile(at: aside, in: .any)
            descriptor = try OwnedDescriptor(writing: aside, O_WRONLY | O_CREAT | O_EXCL, in: .any)
            // The lock shows other processes that this process is still writing. The kernel releases it when the
            // process ends.
            flock(descriptor.raw, LOCK_EX | LOCK_NB)
            temporary = Locked(aside)
        }
    }

    /// Removes this user's temporary files that no process has locked. They are left over from commands that were
    /// killed.
    private static func removeAbandoned(inDirectory directory: String) {
        for name in FileSystem.visibleNames(inDirectory: directory) {
            guard let number = Int32(name.dropLast(".part".count).split(separator: "-").last ?? ""),
                name.hasSuffix(".waypost-\(number).part"),
                // A live process may have created its file and not locked it yet.
                number == getpid() || kill(number, 0) != 0 && errno == ESRCH
            else { continue }
            let path = "\(directory)/\(name)"
            guard let file = try? OwnedDescriptor(writing: path, O_WRONLY, in: .any),
                flock(file.raw, LOCK_EX | LOCK_NB) == 0
            else { continue }
            unsafe unlink(path)
        }
    }

    deinit { discard() }

    /// Removes the temporary file and forgets its path. Call this after a failure, before ending the process: `deinit`
    /// may not run if another thread still holds this object.
    package func discard() {
        temporary.withLock { aside in
            if let path = aside { unsafe unlink(path) }
            aside = nil
        }
    }

    /// Writes the contents and renames the file. When this function returns, both are on the disk. When it throws, the
    /// temporary file has been removed.
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
        try FileSystem.synchronizeDirectory(at: FileSystem.parent(of: target))
    }
}
