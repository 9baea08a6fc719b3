import FoundationEssentials

/// A folder of its own for one test, gone with the value.
final class TemporaryFolder {
    private let url = FileManager.default.temporaryDirectory.appending(path: "waypost-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Where a file of that name stands, or would stand.
    func path(_ name: String) -> String { url.path + "/" + name }

    /// Writes a file with `mode` and answers with its path.
    func file(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
        let path = path(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }
}
