import LinuxPlatform
import ReportedText

/// The whole of `sqlite_schema` as this program makes it, in each version that it knows.
///
/// A table is more than its rows: triggers, views, generated columns, checks and indexes on expressions run what the
/// file says, whoever wrote it. So a store with anything else in its schema is no outbox, and damaged.
///
/// Rule: no two versions have the same schema. A version that changes only what rows mean changes the text of a table
/// all the same, be it by a comment. So a number that is too high over a schema known here has a flipped bit, and is
/// damage; over any other it is a newer release's, whose store is not touched.
struct StoreSchema: Sendable {
    struct Version: Sendable {
        /// Each with the text that makes it, in the order in which they are made.
        let tables: [(name: String, text: String)]
        /// SQL that makes a store of this version from one of the version before.
        var step = ""
    }

    /// The first is number 1, the last is the one that is made.
    let versions: [Version]

    /// Those of all releases.
    ///
    /// Two tables of (id, sealed record). In `records`, id 0 is the ledger and every other id the sequence of a pending
    /// update, so that in the live state, with one update pending, an append with the acknowledgement before it changes
    /// one page of 1 KiB. No AUTOINCREMENT, no index, no automatic vacuum: each would change a second page. A third
    /// table holds what the tools ask of the owner; it is empty but for moments.
    static let released = StoreSchema(versions: [
        Version(tables: [
            ("records", "CREATE TABLE records (id INTEGER PRIMARY KEY, body BLOB NOT NULL)"),
            ("quarantined", "CREATE TABLE quarantined (id INTEGER PRIMARY KEY, body BLOB NOT NULL)"),
            ("requests", "CREATE TABLE requests (id INTEGER PRIMARY KEY, body BLOB NOT NULL, answer BLOB)"),
        ])
    ])

    /// The version that is made.
    var current: Int64 { Int64(versions.count) }

    /// What makes a new store, in a transaction that is left open.
    var creation: String {
        let tables = versions.last?.tables.map { $0.text + ";" } ?? []
        return """
            PRAGMA page_size = \(StoreFormat.pageSize);
            PRAGMA auto_vacuum = NONE;
            PRAGMA journal_mode = MEMORY;
            PRAGMA synchronous = OFF;
            PRAGMA application_id = \(StoreFormat.applicationID);
            PRAGMA user_version = \(current);
            BEGIN;
            \(tables.joined(separator: "\n"))
            """
    }

    /// What makes a store of the current version from one of `version`; `nil` when it is one.
    func migration(from version: Int64) -> String? {
        guard version < current else { return nil }
        let steps = versions.dropFirst(Int(version)).map { $0.step + ";" }
        return "\(steps.joined(separator: "\n"))\nPRAGMA user_version = \(current);"
    }

    /// How many versions a newer release may be ahead; a number beyond that is a flipped bit.
    private static let furthestRelease: Int64 = 1000
    /// Instructions of SQLite's machine that reading and comparing a schema may take: a tenth of it does for ours, and
    /// reading a crafted one of a million tables stops before it has filled the memory.
    private static let stepLimit: Int32 = 10_000

    /// The version of the store behind `connection`, which has run nothing yet but what needs no schema.
    ///
    /// - Throws: `damaged` when its schema is not what this program makes; `newerSchema`.
    func version(of connection: borrowing SQLiteConnection) throws(StoreError) -> Int64 {
        connection.limitSteps(Self.stepLimit)
        defer { connection.limitSteps(nil) }
        let version = try connection.integer("PRAGMA user_version") ?? 0
        try check(version: version, of: connection.path, isKnown: isKnown(connection))
        try require(versions[Int(version) - 1], connection)
        return version
    }

    /// Whether the schema is that of any version known here, whatever its number says.
    func isKnown(_ connection: borrowing SQLiteConnection) throws(StoreError) -> Bool {
        connection.limitSteps(Self.stepLimit)
        defer { connection.limitSteps(nil) }
        for version in versions {
            do throws(StoreError) {
                try require(version, connection)
                return true
            } catch { if error.kind != .damaged { throw error } }
        }
        return false
    }

