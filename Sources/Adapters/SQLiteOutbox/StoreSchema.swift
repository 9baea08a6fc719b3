import ReportedText

/// The whole of `sqlite_schema` as this program makes it, in each version that it knows.
///
/// A table is more than its rows: triggers, views, generated columns, checks and indexes on expressions run what the
/// file says, whoever wrote it. So a store with anything else in its schema is none, and damaged.
///
/// Rule: no two versions have the same schema. A version that changes only what rows mean changes the text of a table
/// all the same, be it by a comment. So a number that is too high over a schema known here has a flipped bit, and is
/// damage; over any other it is a newer release's, whose store is not touched.
enum StoreSchema {
    static let records = "CREATE TABLE records (id INTEGER PRIMARY KEY, body BLOB NOT NULL)"
    static let quarantined = "CREATE TABLE quarantined (id INTEGER PRIMARY KEY, body BLOB NOT NULL)"
    static let requests = "CREATE TABLE requests (id INTEGER PRIMARY KEY, body BLOB NOT NULL, answer BLOB)"

    /// How many versions a newer release may be ahead; a number beyond that is a flipped bit.
    private static let furthestRelease: Int64 = 1000

    /// By version: the tables, in the order of their names.
    static func tables(ofVersion version: Int64) -> [String: String] {
        let first = ["records": records, "quarantined": quarantined]
        return version == 1 ? first : first.merging(["requests": requests]) { $1 }
    }

    /// Instructions of SQLite's machine that reading and comparing a schema may take: a tenth of it does for ours, and
    /// a crafted one of a million tables is left alone before it has filled the memory.
    static let stepLimit: Int32 = 10_000

    /// The version of the store behind `connection`, which has run nothing yet but what needs no schema.
    ///
    /// - Throws: `damaged` when its schema is not what this program makes; `newerSchema`.
    static func version(of connection: borrowing SQLiteConnection) throws(StoreError) -> Int64 {
        connection.limitSteps(Self.stepLimit)
        defer { connection.limitSteps(nil) }
        let version = try connection.integer("PRAGMA user_version") ?? 0
        try check(version: version, of: connection.path, isKnown: try isKnown(connection))
        try require(version, connection)
        return version
    }

    /// Whether the schema is that of any version known here, whatever its number says.
    static func isKnown(_ connection: borrowing SQLiteConnection) throws(StoreError) -> Bool {
        connection.limitSteps(Self.stepLimit)
        defer { connection.limitSteps(nil) }
        for version in 1...StoreFormat.version {
            do throws(StoreError) {
                try require(version, connection)
                return true
            } catch { if error.kind != .damaged { throw error } }
        }
        return false
    }

    private static func require(_ version: Int64, _ connection: borrowing SQLiteConnection) throws(StoreError) {
        let expected = tables(ofVersion: version)
        let statement = try SQLiteStatement(
            connection, "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_schema")
        var found: [String: String] = [:]
        var roots: Set<Int64> = []
        while try statement.step() {
            guard statement.text(0) == "table", let name = statement.text(1), statement.text(2) == name,
                let sql = statement.text(3), expected[name] == sql, found[name] == nil,
                roots.insert(statement.integer(4)).inserted
            else { throw foreign(statement.text(0), statement.text(1), in: connection.path) }
            found[name] = sql
        }
        guard found == expected else {
            throw StoreError(.damaged, path: connection.path, reason: "it is not an outbox")
        }
    }

    /// `isKnown`: whether its schema is, which is asked only where the number is too high.
    ///
    /// - Throws: `damaged` for what never was a version; `newerSchema`.
    static func check(
        version: Int64, of path: String, isKnown: @autoclosure () throws(StoreError) -> Bool
    ) throws(StoreError) {
        guard 1...StoreFormat.version + furthestRelease ~= version else {
            throw StoreError(.damaged, path: path, reason: "it is not an outbox")
        }
        if version <= StoreFormat.version { return }
        guard try isKnown() else {
            throw StoreError(.newerSchema, path: path, reason: "schema \(version), known up to \(StoreFormat.version)")
        }
        throw StoreError(.damaged, path: path, reason: "its number says schema \(version), its tables an earlier one")
    }

    private static func foreign(_ type: String?, _ name: String?, in path: String) -> StoreError {
        func word(_ text: String?) -> ReportedText { ReportedText(text ?? "?", limit: 40) }
        return StoreError(
            .damaged, path: path, reason: "its schema has a \(word(type)) \"\(word(name))\" that is not Waypost's")
    }
}
