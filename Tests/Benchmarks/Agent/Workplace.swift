import FoundationEssentials

/// The binary under test and the directory for all cases.
///
/// The directory is below the current one, because `/tmp` may be in memory, where a commit costs nothing.
struct Workplace {
    /// The installed release binary.
    let binary: String
    let folder: URL
    /// The vehicle of every case.
    static let (provider, vehicle) = ("benchmark", "van-7")

    init(binary: String) throws {
        guard FileManager.default.isExecutableFile(atPath: binary) else {
            throw BenchmarkError("\(binary) is not a program; build it with scripts/release, or name another one")
        }
        self.binary = binary
        folder = URL(filePath: FileManager.default.currentDirectoryPath)
            .appending(path: "agent-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }

    func remove() throws { try FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appending(path: name).path }
}
