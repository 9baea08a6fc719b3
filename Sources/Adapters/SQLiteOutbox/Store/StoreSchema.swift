import LinuxPlatform
import ReportedText
import Reporting

/// The schema of a store, in the exact text that `sqlite_schema` must contain.
///
/// Triggers, views, generated columns, checks and indexes on expressions can run SQL that is stored in the file. So a
/// store is treated as damaged if its schema differs at all, even by one letter.
enum StoreSchema {
    /// The version of the schema. Two versions never have the same schema; at least a comment must differ. So if a
    /// store has a higher version but this schema, a bit has been flipped. If it has another schema too, it was written
    /// by a newer release and isn't changed.
    static let version: Int64 = 1

    /// The name of the table of pending updates. Its row 0 is the ledger. While one update is pending, an append and
    /// the previous acknowledgement together change one page of 1 KiB. AUTOINCREMENT, an index or automatic vacuum
    /// would change a second page.
    static let updates = "updates"
    /// The name of the table of quarantined updates. It is separate because in the other table, its rows would be
    /// between the ledger and the live update. Each commit would then write at least two pages.
    static let quarantine = "quarantine"
    /// The name of the table of the tools' requests to the owner, which is usually empty.
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

        /// Creates a view for people who use the `sqlite3` command. Waypost itself doesn't read it.
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

    /// The tables and views, in the order in which they are created.
    private static let objects = [
        Object(table: updates, StoredRow.definition), Object(table: quarantine, StoredRow.definition),
        Object(table: requests, "id INTEGER PRIMARY KEY, action TEXT, sequences TEXT, answer TEXT"),
        Object(view: "pending", "SELECT \(position) FROM updates WHERE sequence > 0"),
        Object(view: "quarantined", "SELECT \(position), note AS reason FROM quarantine"),
        // The view counts later updates from their rows, because appends don't change the ledger in row 0.
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

    /// The statements that create a store. The transaction that they begin stays open.
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

    /// The maximum difference between a newer release's version and this one. A greater difference means that a bit has
    /// been flipped.
    private static let furthestRelease: Int64 = 1000
    /// The maximum number of instructions that SQLite may run to read a schema. Waypost's schema needs a tenth of that
    /// number. Reading a manipulated schema with a million tables is stopped before it fills the memory.
    private static let stepLimit: Int32 = 10_000

    /// Makes sure that the store has this version and this schema. Call it before any statement that uses a table.
    ///
    /// - Throws: `damaged` if the schema isn't Waypost's; `newerSchema` if it belongs to a newer release.
    static func check(_ connection: borrowing SQLiteConnection) throws(OutboxError) {
        try check(version: connection.integer("PRAGMA user_version") ?? 0, of: connection.path, connection)
        try requireSchema(in: connection)
    }

    /// Makes sure that `found`, the version in the file at `path`, is the version of this release.
    ///
    /// - Throws: `damaged` if the number can't be a version; `newerSchema` if it belongs to a newer release.
    static func check(
        version found: Int64, of path: String, _ connection: borrowing SQLiteConnection
    ) throws(OutboxError) {
        guard version...version + furthestRelease ~= found else {
            throw OutboxError(.damaged, path: path, .notOutbox)
        }
        if found == version { return }
        let cause = OutboxError.Cause.schema(found: found, known: version)
        do throws(OutboxError) { try requireSchema(in: connection) } catch {
            guard error.code == .damaged else { throw error }
            throw OutboxError(.newerSchema, path: path, cause)
        }
        throw OutboxError(.damaged, path: path, cause)
    }

    /// Makes sure that the schema is Waypost's. Doesn't check the version number.
    ///
    /// - Throws: `damaged` if the schema is different.
    static func requireSchema(in connection: borrowing SQLiteConnection) throws(OutboxError) {
        connection.limitSteps(stepLimit)
        defer { connection.limitSteps(nil) }
        let statement = try SQLiteStatement(
            connection, "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_schema")
        var found: Set<String> = []
        var roots: Set<Int64> = []
        while try statement.step() {
            let name = statement.text(1)
            guard let known = objects.first(where: { $0.name == name }), found.insert(known.name).inserted,
                statement.text(0) == known.type, statement.text(2) == known.name, statement.text(3) == known.text,
                known.type == "view" || roots.insert(statement.integer(4)).inserted
            else { throw foreignObjectError(type: statement.text(0), name: name, in: connection.path) }
        }
        guard found.count == objects.count else { throw OutboxError(.damaged, path: connection.path, .notOutbox) }
    }

    private static func foreignObjectError(type: String?, name: String?, in path: String) -> OutboxError {
        func word(_ text: String?) -> ReportedText { ReportedText(text ?? "?", limit: 40) }
        return OutboxError(.damaged, path: path, .foreignObject(type: word(type), name: word(name)))
    }
}

/// The format of a store, and the settings of its connections.
enum StoreFormat {
    static let pageSize: Int64 = 1024
    /// The maximum number of bytes of a write-ahead log that are searched for rows.
    ///
    /// A log starts over at the first commit after 256 pages, and is cut to 1 MiB. One more transaction may follow. It
    /// writes either at most 1530 updates accepted or acknowledged and 512 thinned or dropped, each in a separate page
    /// with the pages above it, or the 512 pages of a compaction. The log is then still smaller than 16 MiB.
    ///
    /// The log becomes longer only while another program keeps a read open. It then grows by one or two pages per
    /// commit, so there is room for more than 30,000 commits. SQLite itself reads the log up to the first damaged
    /// frame, wherever the file ends.
    static let maximumLogBytes: Int64 = 64 * 1024 * 1024
    /// The minimum size of an update's row in bytes, with its pointer, length, sequence number, header and time.
    static let minimumRowBytes: Int64 = 24
    /// The application ID in the database's header that identifies a store. Its bytes spell "Wayp".
    static let applicationID: Int64 = 0x5761_7970

    /// The settings for the owner's connection.
    ///
    /// There is a checkpoint every 256 pages. So the log stays at that size and its blocks are overwritten in place. On
    /// a full disk, neither the log nor a checkpoint needs more space than the reserve frees. Deleted rows are
    /// overwritten, so that a repair never takes them for pending ones.
    static let ownerSettings = """
        PRAGMA synchronous = FULL;
        PRAGMA wal_autocheckpoint = 256;
        PRAGMA journal_size_limit = 1048576;
        PRAGMA cache_size = -1024;
        PRAGMA mmap_size = 0;
        PRAGMA temp_store = MEMORY;
        PRAGMA secure_delete = ON;
        """

    /// The settings for the connection through which a tool sends requests. Its commits aren't synchronised, because a
    /// request need not survive a power cut. It never moves the log into the database, because only the owner does
    /// that.
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

/// The header of a database (sqlite.org/fileformat2.html §1.3). It is read without SQLite, because SQLite would change
/// files even if Waypost then decides to leave the store unchanged.
struct StoreHeader: Sendable, Hashable {
    let fileBytes: Int64
    let version: Int64

    /// Reads the header of the database at `path`, which is one of `files`. If `checksVersion` is true, the version
    /// must be this release's. A repair doesn't check the version, and relies only on the tables.
    ///
    /// - Throws: `damaged` if the file doesn't begin like a store; `newerSchema` if it is a store of a newer release.
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
