import BenchmarkReport
import LinuxPlatform

/// Measures the size of the installed binary, stripped and including the Swift runtime.
enum InstalledSize {
    static func measure(in workplace: Workplace) throws {
        let mebibytes = Double(try FileSystem.fileSize(at: workplace.binary)) / 1_048_576
        try BenchmarkCase("agent.installed-size", mebibytes, "MiB").keeping(.atMost(13)).print()
    }
}
