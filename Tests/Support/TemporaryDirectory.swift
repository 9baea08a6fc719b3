package import FoundationEssentials

/// A directory for one test, removed when this object is released.
package final class TemporaryDirectory: Sendable {
    package let url: URL

    /// Creates the directory. `inMemory` puts it in memory if possible, so that many commits don't wait for a disk.
    package init(inMemory: Bool = false) throws {
        let memory = URL(filePath: "/dev/shm")
        let isInMemory = inMemory && FileManager.default.isWritableFile(atPath: memory.path)
        url = (isInMemory ? memory : FileManager.default.temporaryDirectory)
            .appending(path: "waypost-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Returns the path of `name` in the directory.
    package func path(_ name: String) -> String { url.appending(path: name).path }

    /// Writes a file, which all users can read unless `mode` is given. Returns its path.
    @discardableResult
    package func write(_ bytes: some Sequence<UInt8>, to name: String, mode: Int? = nil) throws -> String {
        try Data(bytes).write(to: url.appending(path: name))
        if let mode {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
        }
        return path(name)
    }
}
