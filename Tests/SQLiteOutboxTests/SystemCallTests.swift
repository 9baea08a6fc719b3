import FoundationEssentials
import Glibc
import LinuxPlatform
import LyingDisk
import Testing
import WaypostTestSupport

@testable import SQLiteOutbox

/// The lying disk sees the same calls as the kernel: strace watches this process while it does the same work.
@Suite struct SystemCalls {
    private static let strace = "/usr/bin/strace"
    private static let isAllowed = FileManager.default.isExecutableFile(atPath: strace) && geteuid() == 0

    @Test(.enabled(if: isAllowed, "strace is not installed (Debian: apt install strace), or may not be used"))
    func areTheOnesThatTheLyingDiskObserves() async throws {
        let real = try StoreDirectory()
        let lying = try StoreDirectory()
        let trace = real.path("trace.txt")
        let watcher = try RunningProgram([
            Self.strace, "-f", "-y", "-o", trace, "-e", "trace=pwrite64,ftruncate,fsync,fdatasync,rename", "-p",
            "\(getpid())",
        ])
        try #require(await watcher.errors.line(saying: "attached") != nil)
        try writeUpdates(in: real, on: SystemDisk())
        await watcher.terminate()
        let calls = String(decoding: try real.read("trace.txt"), as: UTF8.self).split(separator: "\n")
            .compactMap { Self.call(in: $0, below: real.url.path) }
        // The lying disk replaces the count file in one call, which ends with a sync of the directory.
        let seen = zip(calls, [""] + calls).filter { $0 != Self.callOnCountFile && $1 != Self.callOnCountFile }.map(\.0)

        let disk = lying.lyingDisk(seed: 1)
        let observed = Locked<[String]>([])
        disk.observer = { call, name in
            let isTraced = [.write, .truncate, .sync, .rename].contains(call) && Self.comparesCalls(onFileNamed: name)
            let description = "\(call.rawValue) \(name == lying.url.lastPathComponent ? "." : name)"
            if isTraced { observed.withLock { $0.append(description) } }
        }
        try writeUpdates(in: lying, on: disk)
        #expect(seen.count > 500)
        #expect(observed.withLock { $0 } == seen)
    }

    private func writeUpdates(in directory: StoreDirectory, on disk: any StoreDisk) throws {
        for _ in 1...2 {
            let outbox = try directory.open(on: disk)
            for second in 1...300 { _ = try outbox.append(sample(second)) }
            for _ in 1...4 { try outbox.deliverBatch(maximumPastLocations: 20) }
            try outbox.close()
        }
    }

    private static let callOnCountFile = "a call on the count file"

    /// Whether the calls on the file are compared with those of the lying disk. SQLite's index of the log
    /// and the lock need not survive; the reserve and the count are made by other calls.
    private static func comparesCalls(onFileNamed name: String) -> Bool {
        !["-shm", ".lock", ".reserve"].contains(where: name.hasSuffix) && !name.hasPrefix("outbox.sqlite.count")
    }

    /// Returns the call in a line of strace: `write outbox.sqlite-wal` for `pwrite64(9</tmp/x/outbox.sqlite-wal>, ...`.
    private static func call(in line: Substring, below directory: String) -> String? {
        guard let match = line.firstMatch(of: /^\d+ +(\w+)\((?:\d+<|")([^>"]*)[>"]/),
            match.output.2.hasPrefix(directory)
        else { return nil }
        let calls = ["pwrite64": "write", "ftruncate": "truncate", "fsync": "sync", "fdatasync": "sync"]
        let name = match.output.2 == directory ? "." : FileSystem.lastComponent(of: String(match.output.2))
        if name.hasPrefix("outbox.sqlite.count") { return callOnCountFile }
        return comparesCalls(onFileNamed: name)
            ? "\(calls[String(match.output.1)] ?? String(match.output.1)) \(name)" : nil
    }
}
