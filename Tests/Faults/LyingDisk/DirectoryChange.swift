/// A change to file names, which the directory's next sync makes durable.
struct DirectoryChange: Sendable {
    /// A file that has lost its name, with its bytes.
    struct Kept: Sendable {
        let history: FileHistory
        let bytes: [UInt8]
    }

    enum Operation: Sendable {
        case created(String)
        case removed(String, Kept)
        /// `replaced` is the file that previously had the new name.
        case renamed(String, to: String, replaced: Kept?)
    }

    let directory: String
    let operation: Operation
}
