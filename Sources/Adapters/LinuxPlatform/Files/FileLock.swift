import CLinux
import Glibc
import ReportedText

/// The exclusive ownership of a file, shown by a lock. Ownership ends when the value is destroyed or the process ends.
package struct FileLock: ~Copyable, Sendable {
    package enum Failure: Error, Sendable, Hashable {
        /// The holder is `nil` if neither the lock file nor `/proc` names it.
        case held(HoldingProcess?)
        case system(SystemError)
    }

    private let descriptor: OwnedDescriptor
    /// The identity of the locked file. No other file has this identity while the locked one is open.
    private let identity: FileStatus.Identity?

    deinit { LockHandover.unregister(descriptor) }

    /// Locks the file at `path` without waiting, and writes this process's id into it.
    package init(path: String) throws(Failure) {
        let descriptor = try Self.opened(path) { () throws(SystemError) in
            try OwnedDescriptor(writing: path, O_RDWR | O_CREAT)
        }
        // flock belongs to the open file, so a second owner within this process is also rejected.
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

    /// Locks the file at `path` itself without waiting, so that the lock is effective under each of its names. Doesn't
    /// follow a link, and writes nothing.
    package init(file path: String) throws(Failure) {
        let descriptor = try Self.opened(path) { () throws(SystemError) in try OwnedDescriptor(locking: path) }
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

    /// Whether the locked file is still the one at `path`.
    package func isHeld(at path: String) -> Bool {
        guard let there = try? FileStatus(at: path) else { return false }
        return there.identity == identity
    }

    /// Returns the process that holds the lock at `path`; `nil` if no process does, or if it can't be identified.
    ///
    /// Doesn't touch the lock if its writer is gone, so the check never delays another process that locks the file.
    package static func holder(at path: String) -> HoldingProcess? {
        guard let descriptor = try? OwnedDescriptor(opening: path, O_RDONLY | O_NONBLOCK),
            let holder = holder(readFrom: descriptor.raw), holder.command != nil,
            flock(descriptor.raw, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK
        else { return nil }
        return holder
    }

    /// Opens the file at `path`, or returns the descriptor through which an earlier run of the service still locks it.
    private static func opened(
        _ path: String, _ open: () throws(SystemError) -> OwnedDescriptor
    ) throws(Failure) -> OwnedDescriptor {
        if let raw = LockHandover.take(path) { return OwnedDescriptor(owning: raw) }
        do { return try open() } catch { throw .system(error) }
    }

    private static func holder(readFrom raw: CInt) -> HoldingProcess? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = unsafe pread(raw, &bytes, bytes.count, 0)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        return Int32(text.prefix { $0.isNumber }).map(HoldingProcess.init(reading:))
    }

    /// Returns the process that holds the lock on the file itself. `/proc` shows root all processes, and other users
    /// only their own.
    private static func holder(ofFile path: String) -> HoldingProcess? {
        HoldingProcess.processIDs.first { process in
            FileSystem.visibleNames(inDirectory: "/proc/\(process)/fd").contains {
                holdsLock("/proc/\(process)/fdinfo/\($0)")
                    && FileSystem.isSameFile("/proc/\(process)/fd/\($0)", path)
            }
        }.map(HoldingProcess.init(reading:))
    }

    private static func holdsLock(_ details: String) -> Bool {
        guard let bytes = try? FileSystem.read(4096, at: 0, of: details) else { return false }
        return String(decoding: bytes, as: UTF8.self).contains("OFDLCK")
    }
}
