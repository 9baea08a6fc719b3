import BenchmarkReport
import FoundationEssentials
import Glibc
import LinuxPlatform
import Reporting
import SQLiteOutbox
import TimeAndRandomness
import WaypostTestSupport

/// Measures the cost of an update: bytes on the disk, time until it is durable, and time to open a large backlog.
///
/// Usage: `OutboxBenchmark [UPDATES] [PENDING]`; the defaults are 5000 and 1,000,000. Prints one JSON object per case
/// (`BenchmarkCase`). Runs in a directory below the current one, which is removed at the end. `/tmp` may be in memory,
/// where every sync is free.
///
/// Bytes are `wchar` of `/proc/self/io`: the bytes passed to `write` for log frames and checkpoints, equal on every
/// file system. `forTheDevice` is `write_bytes`: the pages of 4 KiB that the kernel scheduled for the device each time
/// they became dirty, without the file system's journal. This figure depends on the machine.
@main enum OutboxBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let updates = arguments.first ?? 5000
        let pending = arguments.dropFirst().first ?? 1_000_000
        let directory = URL(filePath: FileManager.default.currentDirectoryPath)
            .appending(path: "outbox-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }

        // The page size of the outbox, and SQLite's default.
        let bare = try [1024, 4096].map { size in
            try BareInsert.run(path: directory.appending(path: "bare-\(size)").path, pageSize: size, rows: updates)
        }
        try await measureLive(in: directory, updates: updates, bare: bare)
        try await measureEconomy(in: directory, updates: updates)
        try await measureOffline(in: directory, updates: updates, bare: bare)
        try await measureThinning(in: directory)
        try await measureBacklog(in: directory, pending: pending)
    }

    /// Measures one append and one acknowledgement per update, as for a moving vehicle.
    private static func measureLive(in directory: URL, updates: Int, bare: [BareInsert]) async throws {
        let outbox = try await SQLiteOutbox.open(configuration(named: "live.sqlite", in: directory))
        var append = Samples()
        let before = try DiskUse.now()
        for second in 0..<updates {
            let start = ContinuousClock.now
            try await outbox.append(update(second), with: [], overrulingEarlier: false)
            append.append(start.duration(to: ContinuousClock.now))
            if let batch = try await outbox.nextBatch(maximumPastLocations: 50, withBacklog: true) {
                try await outbox.acknowledge(batch)
            }
        }
        try await outbox.close()
        let used = try DiskUse.now().since(before)
        try BenchmarkCase("outbox.live.bytes", Double(used.written) / Double(updates), "B").keeping(.atMost(1100))
            .against("bare SQLite, insert and delete, pages of 1 KiB", limit: bare[0].insertAndDeleteBytes.written)
            .addingFigure("bareWithPagesOf4KiB", value: bare[1].insertAndDeleteBytes.written)
            .addingFigure("forTheDevice", value: Double(used.scheduled) / Double(updates)).addingFigure(
                "updates", value: Double(updates)
            ).print()
        try BenchmarkCase("outbox.append.p50", append.median, "ms")
            .against("bare SQLite, one insert, pages of 1 KiB", limit: bare[0].insertTimes.median).print()
        try BenchmarkCase("outbox.append.p99", append.percentile(0.99), "ms")
            .against("bare SQLite, one insert, pages of 1 KiB", limit: bare[0].insertTimes.percentile(0.99)).print()
    }

    /// Measures one append and one acknowledgement per update with economic durability and six updates per window,
    /// which is one update every 10 s.
    private static func measureEconomy(in directory: URL, updates: Int) async throws {
        var settings = configuration(named: "economy.sqlite", in: directory)
        settings.durability = .economy
        let uptime = Locked(Duration.zero)
        settings.uptime = { uptime.withLock { $0 } }
        let outbox = try await SQLiteOutbox.open(settings)
        let before = try DiskUse.now()
        for second in 0..<updates {
            uptime.withLock { $0 += .seconds(10) }
            _ = try await outbox.maintain()
            try await outbox.append(update(second), with: [], overrulingEarlier: false)
            if let batch = try await outbox.nextBatch(maximumPastLocations: 50, withBacklog: true) {
                try await outbox.acknowledge(batch)
            }
        }
        try await outbox.close()
        let used = try DiskUse.now().since(before)
        try BenchmarkCase("outbox.live-economy.bytes", Double(used.written) / Double(updates), "B")
            .keeping(.atMost(600)).addingFigure("forTheDevice", value: Double(used.scheduled) / Double(updates))
            .addingFigure("updates", value: Double(updates)).print()
    }

    /// Measures appends that thin pending updates near the limit, and appends far from the limit as the reference.
    private static func measureThinning(in directory: URL) async throws {
        let pending = 100_000
        typealias Outcome = (all: Samples, thinning: Samples, thinned: Int64, used: DiskUse)
        func measureAppends(cap: Int64, name: String) async throws -> Outcome {
            var settings = configuration(named: name, in: directory)
            try await fill(settings, count: pending, with: turningUpdate)
            settings.maximumBytes = cap
            let outbox = try await SQLiteOutbox.open(settings)
            let before = try DiskUse.now()
            var (all, thinning, thinned) = (Samples(), Samples(), Int64(0))
            for index in 0..<300 {
                let start = ContinuousClock.now
                try await outbox.append(turningUpdate(pending + index), with: [], overrulingEarlier: false)
                let took = start.duration(to: ContinuousClock.now)
                all.append(took)
                let count = try await outbox.summary().evictions[.thinned].count
                if count > thinned { thinning.append(took) }
                thinned = count
            }
            try await outbox.close()
            return (all, thinning, thinned, try DiskUse.now().since(before))
        }
        let far = try await measureAppends(cap: 1_000_000_000, name: "far.sqlite")
        let near = try await measureAppends(cap: 3 << 20, name: "near.sqlite")  // less than its 4.5 MB
        guard near.thinned > 0 else { preconditionFailure("nothing was thinned") }
        try BenchmarkCase("outbox.append-while-thinning.p50", near.thinning.median, "ms")
            .against("the same far from the cap", limit: far.all.median).addingFigure(
                "p99", value: near.thinning.percentile(0.99)
            )
            .addingFigure("thinned", value: Double(near.thinned)).addingFigure(
                "bytesPerThinned", value: Double(near.used.written) / Double(near.thinned)
            )
            .print()
    }

    /// Returns an update of a drive through town, with a turn every 40 updates.
    private static func turningUpdate(_ index: Int) -> LocationUpdate {
        var update = update(index)
        let corner = index / 40
        let east = corner / 2 * 40 + (corner % 2 == 0 ? index % 40 : 40)
        let north = corner / 2 * 40 + (corner % 2 == 0 ? 0 : index % 40)
        update.longitude = 11.5 + Double(east * 130) / 1e7
        update.latitude = 48.1 + Double(north * 90 + index * 7 % 13) / 1e7
        return update
    }

    /// Measures appends without deliveries.
    private static func measureOffline(in directory: URL, updates: Int, bare: [BareInsert]) async throws {
        let outbox = try await SQLiteOutbox.open(configuration(named: "offline.sqlite", in: directory))
        let before = try DiskUse.now()
        for second in 0..<updates { try await outbox.append(update(second), with: [], overrulingEarlier: false) }
        let used = try DiskUse.now().since(before)
        try await outbox.close()
        try BenchmarkCase("outbox.offline.bytes", Double(used.written) / Double(updates), "B")
            .against("bare SQLite, insert alone, pages of 1 KiB", limit: bare[0].insertBytes.written)
            .addingFigure("bareWithPagesOf4KiB", value: bare[1].insertBytes.written)
            .addingFigure("forTheDevice", value: Double(used.scheduled) / Double(updates)).addingFigure(
                "updates", value: Double(updates)
            ).print()
    }

    /// Measures opening a large backlog, delivering a part of it, and opening it when damaged.
    private static func measureBacklog(in directory: URL, pending: Int) async throws {
        let configuration = configuration(named: "backlog.sqlite", in: directory)
        try await fill(configuration, count: pending, with: update)
        let small = self.configuration(named: "small.sqlite", in: directory)
        try await fill(small, count: 1, with: update)
        let opened = try await medianOpeningTime(small, count: 40)
        let ready = try await medianOpeningTime(configuration, count: 40)
        let (outbox, _) = try await openAndTime(configuration)
        try BenchmarkCase("outbox.open-with-backlog", ready, "ms").against("the same with one pending", limit: opened)
            .addingFigure("pending", value: Double(await outbox.ledger().pending)).print()

        let before = try DiskUse.now()
        var drained = 0
        let start = ContinuousClock.now
        for _ in 0..<200 {
            guard let batch = try await outbox.nextBatch(maximumPastLocations: 50, withBacklog: true) else { break }
            try await outbox.acknowledge(batch)
            drained += batch.pending.count
        }
        let seconds = start.duration(to: ContinuousClock.now) / .seconds(1)
        let used = try DiskUse.now().since(before)
        try BenchmarkCase("outbox.drain", Double(drained) / seconds, "updates/s")
            .addingFigure("bytesPerUpdate", value: Double(used.written) / Double(max(1, drained))).print()
        try await outbox.close()

        try overwriteRootPage(at: configuration.path)
        let (salvaged, salvage) = try await openAndTime(configuration)
        try BenchmarkCase("outbox.salvage", salvage, "ms").against("opening the same without damage", limit: ready)
            .addingFigure("salvaged", value: Double(await salvaged.ledger().pending)).print()
        try await salvaged.close()
    }

    /// Creates an outbox with `count` pending updates.
    private static func fill(
        _ configuration: OutboxConfiguration, count: Int, with update: (Int) -> LocationUpdate
    ) async throws {
        var configuration = configuration
        configuration.durability = .economy
        let outbox = try await SQLiteOutbox.open(configuration)
        for index in 0..<count { try await outbox.append(update(index), with: [], overrulingEarlier: false) }
        try await outbox.close()
    }

    /// Returns the median time to open an undamaged outbox, in milliseconds.
    private static func medianOpeningTime(_ settings: OutboxConfiguration, count: Int) async throws -> Double {
        var samples = Samples()
        for _ in 0..<count {
            let (outbox, milliseconds) = try await openAndTime(settings)
            try await outbox.close()
            samples.append(.milliseconds(milliseconds))
        }
        return samples.median
    }

    /// Opens an outbox and reads its first batch. Returns the outbox, and the time in milliseconds.
    private static func openAndTime(_ settings: OutboxConfiguration) async throws -> (SQLiteOutbox, Double) {
        let start = ContinuousClock.now
        let outbox = try await SQLiteOutbox.open(settings)
        _ = try await outbox.nextBatch(maximumPastLocations: 50, withBacklog: true)
        return (outbox, start.duration(to: ContinuousClock.now) / .milliseconds(1))
    }

    /// Overwrites the root page of the updates.
    private static func overwriteRootPage(at path: String) throws {
        let descriptor = unsafe open(path, O_WRONLY)
        let zeros = [UInt8](repeating: 0, count: 1024)
        guard unsafe pwrite(descriptor, zeros, zeros.count, 1024) == zeros.count, close(descriptor) == 0 else {
            preconditionFailure("cannot damage \(path)")
        }
    }

    private static func configuration(named name: String, in directory: URL) -> OutboxConfiguration {
        OutboxConfiguration(path: directory.appending(path: name).path, maximumBytes: 1_000_000_000)
    }

    static func update(_ second: Int) -> LocationUpdate {
        // Receivers report positions with 7 decimals of a degree.
        var update = LocationUpdate(
            timeOfFix: UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: second * 1000),
            latitude: Double(481_173_000 + second * 13) / 1e7, longitude: Double(115_166_667 + second * 29) / 1e7)
        update.altitudeMeters = 545.4
        update.speedMetersPerSecond = Double(10_000 + second % 5000) / 1000
        update.headingDegrees = second % 360
        update.horizontalAccuracyMeters = 2.5
        return update
    }
}
