import Glibc

/// A file that is written under a temporary name and renamed once it is complete; otherwise nothing is left of it.
package final class FileReplacement: Sendable {
    /// Where it belongs, links followed.
    private let target: String
    /// Where it is until then; `nil` for a device or pipe, which cannot be replaced and is written to.
    private let temporary: Locked<String?>
    private let descriptor: OwnedDescriptor

    /// Begins the replacement: what is there stays as it is until `commit`.
    ///
    /// Only its owner may read it.
    ///
    /// - Throws: when the folder is missing or may not be written, or `path` is a folder.
    package init(at path: String) throws(SystemError) {
        // What is made in the folder is made under a new name and renamed: others may write there too.
        target = try FolderTrust.destination(of: path, .any)
        switch try FileSystem.entry(at: path)?.kind {
        case .folder: throw SystemError(call: "write \(path)", number: EISDIR)
        case .link, .socket, .fifo, .device:
            temporary = Locked(nil)
            descriptor = try OwnedDescriptor(device: path)
        case .file, nil:
            if let status = try FileStatus(at: target), status.owner != geteuid() {
                throw SystemError(
                    refusing: path,
                    because: "it belongs to \(FileStatus.words(status.owner)); remove it, or choose another path")
            }
            Self.removeAbandoned(inFolder: FileSystem.parent(of: target))
            let aside = "\(target).waypost-\(getpid()).part"
            try FileSystem.removeFile(at: aside, in: .any)
            descriptor = try OwnedDescriptor(writing: aside, O_WRONLY | O_CREAT | O_EXCL, in: .any)
            // Shows others that a process is still writing; the kernel releases it with the process.
            flock(descriptor.raw, LOCK_EX | LOCK_NB)
            temporary = Locked(aside)
        }
    }

    /// Removes what commands left behind that were killed while they wrote: this user's own files that are no longer
    /// locked.
    private static func removeAbandoned(inFolder folder: String) {
        for name in FileSystem.visibleNames(inFolder: folder) {
            guard let number = Int32(name.dropLast(".part".count).split(separator: "-").last ?? ""),
                name.hasSuffix(".waypost-\(number).part"),
                // It may be about to take its lock.
                number == getpid() || kill(number, 0) != 0 && errno == ESRCH
            else { continue }
            let path = "\(folder)/\(name)"
            guard let file = try? OwnedDescriptor(writing: path, O_WRONLY, in: .any),
                flock(file.raw, LOCK_EX | LOCK_NB) == 0
            else { continue }
            unsafe unlink(path)
        }
    }

    deinit { discard() }

    /// Leaves nothing behind and releases the path. Whoever ends the process after a failure calls this: another
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
}
