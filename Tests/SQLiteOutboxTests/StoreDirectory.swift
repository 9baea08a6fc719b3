import FoundationEssentials
import LinuxPlatform
import LyingDisk
import Reporting
import TimeAndRandomness
import WaypostTestSupport

@testable import SQLiteOutbox

/// A directory for the stores of one test, which is removed with this object.
final class StoreDirectory: Sendable {
    private let directory: TemporaryDirectory
    private let reported = Locked<[OutboxRecovery]>([])

    init() throws { directory = try TemporaryDirectory(inMemory: true) }

    var url: URL { directory.url }

    var store: String { path("outbox.sqlite") }

    /// The repairs that the outboxes of this directory have reported.
    var recoveries: [OutboxRecovery] { reported.withLock { $0 } }

    func path(_ name: String) -> String { directory.path(name) }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }

    func configuration(
        _ name: String = "outbox.sqlite", maximumBytes: Int64 = 64_000_000, on disk: any StoreDisk = SystemDisk()
    ) -> OutboxConfiguration {
        var configuration = OutboxConfiguration(path: path(name), maximumBytes: maximumBytes)
        configuration.now = { UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: 36_930_250) }
        configuration.disk = disk
        configuration.reportRecovery = { [reported] recovery in reported.withLock { $0.append(recovery) } }
        return configuration
    }

    /// Runs SQL on the store through another connection.
    func execute(_ sql: String) throws {
        let connection = try SQLiteConnection(path: store, access: .readWrite)
        try connection.execute("PRAGMA secure_delete = ON; PRAGMA legacy_alter_table = ON; \(sql)")
    }

    /// Inserts a pending update through another connection.
    func insertRow(_ stored: StoredUpdate) throws {
        try execute(UpdateRecord(stored).row.sql)
    }

    func open(_ name: String = "outbox.sqlite", on disk: any StoreDisk = SystemDisk()) throws -> OutboxEngine {
        try OutboxEngine(configuration(name, on: disk))
    }

    func read(_ name: String) throws -> [UInt8] { try [UInt8](Data(contentsOf: url.appending(path: name))) }

    func write(_ bytes: some Collection<UInt8>, to name: String) throws { try directory.write(bytes, to: name) }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

    /// Whether this process holds a lock on the file that other processes see (/proc/locks).
    func isLocked(_ name: String) throws -> Bool {
        let attributes = try FileManager.default.attributesOfItem(atPath: path(name))
        let holder = " \(ProcessInfo.processInfo.processIdentifier) "
        let file = (attributes[.systemFileNumber] as? UInt64).map { ":\($0) " } ?? "no number"
        let locks = try BoundedFile.contents(of: "/proc/locks", limit: 1 << 20)
        return String(decoding: locks, as: UTF8.self).split(separator: "\n").contains {
            $0.contains("POSIX") && $0.contains(holder) && $0.contains(file)
        }
    }

    /// Returns a disk for this directory that can be made to fail.
    func lyingDisk(seed: UInt64) -> LyingDisk { LyingDisk(directory: url.path, seed: seed) }

    /// Builds a store with `count` pending updates.
    func buildBacklog(_ count: Int) throws {
        let files = StoreFiles(path: store, disk: SystemDisk())
        try StoreBuilder.build(files, for: nil) { builder throws(OutboxError) in
            var counters = OutboxCounters()
            for second in 1...count {
                let stored = counters.accept(sample(second))
                try builder.insert(UpdateRecord(stored).row)
            }
            return counters
        }
        try files.adoptRebuilt()
    }

    /// The version number in the file.
    var version: Int64 {
        get throws {
            try StoreHeader(StoreFiles(path: store, disk: SystemDisk()), at: store, checksVersion: false).version
        }
    }

    func rename(_ source: String, to destination: String) throws {
        try? FileManager.default.removeItem(atPath: path(destination))
        try FileManager.default.moveItem(atPath: path(source), toPath: path(destination))
    }

    /// Damages the checksum of a row of `sample` in the database. The tree stays sound.
    func breakRow(_ sequence: Int) throws {
        var database = try read("outbox.sqlite")
        let stored = StoredUpdate(sequence: Int64(sequence), update: sample(sequence))
        let cell = UpdateRecord(stored).row.cell
        guard let range = database.firstRange(of: cell) else {
            throw OutboxError(.unusable)
        }
        database[range.upperBound - 1] ^= 0xff
        try write(database, to: "outbox.sqlite")
    }

    /// Zeroes the header of the database, so that no table can be read.
    func breakHeader() throws {
        try write(repeatElement(0, count: 100) + read("outbox.sqlite").dropFirst(100), to: "outbox.sqlite")
    }

    /// Closes `owner`, and leaves the files in the state that a power cut would.
    func moveStore(owner: OutboxEngine) throws {
        try copyStore(to: "cut")
        try owner.close()
        for suffix in ["", "-wal"] { try rename("cut" + suffix, to: "outbox.sqlite" + suffix) }
    }

    /// Copies the store's current files, in the state that a power cut would leave.
    func copyStore(to name: String) throws {
        for suffix in ["", "-wal"] {
            try? FileManager.default.removeItem(atPath: path(name + suffix))
            if exists("outbox.sqlite" + suffix) {
                try FileManager.default.copyItem(atPath: store + suffix, toPath: path(name + suffix))
            }
        }
    }
}
