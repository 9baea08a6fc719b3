/// What makes a SQLite file a store of this program.
///
/// Two tables of (id, sealed record). In `records`, id 0 is the ledger and every other id the sequence of a pending
/// update, so that in the live state, with one update pending, an append with the acknowledgement before it changes one
/// page of 1 KiB. No AUTOINCREMENT, no index, no automatic vacuum: each would change a second page. A third table holds
/// what the tools ask of the owner; it is empty but for moments.
enum StoreFormat {
    static let pageSize: Int64 = 1024
    /// No row of an update is shorter: its place, length, sequence and seal, a time and two coordinates.
    static let shortestRow: Int64 = 16
    /// "Wayp".
    static let applicationID: Int64 = 0x5761_7970
    /// 1 had no requests, two reasons of eviction, and no times of those in quarantine.
    static let version: Int64 = 2

    static let creation = """
        PRAGMA page_size = \(pageSize);
        PRAGMA auto_vacuum = NONE;
        PRAGMA journal_mode = MEMORY;
        PRAGMA synchronous = OFF;
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        BEGIN;
        \(StoreSchema.records);
        \(StoreSchema.quarantined);
        \(StoreSchema.requests);
        """

    /// What a connection of the owner sets.
    ///
    /// A checkpoint comes each 256 pages: the log stays at that size, its blocks are overwritten in place, and neither
    /// log nor checkpoint needs more space on a full disk than the reserve gives back. Deleted rows are overwritten, so
    /// that a salvage never takes them for pending ones.
    static let ownerSettings = """
        PRAGMA synchronous = FULL;
        PRAGMA wal_autocheckpoint = 256;
        PRAGMA journal_size_limit = 1048576;
        PRAGMA cache_size = -1024;
        PRAGMA mmap_size = 0;
        PRAGMA temp_store = MEMORY;
        PRAGMA secure_delete = ON;
        """

    /// What a tool sets that asks the owner for something: its few bytes need not survive a power cut, and what is in
    /// the log is the owner's to move.
    static let requesterSettings = """
        PRAGMA synchronous = NORMAL;
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA cache_size = -1024;
        PRAGMA mmap_size = 0;
        PRAGMA secure_delete = ON;
        """

    static let readerSettings = """
        PRAGMA cache_size = -1024;
        PRAGMA mmap_size = 0;
        PRAGMA query_only = ON;
        """
}
