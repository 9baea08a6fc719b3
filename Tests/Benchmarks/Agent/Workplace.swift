import FoundationEssentials

/// What all cases share: the binary under test and a folder of their own.
///
/// The folder lies below the current one: `/tmp` may be in memory, where a commit costs nothing.
struct Workplace {
    /// The release binary, as it is installed.
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
