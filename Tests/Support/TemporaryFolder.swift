package import FoundationEssentials

/// A folder for one test, gone with the value.
package final class TemporaryFolder: Sendable {
    package let url: URL

    /// `inMemory`, where the system offers that, thousands of commits do not wait for a disk that others use too.
    package init(inMemory: Bool = false) throws {
        let memory = URL(filePath: "/dev/shm")
        let isInMemory = inMemory && FileManager.default.isWritableFile(atPath: memory.path)
        url = (isInMemory ? memory : FileManager.default.temporaryDirectory)
            .appending(path: "waypost-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The path of `name` in the folder.
    package func path(_ name: String) -> String { url.appending(path: name).path }

    /// Writes a file, which everybody may read unless `mode` says otherwise, and gives its path.
    @discardableResult
    package func write(_ bytes: some Sequence<UInt8>, to name: String, mode: Int? = nil) throws -> String {
        try Data(bytes).write(to: url.appending(path: name))
        if let mode {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
        }
        return path(name)
    }
}
