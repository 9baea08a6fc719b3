import FoundationEssentials
import GNSS
import Glibc
import LocationReporting
import SQLiteOutbox

/// What an update costs: bytes on the disk, time to be durable, time and memory to open a large backlog.
///
/// Usage: `OutboxBenchmark [UPDATES] [PENDING]`; 5000 and 1,000,000 unless told. Prints one JSON object a line. Runs in a
/// folder below the current one (memory file systems would make every sync free), which is removed at the end.
///
/// Bytes are `wchar` of `/proc/self/io`, what was handed to `write`: log frames and checkpoints, on every file system
/// alike. `write_bytes`, printed beside it, is what the kernel scheduled for the device in whole pages of 4 KiB, each
/// time one is made dirty again, without the file system's journal: the figure of this machine rather than of the store.
@main enum OutboxBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let updates = arguments.first ?? 5000
        let pending = arguments.dropFirst().first ?? 1_000_000
        let folder = URL(filePath: FileManager.default.currentDirectoryPath)
            .appending(path: "outbox-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }

        try await live(folder, updates: updates)
        for pageSize in [1024, 4096] {
            try BareInsert.run(path: folder.appending(path: "bare-\(pageSize)").path, pageSize: pageSize, rows: updates)
        }
        try await backlog(folder, pending: pending)
    }

    /// One append and one acknowledgement an update, as a vehicle under way does it.
    private static func live(_ folder: URL, updates: Int) async throws {
        let outbox = try await SQLiteOutbox.open(configuration(folder, "live.sqlite"))
        var latencies: [Duration] = []
        let clock = ContinuousClock()
        let before = try DiskUse.now()
        for second in 0..<updates {
            let start = clock.now
            try await outbox.append(update(second))
            latencies.append(start.duration(to: clock.now))
            if let batch = try await outbox.nextBatch(maximumPastLocations: 50) { try await outbox.acknowledge(batch) }
        }
        try await outbox.close()
        let used = try DiskUse.now().since(before)
        latencies.sort()
        report(
            "outbox.live",
            [
                ("updates", "\(updates)"), ("bytesPerUpdate", "\(used.written / updates)"),
                ("deviceBytesPerUpdate", "\(used.scheduled / updates)"),
                ("appendMillisecondsP50", milliseconds(latencies[latencies.count / 2])),
                ("appendMillisecondsP99", milliseconds(latencies[latencies.count * 99 / 100])),
            ])
    }

    /// Offline for long, then opened again, then the live position first and a part of the backlog.
    private static func backlog(_ folder: URL, pending: Int) async throws {
        let configuration = configuration(folder, "backlog.sqlite")
        let clock = ContinuousClock()
        let before = try DiskUse.now()
        var start = clock.now
        do {
            let outbox = try await SQLiteOutbox.open(configuration)
            // The first ones as they come; the rest at once, since a million syncs say no more.
            for second in 0..<5000 { try await outbox.append(update(second)) }
            let used = try DiskUse.now().since(before)
            report(
                "outbox.offline",
                [
                    ("updates", "5000"), ("bytesPerUpdate", "\(used.written / 5000)"),
                    ("deviceBytesPerUpdate", "\(used.scheduled / 5000)"),
                ])
            try await outbox.close()
        }
        try SQLiteOutbox.fill(configuration.path, count: pending) { update($0) }
        let residentBefore = try residentKibibytes()
        start = clock.now
        let outbox = try await SQLiteOutbox.open(configuration)
        let opened = start.duration(to: clock.now)
        let batch = try await outbox.nextBatch(maximumPastLocations: 50)
        let ready = start.duration(to: clock.now)
        report(
            "outbox.open",
            [
                ("pending", "\(try await outbox.ledger().pending)"), ("openMilliseconds", milliseconds(opened)),
                ("firstBatchMilliseconds", milliseconds(ready)),
                ("residentKibibytesBefore", "\(residentBefore)"), ("residentKibibytes", "\(try residentKibibytes())"),
            ])
        if let batch { try await outbox.acknowledge(batch) }

        let beforeDrain = try DiskUse.now()
        var drained = 0
        start = clock.now
        for _ in 0..<200 {
            guard let batch = try await outbox.nextBatch(maximumPastLocations: 50) else { break }
            try await outbox.acknowledge(batch)
            drained += batch.pending.count
        }
        let seconds = start.duration(to: clock.now) / .seconds(1)
        let used = try DiskUse.now().since(beforeDrain)
        report(
            "outbox.drain",
            [
                ("updates", "\(drained)"), ("updatesPerSecond", "\(Int(Double(drained) / seconds))"),
                ("bytesPerUpdate", "\(used.written / max(1, drained))"),
                ("residentKibibytes", "\(try residentKibibytes())"),
            ])
        try await outbox.close()
        try await salvage(configuration)
    }

    /// The same backlog with its root page gone.
    private static func salvage(_ configuration: OutboxSettings) async throws {
        let descriptor = unsafe open(configuration.path, O_WRONLY)
        let zeros = [UInt8](repeating: 0, count: 1024)
        guard unsafe pwrite(descriptor, zeros, zeros.count, 1024) == zeros.count, close(descriptor) == 0 else {
            preconditionFailure("cannot damage \(configuration.path)")
        }
        let clock = ContinuousClock()
        let start = clock.now
        let outbox = try await SQLiteOutbox.open(configuration)
        let opened = start.duration(to: clock.now)
        report(
            "outbox.salvage",
            [
                ("salvaged", "\(try await outbox.ledger().pending)"), ("openMilliseconds", milliseconds(opened)),
                ("residentKibibytes", "\(try residentKibibytes())"),
            ])
        try await outbox.close()
    }

    private static func configuration(_ folder: URL, _ name: String) -> OutboxSettings {
        OutboxSettings(
            path: folder.appending(path: name).path, maximumBytes: 1_000_000_000,
            now: { UTCTime(year: 2026, month: 1, day: 5) }, reportRecovery: { _ in })
    }

    static func update(_ second: Int) -> LocationUpdate {
        // Positions as receivers state them: 7 decimals of a degree.
        var update = LocationUpdate(
            timeOfFix: UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: second * 1000),
            latitude: Double(481_173_000 + second * 13) / 1e7, longitude: Double(115_166_667 + second * 29) / 1e7)
        update.altitudeMeters = 545.4
        update.speedMetersPerSecond = Double(10_000 + second % 5000) / 1000
        update.headingDegrees = second % 360
        update.horizontalAccuracyMeters = 2.5
        return update
    }

    static func report(_ benchmark: String, _ values: [(name: String, value: String)]) {
        let pairs = values.map { "\"\($0.name)\":\($0.value)" }
        print("{\"case\":\"\(benchmark)\",\(pairs.joined(separator: ","))}")
    }

    private static func milliseconds(_ duration: Duration) -> String {
        "\((duration / .milliseconds(1) * 1000).rounded() / 1000)"
    }

    private static func residentKibibytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return line.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }
}
