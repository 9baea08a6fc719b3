import BenchmarkReport
import LinuxPlatform

/// What the installed binary takes: Swift runtime inside, stripped.
enum InstalledSize {
    static func measure(_ workplace: Workplace) throws {
        let mebibytes = Double(try FileSystem.fileSize(at: workplace.binary)) / 1_048_576
        try BenchmarkCase("agent.installed-size", mebibytes, "MiB").keeping(.atMost(13)).print()
    }
}
