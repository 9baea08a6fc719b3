import LinuxPlatform
import ReportedText

/// The whole of `sqlite_schema` as this program makes it.
///
/// A table is more than its rows: triggers, views, generated columns, checks and indexes on expressions run what the
/// file says, whoever wrote it. So a store whose schema has anything else, or one letter less, is damaged.
enum StoreSchema {
    /// The version that is made and known. Another version has another schema, be it by a comment: a higher number
    /// over this schema has a flipped bit, over any other it is a newer release's, whose store is not touched.
    static let version: Int64 = 1

    /// The table of pending updates, with the ledger in row 0: in the live state, with one update pending, an append
    /// with the acknowledgement before it changes one page of 1 KiB. No AUTOINCREMENT, no index, no automatic vacuum:
    /// each would change a second page.
    static let updates = "updates"
    /// The table of quarantined updates. Among the pending ones they would lie between ledger and live update, and
    /// each commit would write two pages or more.
    static let quarantine = "quarantine"
    /// The table of what the tools ask of the owner; it is empty but for moments.
    static let requests = "requests"

    private struct Object {
        let type: String
        let name: String
        let text: String

        init(table name: String, _ columns: String) {
            type = "table"
            self.name = name
            text = "CREATE TABLE \(name) (\(columns))"
        }

        /// A view, for people with `sqlite3`: no statement of Waypost's reads one.
        init(view name: String, _ query: String) {
            type = "view"
            self.name = name
            text = "CREATE VIEW \(name) AS \(query)"
        }
    }

    private static let position = """
        sequence, strftime('%Y-%m-%dT%H:%M:%fZ', time_ms / 1000.0, 'unixepoch') AS time,
          latitude_e7 / 1e7 AS latitude, longitude_e7 / 1e7 AS longitude, altitude_cm / 100.0 AS altitude,
          speed_cm_s / 100.0 AS speed, heading, accuracy_cm / 100.0 AS accuracy,
          CASE kind WHEN 1 THEN 'shape point' ELSE 'update' END AS kind
        """

    /// In the order in which they are made.
    private static let objects = [
        Object(table: updates, StoredRow.definition), Object(table: quarantine, StoredRow.definition),
        Object(table: requests, "id INTEGER PRIMARY KEY, action TEXT, sequences TEXT, answer TEXT"),
        Object(view: "pending", "SELECT \(position) FROM updates WHERE sequence > 0"),
        Object(view: "quarantined", "SELECT \(position), note AS reason FROM quarantine"),
        // Appends do not change row 0: what came after it is counted from the rows.
        Object(
            view: "ledger",
            """
            SELECT
              max(json_extract(note, '$.accepted'), (SELECT max(sequence) FROM updates)) AS accepted,
              json_extract(note, '$.delivered') AS delivered,
              (SELECT count(*) FROM updates WHERE sequence > 0) AS pending,
              (SELECT ifnull(sum(json_extract(value, '$[0]')), 0) FROM json_each(note, '$.evicted')) AS evicted,
              ifnull(json_extract(note, '$.quarantined[0]'), 0) AS quarantined
              FROM updates WHERE sequence = 0
            """),
    ]

    /// What makes a new store, in a transaction that is left open.
    static let creation = """
        PRAGMA page_size = \(StoreFormat.pageSize);
        PRAGMA auto_vacuum = NONE;
        PRAGMA journal_mode = MEMORY;
        PRAGMA synchronous = OFF;
        PRAGMA application_id = \(StoreFormat.applicationID);
        PRAGMA user_version = \(version);
        BEGIN;
        \(objects.map { $0.text + ";" }.joined(separator: "\n"))
        """

    /// How many versions a newer release may be ahead; a number beyond that is a flipped bit.
    private static let furthestRelease: Int64 = 1000
    /// Instructions of SQLite's machine that reading and comparing a schema may take: a tenth of it does for ours, and
    /// reading a crafted one of a million tables stops before it has filled the memory.
    private static let stepLimit: Int32 = 10_000

    /// Makes sure that the store of `connection` has this version. Call it before any statement that needs the schema.
    ///
    /// - Throws: `damaged` when its schema is not what this program makes; `newerSchema`.
    static func check(_ connection: borrowing SQLiteConnection) throws(StoreError) {
        try check(version: connection.integer("PRAGMA user_version") ?? 0, of: connection.path, connection)
        try require(connection)
    }

    /// Makes sure that `version`, as the file at `path` has it, is this one.
    ///
    /// - Throws: `damaged` for what never was a version; `newerSchema`.
    static func check(
        version found: Int64, of path: String, _ connection: borrowing SQLiteConnection
    ) throws(StoreError) {
        guard version...version + furthestRelease ~= found else {
            throw StoreError(.damaged, path: path, reason: "it is not an outbox")
        }
        if found == version { return }
        do throws(StoreError) { try require(connection) } catch {
            guard error.kind == .damaged else { throw error }
            throw StoreError(.newerSchema, path: path, reason: "schema \(found), known up to \(version)")
        }
        throw StoreError(
            .damaged, path: path, reason: "its user_version is \(found), its tables are of an earlier schema")
    }

    /// - Throws: `damaged` unless the schema is this one, whatever its number says.
    static func require(_ connection: borrowing SQLiteConnection) throws(StoreError) {
        connection.limitSteps(stepLimit)
        defer { connection.limitSteps(nil) }
        let statement = try SQLiteStatement(
            connection, "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_schema")
        var found: Set<String> = []
        var roots: Set<Int64> = []
        while try statement.step() {
            let known = objects.first { $0.name == statement.text(1) }
            guard let known, statement.text(0) == known.type, statement.text(2) == known.name,
                statement.text(3) == known.text, found.insert(known.name).inserted,
                known.type == "view" || roots.insert(statement.integer(4)).inserted
            else { throw foreign(statement.text(0), statement.text(1), in: connection.path) }
        }
        guard found.count == objects.count else {
            throw StoreError(.damaged, path: connection.path, reason: "it is not an outbox")
        }
    }

    private static func foreign(_ type: String?, _ name: String?, in path: String) -> StoreError {
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
    /// No row of an update is shorter: its place, length, sequence, header and time.
    static let shortestRow: Int64 = 24
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
        try StoreSchema.check(
            version: version, of: path, SQLiteConnection(path: path, access: .immutable, on: disk))
    }
}
