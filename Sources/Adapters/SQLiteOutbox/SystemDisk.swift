package import LinuxPlatform

/// The file systems of this machine.
package struct SystemDisk: StoreDisk {
    package var databaseFileSystem: String? { nil }

    package init() {}

    package func entry(at path: String) throws(SystemError) -> FileSystem.Entry? { try FileSystem.entry(at: path) }

    package func names(inFolder path: String) throws(SystemError) -> [String] {
        try FileSystem.names(inFolder: path)
    }

    package func read(_ count: Int, at offset: Int64, of path: String) throws(SystemError) -> [UInt8] {
        try FileSystem.read(count, at: offset, of: path)
    }

    package func createFolder(at path: String) throws(SystemError) { try FileSystem.createFolder(at: path) }

    package func createFile(at path: String) throws(SystemError) { try FileSystem.createFile(at: path) }

    package func reserve(_ bytes: Int64, at path: String) throws(SystemError) {
        try FileSystem.reserve(bytes, at: path)
    }

    package func rename(_ source: String, to destination: String) throws(SystemError) {
        try FileSystem.rename(source, to: destination)
    }

    package func removeFile(at path: String) throws(SystemError) { try FileSystem.removeFile(at: path) }

    package func synchronizeFile(at path: String) throws(SystemError) { try FileSystem.synchronizeFile(at: path) }

    package func synchronizeFolder(at path: String) throws(SystemError) {
        try FileSystem.synchronizeFolder(at: path)
    }

    package func lock(at path: String) throws(FileLock.Failure) -> FileLock { try FileLock(path: path) }

    package func lock(file path: String) throws(FileLock.Failure) -> FileLock { try FileLock(file: path) }
}