    private func require(_ version: Version, _ connection: borrowing SQLiteConnection) throws(StoreError) {
        let statement = try SQLiteStatement(
            connection, "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_schema")
        var found: Set<String> = []
        var roots: Set<Int64> = []
        while try statement.step() {
            guard statement.text(0) == "table", let name = statement.text(1), statement.text(2) == name,
                let text = statement.text(3), version.tables.contains(where: { $0 == (name, text) }),
                found.insert(name).inserted, roots.insert(statement.integer(4)).inserted
            else { throw foreign(statement.text(0), statement.text(1), in: connection.path) }
        }
        guard found.count == version.tables.count else {
            throw StoreError(.damaged, path: connection.path, reason: "it is not an outbox")
        }
    }

    /// `isKnown`: whether its schema is, which is asked only where the number is too high.
    ///
    /// - Throws: `damaged` for what never was a version; `newerSchema`.
    func check(
        version: Int64, of path: String, isKnown: @autoclosure () throws(StoreError) -> Bool
    ) throws(StoreError) {
        guard 1...current + Self.furthestRelease ~= version else {
            throw StoreError(.damaged, path: path, reason: "it is not an outbox")
        }
        if version <= current { return }
        guard try isKnown() else {
            throw StoreError(.newerSchema, path: path, reason: "schema \(version), known up to \(current)")
        }
        throw StoreError(
            .damaged, path: path, reason: "its user_version is \(version), its tables are of an earlier schema")
    }

    private func foreign(_ type: String?, _ name: String?, in path: String) -> StoreError {
        func word(_ text: String?) -> ReportedText { ReportedText(text ?? "?", limit: 40) }
        return StoreError(
            .damaged, path: path, reason: "its schema has a \(word(type)) \"\(word(name))\" that is not Waypost's")
    }
}

/// What makes a SQLite file a store of this program.
enum StoreFormat {
    static let pageSize: Int64 = 1024
    /// So far a log is searched for records: longer ones are not Waypost's, or another program reads them for hours.
    ///
    /// A log starts over at the first commit after 256 pages, is cut to 1 MiB then, and holds one transaction beyond
    /// that: at most 1530 updates accepted or acknowledged and 512 thinned or dropped, each in a page of its own with
    /// those above it, or the 512 pages of a compaction; less than 16 MiB in all. Only while another program keeps a
    /// read open does it grow on, by a page or two a commit: this is room for more than 30,000. SQLite itself reads to
    /// the first frame that is not sound, wherever the file ends.
    static let longestLog: Int64 = 64 * 1024 * 1024
    /// No row of an update is shorter: its place, length, sequence and seal, a time and two coordinates.
    static let shortestRow: Int64 = 16
    /// "Wayp".
    static let applicationID: Int64 = 0x5761_7970

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

/// The first bytes of a database, read without SQLite, which would already change files of a store that is not ours
/// to change (sqlite.org/fileformat2.html §1.3).
struct StoreHeader: Sendable, Hashable {
    let fileBytes: Int64
    let version: Int64

    /// Of the database at `path`, one of `files`. `checksVersion`: not where the tables alone tell it.
    ///
    /// - Throws: `damaged` when no store begins there; `newerSchema`.
    init(_ files: StoreFiles, at path: String, checksVersion: Bool = true) throws(StoreError) {
        let disk = files.disk
        guard let status = try withSystem(path, disk.entry(at: path)) else {
            throw StoreError(.damaged, path: path, reason: "the database is missing")
        }
        guard status.kind == .file else {
            throw StoreError(.unusable, path: path, reason: "it is \(status.kind.rawValue), not a file")
        }
        fileBytes = status.bytes
        let bytes = try withSystem(path, disk.read(100, at: 0, of: path))
        guard !bytes.isEmpty else { throw StoreError(.damaged, path: path, reason: "it is empty") }
        guard bytes.count == 100, bytes.starts(with: "SQLite format 3\0".utf8) else {
            throw StoreError(.damaged, path: path, reason: "it is not a SQLite database")
        }
        func bigEndian(_ range: Range<Int>) -> Int64 { bytes[range].reduce(0) { $0 << 8 | Int64($1) } }
        guard bigEndian(16..<18) == StoreFormat.pageSize, bigEndian(68..<72) == StoreFormat.applicationID else {
            throw StoreError(.damaged, path: path, reason: "it is not an outbox")
        }
        version = Int64(Int32(truncatingIfNeeded: bigEndian(60..<64)))
        guard checksVersion else { return }
        try files.schema.check(
            version: version, of: path,
            isKnown: files.schema.isKnown(SQLiteConnection(path: path, access: .immutable, on: disk)))
    }
}
