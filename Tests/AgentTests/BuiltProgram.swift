import FoundationEssentials
import LinuxPlatform
import WaypostTestSupport

enum BuiltProgram {
    /// `waypost`, built together with these tests. `WAYPOST_PROGRAM` names another one, such as the installed one.
    static let waypost: String = {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["WAYPOST_PROGRAM"] { return path }
        let files = FileManager.default
        if let tests = try? files.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            let beside = URL(filePath: tests).deletingLastPathComponent().appending(path: "waypost").path
            if files.isExecutableFile(atPath: beside) { return beside }
        }
        return Fixtures.checkout.appending(path: ".build/debug/waypost").path
    }()

    /// The time after which a program is considered hanging, even on a busy machine.
    static let hangTimeout = Duration.seconds(100)

    static func run(_ arguments: [String], timeLimit: Duration = hangTimeout) async throws -> ChildProcess.Outcome {
        try await ChildProcess(
            arguments: [waypost] + arguments, environment: environment, timeLimit: timeLimit, outputLimit: 1 << 22
        ).run()
    }

    /// Returns the arguments with which root starts `waypost` as `user`. This user can read every file that it needs,
    /// but can't write the tests' coverage data.
    static func command(asUser user: Int) -> [String] {
        [
            "/usr/bin/env", "LLVM_PROFILE_FILE=/dev/null", "/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)",
            "--clear-groups", "--inh-caps=+dac_read_search",
            "--ambient-caps=+dac_read_search", waypost,
        ]
    }

    /// The environment variables that a program needs when the tests run under a tool such as a sanitizer.
    static var environment: [String: String] {
        ProcessInfo.processInfo.environment.filter {
            ["LLVM_PROFILE_FILE", "TSAN_OPTIONS", "ASAN_OPTIONS", "LSAN_OPTIONS", "SWIFT_BACKTRACE"].contains($0.key)
        }
    }
}
