/// A change of names that the directory's next sync makes durable.
struct DirectoryChange: Sendable {
    /// A file that had a name, with its bytes.
    struct Kept: Sendable {
        let history: FileHistory
        let bytes: [UInt8]
    }

    enum Deed: Sendable {
        case created(String)
        case removed(String, Kept)
        /// `replaced` had the new name before.
        case renamed(String, to: String, replaced: Kept?)
    }

    let directory: String
    let deed: Deed
}
