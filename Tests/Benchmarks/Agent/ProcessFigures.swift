import FoundationEssentials
import Glibc

/// What the kernel says of a running process (proc(5)).
enum ProcessFigures {
    /// A line of `/proc/PID/status` that counts memory, as `VmRSS`, in MiB.
    static func memory(_ name: String, of processID: pid_t) throws -> Double {
        let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        guard let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) })
        else { throw BenchmarkError("/proc/\(processID)/status has no \(name)") }
        return kibibytes / 1024
    }

    /// Time on a processor of all threads that live now: in nanoseconds, where `/proc/PID/stat` counts in ticks.
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
