package import LinuxPlatform
import SQLiteOutbox

/// The file operations of the outbox (`StoreDisk`).
extension LyingDisk {
    package func entry(at path: String) throws(SystemError) -> FileStatus? {
        if isOff { throw failure(of: .open, on: path, number: DiskErrno.inputOutput) }
        return try FileSystem.entry(at: path)
    }

    package func names(inDirectory path: String) throws(SystemError) -> [String] {
        if isOff { throw failure(of: .open, on: path, number: DiskErrno.inputOutput) }
        return try FileSystem.names(inDirectory: path)
    }

    package func read(_ count: Int, at offset: Int64, of path: String) throws(SystemError) -> [UInt8] {
        try perform(.read, on: path, mayWrite: false) { _ throws(SystemError) in
            try FileSystem.read(count, at: offset, of: path)
        }
    }

    package func createDirectory(at path: String) throws(SystemError) {
        if try entry(at: path)?.kind == .directory { return }
        try perform(.open, on: path) { _ throws(SystemError) in try FileSystem.createDirectory(at: path) }
    }

    package func createFile(at path: String) throws(SystemError) {
        try removeFile(at: path)
        try perform(.open, on: path) { _ throws(SystemError) in
            try FileSystem.createFile(at: path)
            recordCreation(of: path)
        }
    }

    package func reserve(_ bytes: Int64, at path: String) throws(SystemError) {
        if try fileSize(at: path) == bytes { return }
        try perform(.write, on: path) { _ throws(SystemError) in
            if try FileSystem.entry(at: path) == nil { recordCreation(of: path) }
            guard try freeBytes() >= Int(bytes) else {
                Self.remove(path)
                throw failure(of: .write, on: path, number: DiskErrno.noSpace)
            }
            try FileSystem.reserve(bytes, at: path)
        }
    }

    package func rename(_ source: String, to destination: String) throws(SystemError) {
        try perform(.rename, on: source) { _ throws(SystemError) in
            recordRename(source, to: destination)
            try FileSystem.rename(source, to: destination)
        }
    }

    package func removeFile(at path: String) throws(SystemError) {
        try perform(.delete, on: path) { _ throws(SystemError) in
            guard try FileSystem.entry(at: path) != nil else { return }
            recordRemoval(of: path)
            try FileSystem.removeFile(at: path)
        }
    }

    package func replaceFile(at path: String, with bytes: [UInt8]) throws(SystemError) {
        try perform(.write, on: path) { isShort throws(SystemError) in
            if isShort { throw failure(of: .write, on: path, number: DiskErrno.inputOutput) }
            guard try freeBytes() >= bytes.count else { throw failure(of: .write, on: path, number: DiskErrno.noSpace) }
            try FileReplacement(at: path).commit(bytes)
        }
    }

    package func synchronizeFile(at path: String) throws(SystemError) {
        try perform(.sync, on: path, mayWrite: false) { _ throws(SystemError) in recordSync(of: path) }
    }

    package func synchronizeDirectory(at path: String) throws(SystemError) {
        try perform(.sync, on: path, mayWrite: false) { _ throws(SystemError) in recordDirectorySync(path) }
    }

    package func lock(at path: String) throws(FileLock.Failure) -> FileLock {
        do throws(SystemError) {
            try perform(.open, on: path) { _ throws(SystemError) in
                if try FileSystem.entry(at: path) == nil, try freeBytes() == 0 {
                    throw failure(of: .open, on: path, number: DiskErrno.noSpace)
                }
            }
        } catch { throw .system(error) }
        return try FileLock(path: path)
    }

    package func lock(file path: String) throws(FileLock.Failure) -> FileLock {
        do throws(SystemError) { try perform(.open, on: path) { _ in } } catch { throw .system(error) }
        return try FileLock(file: path)
    }
}
