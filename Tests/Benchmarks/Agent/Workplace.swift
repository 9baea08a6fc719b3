import FoundationEssentials

/// The binary under test and the directory for all cases.
///
/// The directory is below the current one, because `/tmp` may be in memory, where a commit costs nothing.
struct Workplace {
    /// The installed release binary.
    let binary: String
    let directory: URL
    /// The vehicle of every case.
    static let (provider, vehicle) = ("benchmark", "van-7")

    init(binary: String) throws {
        guard FileManager.default.isExecutableFile(atPath: binary) else {
            throw BenchmarkError(
                "\(binary) is not executable; build it with scripts/release, or pass the path of another binary")
        }
        self.binary = binary
        directory = URL(filePath: FileManager.default.currentDirectoryPath)
            .appending(path: "agent-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    }

    func remove() throws { try FileManager.default.removeItem(at: directory) }

    func path(_ name: String) -> String { directory.appending(path: name).path }
}
