import LinuxPlatform
import ReportedText
import Reporting

/// The exact content of `sqlite_schema` in a store.
///
/// Triggers, views, generated columns, checks and indexes on expressions execute SQL from the file. Therefore a store
/// is treated as damaged if its schema differs at all, even by one letter.
enum StoreSchema {
    /// The version of the schema. The schemas of any two versions differ, at least by a comment. Therefore a higher
    /// number with this schema shows a flipped bit. With any other schema, it shows a store of a newer release, which
    /// isn't touched.
    static let version: Int64 = 1

    /// The table of pending updates, with the ledger in row 0. With one update pending, an append and the previous
    /// acknowledgement change one page of 1 KiB. AUTOINCREMENT, an index or automatic vacuum would change a second one.
    static let updates = "updates"
    /// The table of quarantined updates. In the table of pending updates, their rows would separate the ledger from the
    /// live update, and each commit would write two pages or more.
    static let quarantine = "quarantine"
    /// The table of the tools' requests to the owner; usually empty.
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

        /// Creates a view for users of the `sqlite3` command. Waypost itself never reads it.
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

    /// The tables and views, in the order of their creation.
    private static let objects = [
        Object(table: updates, StoredRow.definition), Object(table: quarantine, StoredRow.definition),
        Object(table: requests, "id INTEGER PRIMARY KEY, action TEXT, sequences TEXT, answer TEXT"),
        Object(view: "pending", "SELECT \(position) FROM updates WHERE sequence > 0"),
        Object(view: "quarantined", "SELECT \(position), note AS reason FROM quarantine"),
        // Appends don't change row 0: later updates are counted from the rows.
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

    /// The statements that create a store, in a transaction that is left open.
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

    /// The maximum number of versions that a newer release may be ahead. A greater difference is a flipped bit.
    private static let furthestRelease: Int64 = 1000
    /// The maximum number of SQLite's instructions for reading a schema. Reading Waypost's schema takes a tenth of
    /// them; reading a crafted one with a million tables stops before it fills the memory.
    private static let stepLimit: Int32 = 10_000

    /// Makes sure that the store has this version. Call it before any statement that needs the schema.
    ///
    /// - Throws: `damaged` if its schema isn't Waypost's; `newerSchema` if it is a newer release's.
    static func check(_ connection: borrowing SQLiteConnection) throws(OutboxError) {
        try check(version: connection.integer("PRAGMA user_version") ?? 0, of: connection.path, connection)
        try require(connection)
    }

    /// Makes sure that `found`, the version of the file at `path`, is this version.
    ///
    /// - Throws: `damaged` if the number was never a version; `newerSchema` if it is a newer release's.
    static func check(
        version found: Int64, of path: String, _ connection: borrowing SQLiteConnection
    ) throws(OutboxError) {
        guard version...version + furthestRelease ~= found else {
            throw OutboxError(.damaged, path: path, .notOutbox)
        }
        if found == version { return }
        let cause = OutboxError.Cause.schema(found: found, known: version)
        do throws(OutboxError) { try require(connection) } catch {
            guard error.code == .damaged else { throw error }
            throw OutboxError(.newerSchema, path: path, cause)
        }
        throw OutboxError(.damaged, path: path, cause)
    }

    /// Makes sure that the schema is this one, whatever its version number is.
    ///
    /// - Throws: `damaged` if it isn't.
    static func require(_ connection: borrowing SQLiteConnection) throws(OutboxError) {
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
        guard found.count == objects.count else { throw OutboxError(.damaged, path: connection.path, .notOutbox) }
    }

    private static func foreign(_ type: String?, _ name: String?, in path: String) -> OutboxError {
        func word(_ text: String?) -> ReportedText { ReportedText(text ?? "?", limit: 40) }
        return OutboxError(.damaged, path: path, .foreignObject(type: word(type), name: word(name)))
    }
}

/// The format of a store, and the settings of its connections.
enum StoreFormat {
    static let pageSize: Int64 = 1024
    /// The number of bytes up to which a log is searched for rows.
    ///
    /// A log starts over at the first commit after 256 pages, is cut to 1 MiB, and then holds one more transaction: at
    /// most 1530 updates accepted or acknowledged and 512 thinned or dropped, each in its own page with the pages above
    /// it, or the 512 pages of a compaction. That is less than 16 MiB. The log grows further only while another program
    /// keeps a read open, by one or two pages per commit: there is room for more than 30,000 commits. SQLite itself
    /// reads to the first damaged frame, wherever the file ends.
    static let maximumLogBytes: Int64 = 64 * 1024 * 1024
    /// The minimum size of an update's row in bytes: its pointer, length, sequence, header and time.
    static let minimumRowBytes: Int64 = 24
    /// The number that marks a store's database: "Wayp".
    static let applicationID: Int64 = 0x5761_7970

    /// The settings of the owner's connection.
    ///
    /// A checkpoint follows every 256 pages: the log stays at that size, its blocks are overwritten in place, and
    /// neither log nor checkpoint needs more space on a full disk than the reserve frees. Deleted rows are overwritten,
    /// so that a repair never mistakes them for pending ones.
    static let ownerSettings = """
        PRAGMA synchronous = FULL;
        PRAGMA wal_autocheckpoint = 256;
        PRAGMA journal_size_limit = 1048576;
        PRAGMA cache_size = -1024;
        PRAGMA mmap_size = 0;
        PRAGMA temp_store = MEMORY;
        PRAGMA secure_delete = ON;
        """

    /// The settings of the connection through which a tool sends requests. A request need not survive a power cut, and
    /// only the owner moves the log into the database.
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

/// The header of a database (sqlite.org/fileformat2.html §1.3). It is read without SQLite, which would already change
/// the files of a store that Waypost must not change.
struct StoreHeader: Sendable, Hashable {
    let fileBytes: Int64
    let version: Int64

    /// Reads the header of the database at `path`, one of `files`. If `checksVersion` is true, the version must be this
    /// release's; a repair relies only on the tables.
    ///
    /// - Throws: `damaged` if the file doesn't begin as a store does; `newerSchema` if it is a newer release's.
    init(_ files: StoreFiles, at path: String, checksVersion: Bool = true) throws(OutboxError) {
        let disk = files.disk
        guard let status = try withSystem(path, disk.entry(at: path)) else {
            throw OutboxError(.damaged, path: path, .databaseMissing)
        }
        guard status.kind == .file else {
            throw OutboxError(.unusable, path: path, .notFile("\(status.kind.rawValue)"))
        }
        fileBytes = status.bytes
        let bytes = try withSystem(path, disk.read(100, at: 0, of: path))
        guard !bytes.isEmpty else { throw OutboxError(.damaged, path: path, .empty) }
        guard bytes.count == 100, bytes.starts(with: "SQLite format 3\0".utf8) else {
            throw OutboxError(.damaged, path: path, .notSQLite)
        }
        func bigEndian(_ range: Range<Int>) -> Int64 { bytes[range].reduce(0) { $0 << 8 | Int64($1) } }
        guard bigEndian(16..<18) == StoreFormat.pageSize, bigEndian(68..<72) == StoreFormat.applicationID else {
            throw OutboxError(.damaged, path: path, .notOutbox)
        }
        version = Int64(Int32(truncatingIfNeeded: bigEndian(60..<64)))
        guard checksVersion, version != StoreSchema.version else { return }
        try StoreSchema.check(
            version: version, of: path, SQLiteConnection(path: path, access: .immutable, on: disk))
    }
}
