import LinuxPlatform

/// The first bytes of a database, read without SQLite, which would already change files of a store that is not ours
/// to change (sqlite.org/fileformat2.html §1.3).
struct StoreHeader: Sendable, Hashable {
    let fileBytes: Int64
    let version: Int64

    /// `checksVersion`: not where the tables alone tell it.
    ///
    /// - Throws: `damaged` when no store begins there; `newerSchema`.
    init(path: String, on disk: any StoreDisk = SystemDisk(), checksVersion: Bool = true) throws(StoreError) {
        let entry = try withSystem(path) { () throws(SystemError) in try disk.entry(at: path) }
        switch entry {
        case .file(let bytes): fileBytes = bytes
        case .folder: throw StoreError(.unusable, path: path, reason: "it is a folder, not a file")
        case .other: throw StoreError(.unusable, path: path, reason: "it is not a file")
        case nil: throw StoreError(.damaged, path: path, reason: "the database is missing")
        }
        let bytes = try withSystem(path) { () throws(SystemError) in try disk.read(100, at: 0, of: path) }
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
            version: version, of: path,
            isKnown: try StoreSchema.isKnown(SQLiteConnection(path: path, access: .immutable, on: disk)))
    }
}
