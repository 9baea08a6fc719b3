package import GNSS
package import LinuxPlatform

/// What `SQLiteOutbox` needs to know.
package struct OutboxSettings: Sendable {
    /// The database; other files lie beside it under names that begin with this one.
    package var path: String
    /// Bytes of the database in use above which pending updates give way; at least 64 KiB.
    package var maximumBytes: Int64
    /// Pending updates so much older than the newest, by their times of fix, are given up; `nil`: none is too old.
    package var maximumAge: Duration?
    /// When accepted updates reach the disk.
    package var durability = OutboxDurability.full
    /// Whether a damaged store is replaced. A tool leaves that to the service, whose files these are.
    package var repairsDamage = true
    /// Time since any moment, for the window of `durability`.
    package var uptime: @Sendable () -> Duration = { MonotonicTime.now }
    /// Names files that are set aside.
    package var now: @Sendable () -> UTCTime
    /// Called on the outbox's thread when a damaged store has been replaced, at opening or later.
    package var reportRecovery: @Sendable (StoreRecovery) -> Void
    /// Called on the outbox's thread, once, with what an operator should know although updates are stored.
    package var reportWarning: @Sendable (String) -> Void = { _ in }
    /// Makes the store full at that many pages of 1 KiB, as a full disk does; `nil`: only the disk is the limit.
    package var pageLimit: Int64?
    /// Where all of it lies.
    package var disk: any StoreDisk

    /// What follows the name of the database in those of the files beside it.
    package static let companions = [
        "", "-wal", "-shm", "-journal", ".lock", ".reserve", ".rebuilt", ".rebuilt-wal", ".rebuilt-shm",
    ]

    package init(
        path: String, maximumBytes: Int64, now: @escaping @Sendable () -> UTCTime,
        disk: any StoreDisk = SystemDisk(), reportRecovery: @escaping @Sendable (StoreRecovery) -> Void
    ) {
        self.path = path
        self.maximumBytes = max(maximumBytes, 64 * 1024)
        self.now = now
        self.disk = disk
        self.reportRecovery = reportRecovery
    }

    /// Makes sure that `user` can own the store, as far as its place tells; touches nothing.
    package func requireOwnFiles(for user: UInt32) throws(SystemError) {
        try StoreFiles(at: path, on: disk, for: user).requireOwn(for: user)
    }
}
