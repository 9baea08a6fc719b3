import FoundationEssentials
import Glibc

/// The kernel's figures for a running process (proc(5)).
enum ProcessFigures {
    /// Returns a memory figure of `/proc/PID/status`, such as `VmRSS`, in MiB.
    static func memory(_ name: String, of processID: pid_t) throws -> Double {
        let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        guard let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) })
        else { throw BenchmarkError("/proc/\(processID)/status has no \(name)") }
        return kibibytes / 1024
    }

    /// Returns the processor time of all current threads, exact to nanoseconds, unlike the time in `/proc/PID/stat`.
    static func processorTime(of processID: pid_t) throws -> Duration {
        let tasks = "/proc/\(processID)/task"
        var nanoseconds: Int64 = 0
        for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
            let figures = try String(contentsOfFile: "\(tasks)/\(task)/schedstat", encoding: .utf8)
            nanoseconds += figures.split(separator: " ").first.flatMap { Int64($0) } ?? 0
        }
        return .nanoseconds(nanoseconds)
    }
}
