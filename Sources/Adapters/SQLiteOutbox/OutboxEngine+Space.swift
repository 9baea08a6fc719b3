import LinuxPlatform
import LocationReporting

/// Room: the cap on the store, the reserve for a full disk, and the lock that needs a few bytes of it.
extension OutboxEngine {
    /// Removes blocks of the oldest updates until there is room again, never the newest one; whether any went.
    func evictNearCap(_ store: OutboxStore, _ next: inout OutboxAccount) throws(StoreError) -> Bool {
        let margin = 8 * StoreFormat.pageSize
        var isAny = false
        while try store.bytesInUse() > configuration.maximumBytes - margin {
            var removed = false
            for record in try store.rows.oldest(limit: Self.evictionBlock)
            where record.stored.sequence != next.newest?.sequence {
                if try store.remove(record.stored.sequence) {
                    next.evictForSpace(record.stored)
                    removed = true
                }
            }
            guard removed else { return isAny }
            isAny = true
        }
        return isAny
    }

    /// Runs `body` again with the reserve given back when the disk is full.
    func withReserve<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        do throws(StoreError) { return try body() } catch {
            guard error.kind == .full, !error.isFailedSync else { throw error }
            try releaseReserve()
            return try body()
        }
    }

    func reserveSpace() throws(StoreError) {
        try withSystem(files.path) { () throws(SystemError) in
            try files.disk.reserve(Self.reserveBytes, at: files.reserve)
        }
    }

    func releaseReserve() throws(StoreError) {
        try withSystem(files.path) { () throws(SystemError) in try files.disk.removeFile(at: files.reserve) }
    }

    static func takeLock(_ files: StoreFiles) throws(OutboxError) -> FileLock {
        do { try files.disk.createFolder(at: FileSystem.parent(of: files.path)) } catch {
            throw outboxError(StoreError(error, path: files.path))
        }
        do { return try files.disk.lock(at: files.lock) } catch {
            guard case .system(let cause) = error, StoreError(cause, path: files.path).kind == .full else {
                throw outboxError(error, files)
            }
        }
        // Not even the lock's few bytes: a full disk must not keep the service from starting.
        do { try files.disk.removeFile(at: files.reserve) } catch { throw outboxError(.system(error), files) }
        do { return try files.disk.lock(at: files.lock) } catch { throw outboxError(error, files) }
    }
}
