import CLinux
import Glibc
import ReportedText

/// An exclusive lock on a file. It is held until the value is destroyed or the process ends.
package struct FileLock: ~Copyable, Sendable {
    package enum Failure: Error, Sendable, Hashable {
        /// Another process holds the lock. The value is `nil` if neither the lock file nor `/proc` identifies that
        /// process.
        case held(HoldingProcess?)
        case system(SystemError)
    }

    private let descriptor: OwnedDescriptor
    /// The identity of the locked file. While that file is open, no other file can have the same identity.
    private let identity: FileStatus.Identity?

    deinit { LockHandover.unregister(descriptor) }

    /// Locks the file at `path` without waiting, and writes this process's id to the file.
    package init(path: String) throws(Failure) {
        let descriptor = try Self.inheritedOrOpened(path) { () throws(SystemError) in
            try OwnedDescriptor(writing: path, O_RDWR | O_CREAT)
        }
        // `flock` locks belong to the open file, not to the process. So a second lock from within this process is
        // rejected too.
        guard flock(descriptor.raw, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            guard number == EWOULDBLOCK else { throw .system(SystemError(call: "lock \(path)", number: number)) }
            throw .held(Self.holder(readFrom: descriptor.raw))
        }
        let text = Array("\(getpid())\n".utf8)
        do {
            try valueOrSystemError("truncate \(path)") { ftruncate(descriptor.raw, 0) }
            try valueOrSystemError("seek in \(path)") { lseek(descriptor.raw, 0, SEEK_SET) }
            try descriptor.writeAll(text.span)
            identity = try FileStatus(of: descriptor).identity
        } catch { throw .system(error) }
        LockHandover.register(descriptor)
        self.descriptor = descriptor
    }

    /// Locks the file at `path` itself without waiting, so that the lock holds under every hard link to it. Doesn't
    /// follow a symbolic link, and writes nothing.
    package init(file path: String) throws(Failure) {
        let descriptor = try Self.inheritedOrOpened(path) { () throws(SystemError) in
            try OwnedDescriptor(locking: path)
        }
        guard clinux_own_file(descriptor.raw) == 0 else {
            let number = errno
            guard number == EAGAIN || number == EACCES else {
                throw .system(SystemError(call: "lock \(path)", number: number))
            }
            throw .held(Self.holder(ofFile: path))
        }
        do { identity = try FileStatus(of: descriptor).identity } catch { throw .system(error) }
        LockHandover.register(descriptor)
        self.descriptor = descriptor
    }

    /// Whether the file at `path` is still the one that was locked.
    package func isHeld(at path: String) -> Bool {
        guard let there = try? FileStatus(at: path) else { return false }
        return there.identity == identity
    }

    /// Returns the process that holds the lock at `path`; `nil` if the lock is free or its holder can't be identified.
    ///
    /// Tries the lock only if the process named in the file is alive. So a check of an abandoned lock never makes
    /// another process's attempt fail.
    package static func holder(at path: String) -> HoldingProcess? {
        guard let descriptor = try? OwnedDescriptor(opening: path, O_RDONLY | O_NONBLOCK),
            let holder = holder(readFrom: descriptor.raw), holder.command != nil,
            flock(descriptor.raw, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK
        else { return nil }
        return holder
    }

    /// Returns the descriptor through which an earlier run of the service still holds the lock. If there is none, opens
    /// the file at `path`.
    private static func inheritedOrOpened(
        _ path: String, open: () throws(SystemError) -> OwnedDescriptor
    ) throws(Failure) -> OwnedDescriptor {
        if let raw = LockHandover.takeDescriptor(forFileAt: path) { return OwnedDescriptor(owning: raw) }
        do { return try open() } catch { throw .system(error) }
    }

    private static func holder(readFrom raw: CInt) -> HoldingProcess? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = unsafe pread(raw, &bytes, bytes.count, 0)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        return Int32(text.prefix { $0.isNumber }).map(HoldingProcess.init(reading:))
    }

    /// Returns the process that holds the lock of `init(file:)` on the file at `path`. Searches `/proc`, which shows
    /// root the files of all processes, but shows other users only the files of their own processes.
    private static func holder(ofFile path: String) -> HoldingProcess? {
        HoldingProcess.processIDs.first { process in
            FileSystem.visibleNames(inDirectory: "/proc/\(process)/fd").contains {
                showsLock(descriptorInfo: "/proc/\(process)/fdinfo/\($0)")
                    && FileSystem.isSameFile("/proc/\(process)/fd/\($0)", path)
            }
        }.map(HoldingProcess.init(reading:))
    }

    private static func showsLock(descriptorInfo path: String) -> Bool {
        guard let bytes = try? FileSystem.read(4096, at: 0, of: path) else { return false }
        return String(decoding: bytes, as: UTF8.self).contains("OFDLCK")
    }
}
