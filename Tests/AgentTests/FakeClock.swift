import FoundationEssentials
import Glibc
import LinuxPlatform
import Testing
import TimeAndRandomness
import WaypostTestSupport

/// A wrong clock for one process, made by libfaketime (Debian: faketime).
final class FakeClock {
    static let requirement = Comment(
        "libfaketime, no sanitizer, and a kernel that does not report its clock as synchronised are needed")
    private static let library = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/faketime/libfaketimeMT.so.1" }
        .first { FileManager.default.fileExists(atPath: $0) }

    /// Whether libfaketime can fake the clock that Waypost uses. It can't fake the kernel's report that the clock is
    /// synchronised, and Waypost trusts a synchronised clock.
    static let isUsable =
        library != nil && UTCTime.synchronizedSystem == nil
        && !["TSAN_OPTIONS", "ASAN_OPTIONS"].contains { ProcessInfo.processInfo.environment[$0] != nil }

    private let file: String
    private var processID: Int32?

    /// Creates a clock. `setting` is `@` with a local time from which the clock runs, or an offset in seconds.
    init(_ setting: String, in directory: TemporaryDirectory) throws {
        file = directory.path("clock")
        try set(setting)
    }

    // libfaketime's shared memory outlives the process, so it is removed here.
    deinit {
        guard let processID else { return }
        for kind in ["sem.faketime_sem", "faketime_shm"] { unsafe unlink("/dev/shm/\(kind)_\(processID)") }
    }

    func set(_ setting: String) throws {
        try Data((setting + "\n").utf8).write(to: URL(filePath: file + ".new"))
        try FileSystem.rename(file + ".new", to: file)
    }

    /// Starts the service through env: libfaketime adds variables to the environment of the first program, and a Swift
    /// program could then not find its arguments.
    func startService(config: String) throws -> RunningProgram {
        let settings = [
            "LD_PRELOAD": Self.library ?? "", "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1", "TZ": "UTC",
        ]
        let service = try RunningProgram(
            ["/usr/bin/env", BuiltProgram.waypost, "run", "--config", config],
            environment: BuiltProgram.environment.merging(settings) { $1 })
        processID = service.processID
        return service
    }
}
