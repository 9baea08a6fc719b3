/// A change to file names, which the directory's next sync makes durable.
struct DirectoryChange: Sendable {
    /// A file that was removed or replaced, with its bytes.
    struct RemovedFile: Sendable {
        let history: FileHistory
        let bytes: [UInt8]
    }

    enum Operation: Sendable {
        case created(String)
        case removed(String, RemovedFile)
        /// `replaced` is the file that previously had the new name.
        case renamed(String, to: String, replaced: RemovedFile?)
    }

    let directory: String
    let operation: Operation
}
