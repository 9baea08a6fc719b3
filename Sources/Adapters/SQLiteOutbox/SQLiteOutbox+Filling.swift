import LinuxPlatform
package import LocationReporting

/// Stores made at once, for measurements that need a large backlog.
extension SQLiteOutbox {
    /// Puts a new store with `count` pending updates at `path`, whatever was there; nobody may have it open.
    package static func fill(
        _ path: String, on disk: any StoreDisk = SystemDisk(), count: Int, update: (Int) -> LocationUpdate
    ) throws(OutboxError) {
        do throws(StoreError) {
            let files = try withSystem(path) { () throws(SystemError) in try StoreFiles(at: path, on: disk) }
            try StoreBuilder.build(files) { builder throws(StoreError) in
                var account = OutboxAccount()
                for index in 0..<count {
                    let stored = account.accept(update(index))
                    let record = UpdateRecord(stored, newestSequence: account.newest?.sequence ?? stored.sequence)
                    try builder.insertPending(record.bytes, sequence: stored.sequence)
                }
                return account
            }
            try withSystem(path) { () throws(SystemError) in try files.adoptRebuilt() }
        } catch { throw outboxError(error) }
    }
}
