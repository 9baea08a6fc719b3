import CLinux
import Glibc
import ReportedText

/// Exclusive ownership of something on disk, told by a lock file; released when the value goes, or the process ends.
package struct FileLock: ~Copyable, Sendable {
    /// Who holds the lock, from what the holder wrote into the file.
    package struct Held: Error, Sendable, Hashable {
        /// Process id of the holder; `nil` when the file does not tell.
        package let processID: Int32?
        /// Its command name; `nil` when it cannot be read.
        package let command: String?
    }

    /// Why there is no lock.
    package enum Failure: Error, Sendable, Hashable {
        case held(Held)
        case system(SystemError)
    }

    private let descriptor: OwnedDescriptor

    /// Takes the lock at `path` without waiting, and writes this process's id into it.
    package init(path: String) throws(Failure) {
        let descriptor = try Self.open(path)
        // flock belongs to the open file, so a second owner within this process is refused as well.
        guard flock(descriptor.raw, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            guard number == EWOULDBLOCK else { throw .system(SystemError(call: "lock \(path)", number: number)) }
            throw .held(Self.holder(readFrom: descriptor.raw))
        }
        let text = Array("\(getpid())\n".utf8)
        do {
            try valueOrSystemError("truncate \(path)") { ftruncate(descriptor.raw, 0) }
            try descriptor.writeAll(text.span)
        } catch { throw .system(error) }
        self.descriptor = descriptor
    }

    private static func open(_ path: String) throws(Failure) -> OwnedDescriptor {
        do { return try OwnedDescriptor(opening: path, O_RDWR | O_CREAT) } catch { throw .system(error) }
    }

    private static func holder(readFrom raw: CInt) -> Held {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = unsafe pread(raw, &bytes, bytes.count, 0)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        guard let processID = Int32(text.prefix { $0.isNumber }) else { return Held(processID: nil, command: nil) }
        return Held(processID: processID, command: commandName(ofProcess: processID))
    }
}

/// The command name that the kernel keeps for a process; `nil` when there is no such process.
package func commandName(ofProcess processID: Int32) -> String? {
    guard let descriptor = try? OwnedDescriptor(opening: "/proc/\(processID)/comm", O_RDONLY) else { return nil }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe read(descriptor.raw, &bytes, bytes.count)
    let name = ReportedText(bytes: bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") })
    return name.isEmpty ? nil : name.description
}
