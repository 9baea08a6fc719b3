import BenchmarkReport
import LinuxPlatform

/// A measurement of the installed binary's size, stripped and including the Swift runtime.
enum InstalledSize {
    static func measure(in workplace: Workplace) throws {
        let mebibytes = Double(try FileSystem.fileSize(at: workplace.binary)) / 1_048_576
        try BenchmarkCase("agent.installed-size", mebibytes, "MiB").keeping(.atMost(13)).print()
    }
}
